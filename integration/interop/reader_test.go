package interop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// reader is a way to read a table's rows.
type reader struct {
	name    string
	read    func(t *testing.T, path string) ([][]string, error)
	refusal string // part of what it says of a table that it cannot read; "": it reads it
	errs    string // why it reads other rows than all others; "": it does not
}

func readBy(e *engine, name, command string) reader {
	return reader{name: name, read: func(t *testing.T, path string) ([][]string, error) {
		var c contents
		err := e.ask(t, &c, command, path)
		return canonical(c.Rows), err
	}}
}

var (
	inSpark35 = readBy(spark35, "Spark 3.5", "read")
	inSpark40 = readBy(spark40, "Spark 4.0", "read")
	inDeltaRS = readBy(others, "delta-rs", "deltars_read")
	inDuckDB  = readBy(others, "DuckDB", "duckdb_read")

	everybody = []reader{inSpark35, inSpark40, inDeltaRS, inDuckDB}
)

// refusing is the reader where it refuses the table and says so.
func (r reader) refusing(text string) reader {
	r.refusal = text
	return r
}

// erring is the reader where it reads the table wrongly, which is known and not ours to mend.
func (r reader) erring(why string) reader {
	r.errs = why
	return r
}

// check reads the table and wants these rows.
func (r reader) check(t *testing.T, path string, want [][]string) {
	t.Helper()
	rows, err := r.read(t, path)
	switch {
	case r.refusal != "":
		require.ErrorContains(t, err, r.refusal, r.name)
	case r.errs != "":
		require.NotEqual(t, want, rows, "%s reads it right now, though %s", r.name, r.errs)
	default:
		require.NoError(t, err, r.name)
		require.Equal(t, want, rows, "as %s reads it", r.name)
	}
}
