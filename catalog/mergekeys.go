package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// maxListedKeys is up to how many values of a key are listed in a condition; more are told by the least and the greatest.
const maxListedKeys = 100

// mergeKey is a part of ON by which a column of the target equals one of the source.
type mergeKey struct {
	target *ast.ColName
	source int // the position of the column
}

// keys are those parts of ON that must hold for every pair, and whose values have the same order on both sides and in statistics: exact
// numbers, dates, times and texts that are compared by bytes. Rows of the target that match any of the source's have one of the source's
// values, so the scan of the target can leave out files by them.
func (m *mergeRun) keys(on ast.Expr) []mergeKey {
	var out []mergeKey
	schema := m.t.snap.Schema()
	for _, e := range conjuncts(on) {
		equal, ok := e.(*ast.ComparisonExpr)
		if !ok || equal.Operator != ast.EqualStr {
			continue
		}
		l, isL := unparenthesized(equal.Left).(*ast.ColName)
		r, isR := unparenthesized(equal.Right).(*ast.ColName)
		if !isL || !isR {
			continue
		}
		if m.isSource(l) {
			l, r = r, l
		}
		if m.isSource(l) || !m.isSource(r) {
			continue
		}
		target, source := schema.Index(l.Name.String()), m.source.schema.Index(r.Name.String())
		if target >= 0 && source >= 0 && sameOrder(schema.Fields[target], m.source.schema.Fields[source]) {
			out = append(out, mergeKey{m.t.column(schema.Fields[target].Name), source})
		}
	}
	return out
}

// conjuncts are the parts of a condition that all must hold.
func conjuncts(e ast.Expr) []ast.Expr {
	e = unparenthesized(e)
	if and, ok := e.(*ast.AndExpr); ok {
		return append(conjuncts(and.Left), conjuncts(and.Right)...)
	}
	return []ast.Expr{e}
}

func unparenthesized(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// sameOrder tells whether a column of the target and one of the source are compared as batch.Compare does. Texts are: the source, which
// was read, has no collation of its own.
func sameOrder(target, source batch.Field) bool {
	exact := []batch.Kind{batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Decimal}
	switch kind := target.Type.Kind; kind {
	case batch.Date, batch.Timestamp, batch.TimestampNTZ, batch.String:
		return source.Type == target.Type && !types.IsJSON(mysqltype.OfField(target))
	default:
		return slices.Contains(exact, kind) && slices.Contains(exact, source.Type.Kind)
	}
}

// keyCondition is that the target's column is one of the values that the source's has, or between the least and the greatest; nil where that
// cannot be said.
func (s *sourceRows) keyCondition(key mergeKey) ast.Expr {
	distinct := make(map[string]ast.Expr)
	var low, high farthest
	for _, b := range s.batches {
		v := b.Cols[key.source]
		for row := range b.Len {
			if v.IsNull(row) || v.Dict != nil && v.Dict.IsNull(int(v.Codes[row])) {
				continue // it equals nothing
			}
			low.take(v, row, -1)
			high.take(v, row, 1)
			if len(distinct) > maxListedKeys {
				continue
			}
			distinct[v.Format(row)] = keyLiteral(v, row)
		}
	}
	if low.v == nil {
		return ast.BoolVal(false)
	}
	least, greatest := keyLiteral(low.v, low.row), keyLiteral(high.v, high.row)
	if least == nil || greatest == nil {
		return nil
	}
	if len(distinct) > maxListedKeys {
		return &ast.RangeCond{Operator: ast.BetweenStr, Left: key.target, From: least, To: greatest}
	}
	var list ast.ValTuple
	for _, text := range slices.Sorted(maps.Keys(distinct)) {
		list = append(list, distinct[text])
	}
	return &ast.ComparisonExpr{Operator: ast.InStr, Left: key.target, Right: list}
}

// farthest is the least or the greatest value so far.
type farthest struct {
	v   *batch.Vector // nil: none yet
	row int
}

// take goes on to a value that lies further in a direction.
func (e *farthest) take(v *batch.Vector, row, direction int) {
	if e.v == nil || batch.Compare(v, row, e.v, e.row)*direction > 0 {
		e.v, e.row = v, row
	}
}

// keyLiteral is a value in SQL; nil for one that MySQL's literals do not have.
func keyLiteral(v *batch.Vector, row int) ast.Expr {
	text := v.Format(row)
	switch v.Type.Kind {
	case batch.String:
		return ast.NewStrVal([]byte(text))
	case batch.Date, batch.Timestamp, batch.TimestampNTZ:
		if year, _, _ := strings.Cut(text, "-"); len(year) != 4 || year < "1000" {
			return nil
		}
		return ast.NewStrVal([]byte(text))
	case batch.Decimal:
		return ast.NewFloatVal([]byte(text))
	default:
		return ast.NewIntVal([]byte(text))
	}
}
