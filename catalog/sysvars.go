package catalog

import (
	"math"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// ownVariables are the system variables that MySQL does not have.
var ownVariables = []sql.SystemVariable{
	&sql.MysqlSystemVariable{
		Name: compile.VectorVariable, Type: types.NewSystemBoolType(compile.VectorVariable), Default: int8(1),
		Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
	},
	&sql.MysqlSystemVariable{
		Name: compile.MemoryVariable, Type: types.NewSystemIntType(compile.MemoryVariable, 0, math.MaxInt64, false), Default: int64(0),
		Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
	},
}

// setSystemVariables sets the defaults of all sessions, once: GMS keeps system variables for the process. The version is the server's.
var setSystemVariables = sync.OnceValue(func() error {
	sql.SystemVariables.AddSystemVariables(ownVariables)
	return sql.SystemVariables.AssignValues(map[string]any{
		// Stored instants are UTC, and so is everything that is shown.
		"time_zone":        "+00:00",
		"system_time_zone": "UTC",
		// MySQL 8's default, which GMS's is not.
		"sql_mode": "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
		// LOAD DATA LOCAL reads the client's files, which is the client's business.
		"local_infile": int8(1),
		// No statement reads or writes the server's disk by MySQL's INFILE and OUTFILE: read_files and COPY INTO are fenced.
		"secure_file_priv": "NULL",
	})
})
