package compile

import "github.com/dolthub/go-mysql-server/sql"

// VectorVariable is the system variable, a BOOL, by which a session has its statements executed without pipelines and without answers from statistics:
// GMS's rows over the same scans. Where it does not exist it is ON.
const VectorVariable = "lakesql_vector"

func vectorOn(ctx *sql.Context) bool {
	v, err := ctx.GetSessionVariable(ctx, VectorVariable)
	return err != nil || v != int8(0)
}
