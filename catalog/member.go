package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// findMembers has e IN (SELECT ...) compare as = does. GMS's converts the left side to the type of the right one: 4.0001 is then among DECIMALs of two digits, and what
// the type has no place for is not among them even where one is NULL.
func findMembers(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
		switch e := e.(type) {
		case *plan.Subquery:
			query, same, err := findMembers(ctx, nil, e.Query, nil, nil, nil)
			if err != nil || same {
				return e, transform.SameTree, err
			}
			return e.WithQuery(query), transform.NewTree, nil
		case *plan.InSubquery:
			m, err := newMember(ctx, e)
			if err != nil || m == nil {
				return e, transform.SameTree, err
			}
			return m, transform.NewTree, nil
		case *expression.Equals:
			return findRow(ctx, e)
		}
		return e, transform.SameTree, nil
	})
}

// member is e IN (SELECT ...), of one column or several.
type member struct {
	*plan.InSubquery
	rows  *plan.Subquery
	equal []sql.Expression // by column: of a row that has the columns of the left side and then those of the right one
	left  []sql.Expression // what of the left ones is hashed; nil: equal values may have several hashes
	right []sql.Expression

	mu   sync.Mutex
	of   []any            // the rows that were hashed
	keys map[uint64][]int // by hash, where rows without a NULL are
	some []int            // where the others are
}

var _ compile.Wrapper = (*member)(nil)

// newMember is nil where the right side is no subquery, or has another number of columns.
func newMember(ctx *sql.Context, in *plan.InSubquery) (*member, error) {
	rows, ok := in.RightChild.(*plan.Subquery)
	if !ok {
		return nil, nil
	}
	lefts := []sql.Expression{in.LeftChild}
	if tuple, ok := in.LeftChild.(expression.Tuple); ok {
		lefts = tuple
	}
	schema := rows.Query.Schema(ctx)
	if len(schema) != len(lefts) {
		return nil, nil
	}
	m := &member{InSubquery: in, rows: rows}
	hashed := rows.CanCacheResults()
	for i, left := range lefts {
		var l, r sql.Expression = expression.NewGetField(i, left.Type(ctx), "", true), expression.NewGetField(len(lefts)+i, schema[i].Type, schema[i].Name, true)
		if with, texts := compile.ComparedBy(ctx, left, r); texts && !compile.BytesDecide(with) {
			l = expression.NewCollatedExpression(compile.NewDateText(l), with)
		}
		equal, _, err := comparedAsWritten(ctx, expression.NewEquals(l, r))
		if err != nil {
			return nil, err
		}
		m.equal = append(m.equal, equal)
		pair := equal.Children()
		hashed = hashed && hashAlike(pair[0].Type(ctx), pair[1].Type(ctx))
		m.left, m.right = append(m.left, hashedAs(ctx, pair[0])), append(m.right, hashedAs(ctx, pair[1]))
	}
	if !hashed {
		m.left, m.right = nil, nil
	}
	return m, nil
}

// hashedAs is an expression of which equal values are the same.
func hashedAs(ctx *sql.Context, e sql.Expression) sql.Expression {
	if _, done := e.(*compared); !done && types.IsDecimal(e.Type(ctx)) {
		return &compared{expression.UnaryExpressionStub{Child: e}, exactOrder{types.InternalDecimalType}}
	}
	return e
}

// Unwrap is GMS's.
func (m *member) Unwrap() sql.Expression { return m.InSubquery }

// WithChildren is of another left side and another subquery.
func (m *member) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 2 {
		return nil, sql.ErrInvalidChildrenNumber.New(m, len(children), 2)
	}
	in := plan.NewInSubquery(ctx, children[0], children[1])
	out, err := newMember(ctx, in)
	if err != nil || out == nil {
		return in, err
	}
	return out, nil
}

// Eval looks for a row that is equal: without one, NULL where one may be.
func (m *member) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := m.LeftChild.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	rows, err := m.rows.EvalMultiple(ctx, row)
	if err != nil {
		return nil, err
	}
	pair := make(sql.Row, 2*len(m.equal))
	fillColumns(pair[:len(m.equal)], v)
	found := any(false)
	test := func(i int) (done bool, err error) {
		fillColumns(pair[len(m.equal):], rows[i])
		switch is, err := m.isEqual(ctx, pair); {
		case err != nil:
			return false, err
		case is == nil:
			found = nil
		case is == true:
			found = true
		}
		return found == true, nil
	}
	candidates, all, err := m.candidates(ctx, rows, pair)
	if err != nil {
		return nil, err
	}
	if all {
		for i := range rows {
			if done, err := test(i); done || err != nil {
				return found, err
			}
		}
		return found, nil
	}
	for _, i := range candidates {
		if done, err := test(i); done || err != nil {
			return found, err
		}
	}
	return found, nil
}

// fillColumns sets a row's columns to a value, that of a tuple to its parts.
func fillColumns(columns sql.Row, v any) {
	if parts, ok := v.([]any); ok && len(columns) > 1 {
		copy(columns, parts)
		return
	}
	columns[0] = v
}

// isEqual is nil where it is not known.
func (m *member) isEqual(ctx *sql.Context, pair sql.Row) (any, error) {
	out := any(true)
	for _, e := range m.equal {
		v, err := e.Eval(ctx, pair)
		if err != nil || v == false {
			return v, err
		}
		if v == nil {
			out = nil
		}
	}
	return out, nil
}

// candidates are the rows that may be equal to the left side of pair, or be NULL; all: each may.
func (m *member) candidates(ctx *sql.Context, rows []any, pair sql.Row) (some []int, all bool, err error) {
	n := len(m.equal)
	for _, v := range pair[:n] {
		if v == nil || m.left == nil {
			return nil, true, nil
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(rows) != len(m.of) || len(rows) > 0 && &rows[0] != &m.of[0] {
		if err := m.hash(ctx, rows); err != nil {
			return nil, false, err
		}
	}
	key, _, err := keyOf(ctx, m.left, pair)
	if err != nil {
		return nil, false, err
	}
	return append(append(make([]int, 0, len(m.keys[key])+len(m.some)), m.keys[key]...), m.some...), false, nil
}

// hash finds the hashes of the rows.
func (m *member) hash(ctx *sql.Context, rows []any) error {
	m.keys, m.some = make(map[uint64][]int), nil
	pair := make(sql.Row, 2*len(m.equal))
	for i, v := range rows {
		fillColumns(pair[len(m.equal):], v)
		key, null, err := keyOf(ctx, m.right, pair)
		if err != nil {
			return err
		}
		if null {
			m.some = append(m.some, i)
		} else {
			m.keys[key] = append(m.keys[key], i)
		}
	}
	m.of = rows
	return nil
}

// keyOf is the hash of expressions over a row; null: one of them is.
func keyOf(ctx *sql.Context, of []sql.Expression, row sql.Row) (key uint64, null bool, err error) {
	values, schema := make(sql.Row, len(of)), make(sql.Schema, len(of))
	for i, e := range of {
		if values[i], err = e.Eval(ctx, row); err != nil {
			return 0, false, err
		}
		schema[i] = &sql.Column{Type: e.Type(ctx)}
		null = null || values[i] == nil
	}
	key, err = hash.HashOf(ctx, schema, values)
	return key, null, err
}
