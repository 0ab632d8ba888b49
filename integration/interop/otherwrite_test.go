package interop

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// otherWrite is a write by another engine: what it does to the rows, or that the engine refuses it.
type otherWrite struct {
	engine, what string
	write        func(t *testing.T, path string) error
	plus, minus  [][]string
	refusal      string // part of what the engine says; "": it writes
}

// otherWrites follow each other.
type otherWrites []otherWrite

// bySpark runs a statement that adds rows in a Spark. {t} stands for the table.
func bySpark(e *engine, statement string, plus ...[]string) otherWrites {
	return otherWrites{{engine: e.name, what: statement, plus: plus, write: func(t *testing.T, path string) error {
		var rows any
		return e.ask(t, &rows, "sql", []string{strings.ReplaceAll(statement, "{t}", quoted(path))})
	}}}
}

// byDuckDB runs a statement in DuckDB that adds rows to t.
func byDuckDB(statement string, plus ...[]string) otherWrites {
	return otherWrites{byOther("DuckDB", "duckdb_write", []any{statement}, plus, nil)}
}

// byDeltaRS appends a row, updates it, merges it and another one, and deletes it, so that the other one stays, which has the id 102. A row
// is what is selected and the text of it; in both # stands for the value of the column id.
func byDeltaRS(selected string, row ...string) otherWrites {
	selectOf := func(id string) string { return "SELECT " + strings.ReplaceAll(selected, "#", id) }
	rowOf := func(id string) [][]string {
		out := slices.Clone(row)
		for i, v := range out {
			out[i] = strings.ReplaceAll(v, "#", id)
		}
		return rowsOf(out)
	}
	return otherWrites{
		byOther("delta-rs", "deltars_append", []any{selectOf("100")}, rowOf("100"), nil),
		byOther("delta-rs", "deltars_update", []any{"id", "id + 1", "id = 100"}, rowOf("101"), rowOf("100")),
		byOther("delta-rs", "deltars_merge", []any{selectOf("101") + " UNION ALL " + selectOf("102"), "id"}, rowOf("102"), nil),
		byOther("delta-rs", "deltars_delete", []any{"id = 101"}, nil, rowOf("101")),
	}
}

// byOther calls a command of otherserver.py.
func byOther(engine, command string, args []any, plus, minus [][]string) otherWrite {
	return otherWrite{engine, command, func(t *testing.T, path string) error {
		var nothing any
		return others.ask(t, &nothing, command, append([]any{path}, args...)...)
	}, plus, minus, ""}
}

// removing are the writes, of which the last one also removes rows.
func (w otherWrites) removing(rows ...[]string) otherWrites {
	w[len(w)-1].minus = rows
	return w
}

// refusing are the writes, each of which the engine refuses; it says so by this text.
func (w otherWrites) refusing(text string) otherWrites {
	for i := range w {
		w[i].refusal, w[i].plus, w[i].minus = text, nil, nil
	}
	return w
}

// apply writes, and returns the rows that are there then, of those that were there before.
func (w otherWrite) apply(t *testing.T, path string, rows [][]string) [][]string {
	t.Helper()
	err := w.write(t, path)
	if w.refusal != "" {
		require.ErrorContains(t, err, w.refusal, "%s: %s", w.engine, w.what)
		return rows
	}
	require.NoError(t, err, "%s: %s", w.engine, w.what)
	rows = slices.Clone(rows)
	for _, gone := range w.minus {
		at := slices.IndexFunc(rows, func(row []string) bool { return slices.Equal(row, gone) })
		require.GreaterOrEqual(t, at, 0, "%s: %s: there is no row %v to remove", w.engine, w.what, gone)
		rows = slices.Delete(rows, at, at+1)
	}
	return sortRows(append(rows, w.plus...))
}
