package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/stream"
)

// performanceTables are the tables of performance_schema that tools read and that MySQL fills also where the schema is switched off, as it is here:
// connections, variables and status. Their columns are MySQL 8.0's.
var performanceTables = andTables(emptyTables(performanceEvents), map[string]func(database, name string) sql.Table{
	"global_status": computes(settingColumns, func(*sql.Context) ([]setting, error) { return statusOf(sql.StatusVariables.NewGlobalMap()), nil }),
	"global_variables": computes(settingColumns, func(*sql.Context) ([]setting, error) {
		return variablesOf(sql.SystemVariables.GetAllGlobalVariables()), nil
	}),
	"processlist":    computes(processColumns, processes),
	"session_status": computes(settingColumns, sessionStatus),
	"session_variables": computes(settingColumns, func(ctx *sql.Context) ([]setting, error) {
		return variablesOf(ctx.GetAllSessionVariables()), nil
	}),
	"threads": computes(threadColumns, processes),
})

// setting is a variable and its value as SHOW VARIABLES has it.
type setting struct {
	name  string
	value any
}

// settingName compares without case, as MySQL's names of variables do.
var settingName = types.MustCreateString(sqltypes.VarChar, 64, sql.Collation_utf8mb4_0900_ai_ci)

var settingColumns = []computedColumn[setting]{
	{"VARIABLE_NAME", settingName, func(s setting) any { return s.name }},
	{"VARIABLE_VALUE", textType, func(s setting) any { return s.value }},
}

func variablesOf(values map[string]any) []setting {
	return settings(values, func(v any) any {
		switch v {
		case int8(0):
			return "OFF"
		case int8(1):
			return "ON"
		case nil:
			return nil
		}
		return fmt.Sprint(v)
	})
}

func statusOf(values map[string]sql.StatusVarValue) []setting {
	return settings(values, func(v sql.StatusVarValue) any { return fmt.Sprint(v.Value()) })
}

// settings are sorted by name.
func settings[V any](values map[string]V, text func(V) any) []setting {
	out := make([]setting, 0, len(values))
	for name, v := range values {
		out = append(out, setting{name, text(v)})
	}
	slices.SortFunc(out, func(a, b setting) int { return cmp.Compare(a.name, b.name) })
	return out
}

// sessionStatus are the global values, and in place of some the session's.
func sessionStatus(ctx *sql.Context) ([]setting, error) {
	values := sql.StatusVariables.NewGlobalMap()
	maps.Copy(values, ctx.GetAllStatusVariables(ctx))
	return statusOf(values), nil
}

// processes are what SHOW PROCESSLIST lists: connections, and streams.
func processes(ctx *sql.Context) ([]sql.Process, error) {
	return ctx.ProcessList.Processes(), nil
}

var processColumns = []computedColumn[sql.Process]{
	{"ID", types.Uint64, func(p sql.Process) any { return uint64(p.Connection) }},
	{"USER", textType, func(p sql.Process) any { return p.User }},
	{"HOST", textType, func(p sql.Process) any { return p.Host }},
	{"DB", textType, func(p sql.Process) any { return orNull(p.Database) }},
	{"COMMAND", textType, func(p sql.Process) any { return string(p.Command) }},
	{"TIME", number, func(p sql.Process) any { return int64(p.Seconds()) }},
	{"STATE", textType, processState},
	{"INFO", textType, func(p sql.Process) any { return orNull(p.Query) }},
	{"EXECUTION_ENGINE", textType, func(sql.Process) any { return "PRIMARY" }},
}

// threadColumns are those of threads. A connection is a thread of its own, and the thread's id is the connection's.
var threadColumns = []computedColumn[sql.Process]{
	{"THREAD_ID", types.Uint64, func(p sql.Process) any { return uint64(p.Connection) }},
	{"NAME", textType, func(p sql.Process) any { return ofThread(p, "thread/sql/one_connection", "thread/lakesql/stream") }},
	{"TYPE", textType, func(p sql.Process) any { return ofThread(p, "FOREGROUND", "BACKGROUND") }},
	{"PROCESSLIST_ID", types.Uint64, func(p sql.Process) any { return uint64(p.Connection) }},
	{"PROCESSLIST_USER", textType, func(p sql.Process) any { return p.User }},
	{"PROCESSLIST_HOST", textType, func(p sql.Process) any { return p.Host }},
	{"PROCESSLIST_DB", textType, func(p sql.Process) any { return orNull(p.Database) }},
	{"PROCESSLIST_COMMAND", textType, func(p sql.Process) any { return string(p.Command) }},
	{"PROCESSLIST_TIME", number, func(p sql.Process) any { return int64(p.Seconds()) }},
	{"PROCESSLIST_STATE", textType, processState},
	{"PROCESSLIST_INFO", textType, func(p sql.Process) any { return orNull(p.Query) }},
	{"PARENT_THREAD_ID", types.Uint64, none},
	{"ROLE", textType, none},
	{"INSTRUMENTED", textType, func(sql.Process) any { return "NO" }},
	{"HISTORY", textType, func(sql.Process) any { return "NO" }},
	{"CONNECTION_TYPE", textType, func(p sql.Process) any { return ofThread(p, "TCP/IP", nil) }},
	{"THREAD_OS_ID", types.Uint64, none},
	{"RESOURCE_GROUP", textType, none},
	{"EXECUTION_ENGINE", textType, func(sql.Process) any { return "PRIMARY" }},
	{"CONTROLLED_MEMORY", types.Uint64, none},
	{"MAX_CONTROLLED_MEMORY", types.Uint64, none},
	{"TOTAL_MEMORY", types.Uint64, none},
	{"MAX_TOTAL_MEMORY", types.Uint64, none},
	{"TELEMETRY_ACTIVE", textType, func(sql.Process) any { return "NO" }},
}

func none(sql.Process) any { return nil }

// ofThread is one value for a connection and another for a stream.
func ofThread(p sql.Process, connection, background any) any {
	if p.Connection >= stream.FirstProcessID {
		return background
	}
	return connection
}

func processState(p sql.Process) any {
	if p.Command == sql.ProcessCommandQuery {
		return "running"
	}
	return ""
}
