package compile

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// GMS's DISTINCT, UNION, INTERSECT and EXCEPT tell texts apart by their bytes. Where a column has another collation, the rows here are told apart by that.

// collatedKeys is the schema by which rows are told apart; false where bytes decide.
func collatedKeys(schema sql.Schema) bool {
	for _, c := range schema {
		if !byBytes(c.Type) {
			return true
		}
	}
	return false
}

// setKeys is the schema by which the rows of a set operation are told apart; nil where bytes decide. One side that has a collation gives it to both: only COLLATE makes
// one.
func setKeys(ctx *sql.Context, n *plan.SetOp) sql.Schema {
	out, collated := n.Schema(ctx).Copy(), false
	for i, c := range out {
		for _, side := range []sql.Node{n.Left(), n.Right()} {
			if with := sideCollation(ctx, side, i); !BytesDecide(with) {
				c.Type, collated = types.CreateLongText(with), true
				break
			}
		}
	}
	if !collated {
		return nil
	}
	return out
}

// sideCollation is the collation of a column of one side, also below the conversion that GMS puts there.
func sideCollation(ctx *sql.Context, side sql.Node, i int) sql.CollationID {
	switch n := side.(type) {
	case numbered:
		return sideCollation(ctx, n.Node, i)
	case *plan.SetOp:
		if keys := setKeys(ctx, n); keys != nil {
			return collationOf(keys[i].Type)
		}
		return sql.Collation_Default
	case *plan.Project:
		alias, ok := n.Projections[i].(*expression.Alias)
		if !ok {
			break
		}
		convert, ok := unwrap(alias.Child).(*expression.Convert)
		if !ok {
			break
		}
		if _, ok := convert.Child.(*expression.GetField); ok && len(n.Child.Schema(ctx)) == len(n.Projections) {
			return sideCollation(ctx, n.Child, i)
		}
	}
	return collationOf(side.Schema(ctx)[i].Type)
}

func collationOf(t sql.Type) sql.CollationID {
	if collated, ok := t.(sql.TypeWithCollation); ok {
		return collated.Collation()
	}
	return sql.Collation_Default
}

// distinctRows are rows without those that are equal to one before.
type distinctRows struct {
	sql.RowIter
	schema sql.Schema
	seen   map[uint64]struct{}
}

func newDistinctRows(rows sql.RowIter, schema sql.Schema) sql.RowIter {
	return &distinctRows{RowIter: rows, schema: schema, seen: make(map[uint64]struct{})}
}

// Next returns the next row.
func (r *distinctRows) Next(ctx *sql.Context) (sql.Row, error) {
	for {
		row, err := r.RowIter.Next(ctx)
		if err != nil {
			return nil, err
		}
		h, err := rowHash(ctx, r.schema, row)
		if err != nil {
			return nil, err
		}
		if _, again := r.seen[h]; !again {
			r.seen[h] = struct{}{}
			return row, nil
		}
	}
}

// rowHash is the hash of a row by a schema, nil: by its values. In a subquery rows begin with those of the outer query.
func rowHash(ctx *sql.Context, schema sql.Schema, row sql.Row) (uint64, error) {
	if schema != nil {
		row = row[len(row)-len(schema):]
	}
	return hash.HashOf(ctx, schema, row)
}

// distinctOf is a UNION of which no two rows are equal by the schema.
type distinctOf struct {
	sql.Node
	b      *Builder
	schema sql.Schema
}

func (n distinctOf) build(ctx *sql.Context, outer sql.Row) (sql.RowIter, error) {
	rows, err := n.b.base.Build(ctx, n.Node, outer)
	if err != nil {
		return nil, err
	}
	return newDistinctRows(rows, n.schema), nil
}
