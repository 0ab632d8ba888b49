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

// profilingVariables are MySQL's of SHOW PROFILE, which GMS lacks.
var profilingVariables = []sql.SystemVariable{
	&sql.MysqlSystemVariable{
		Name: profilingVariable, Type: types.NewSystemBoolType(profilingVariable), Default: int8(0), Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
	},
	&sql.MysqlSystemVariable{
		Name: historyVariable, Type: types.NewSystemIntType(historyVariable, 0, 100, false), Default: int64(defaultProfiles), Scope: sql.GetMysqlScope(sql.SystemVariableScope_Both), Dynamic: true,
	},
	told("have_profiling", "YES"),
}

// toldVariables are variables of MySQL's that GMS lacks and that tools read.
var toldVariables = []sql.SystemVariable{
	told("have_ssl", "YES"),
	told("have_openssl", "YES"),
	told("explain_format", "TREE"), // what EXPLAIN without FORMAT shows
	&sql.MysqlSystemVariable{
		Name: "innodb_page_size", Type: types.NewSystemIntType("innodb_page_size", 4096, 65536, false), Default: int64(16384), Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global),
	},
}

// told is a variable that nobody sets.
func told(name, value string) sql.SystemVariable {
	return &sql.MysqlSystemVariable{Name: name, Type: types.NewSystemStringType(name), Default: value, Scope: sql.GetMysqlScope(sql.SystemVariableScope_Global)}
}

// setSystemVariables sets the defaults of all sessions, once: GMS keeps system variables for the process. The version is the server's.
var setSystemVariables = sync.OnceValue(func() error {
	sql.SystemVariables.AddSystemVariables(ownVariables)
	sql.SystemVariables.AddSystemVariables(profilingVariables)
	sql.SystemVariables.AddSystemVariables(toldVariables)
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
