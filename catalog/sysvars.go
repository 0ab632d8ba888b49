package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
)

// serverVersion is what clients and drivers choose their behaviour by.
const serverVersion = "8.0.45-lakesql"

// setSystemVariables sets the defaults of all sessions, once: GMS keeps system variables for the process.
var setSystemVariables = sync.OnceValue(func() error {
	return sql.SystemVariables.AssignValues(map[string]any{
		"version":         serverVersion,
		"version_comment": "lakesql",
		// Stored instants are UTC, and so is everything that is shown.
		"time_zone":        "+00:00",
		"system_time_zone": "UTC",
		// LOAD DATA LOCAL reads the client's files, which is the client's business.
		"local_infile": int8(1),
		// No statement reads or writes the server's disk by MySQL's INFILE and OUTFILE: read_files and COPY INTO are fenced.
		"secure_file_priv": "NULL",
	})
})
