package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// setSystemVariables sets the defaults of all sessions, once: GMS keeps system variables for the process. The version is the server's.
var setSystemVariables = sync.OnceValue(func() error {
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
