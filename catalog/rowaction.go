package catalog

import "lakesql/batch"

// actionKind is what happens to a row.
type actionKind uint8

const (
	updateRows actionKind = iota
	deleteRows
	insertRows
)

// rowAction is what happens to the rows of one SET, or of one WHEN of MERGE.
type rowAction struct {
	kind    actionKind
	columns []columnFrom // of the table's columns, unless rows are deleted
}

// columnFrom is where a row that was changed, or is new, has a column from.
type columnFrom struct {
	kind columnKind
	at   int // of fromValue and fromSource: the position
}

type columnKind uint8

const (
	asBefore   columnKind = iota // of a row that is inserted: not given
	recomputed                   // by the table's rules
	fromValue                    // a value that the SELECT computes
	fromSource                   // a column of MERGE's source, which need not go through the SELECT
)

// assigned adds a column with a value of its own to the values of the SELECT.
func (a *rowAction) take(column int, values *[]batch.Field, f batch.Field) {
	a.columns[column] = columnFrom{fromValue, len(*values)}
	*values = append(*values, f)
}
