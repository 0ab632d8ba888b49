package compile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Fault is a value that an expression cannot turn into its type.
type Fault struct {
	Column  string  // of the SELECT; "" outside its columns
	Expr    string  // as GMS words it
	Row     sql.Row // what the expression was computed from
	Message string  // as MySQL's warning
	Alone   bool    // leaving the row out touches no other row: no join or sort is above
}

// OnFault decides: nil makes the value NULL, an error ends the query.
type OnFault func(Fault) error

// WarningCatcher is a session whose warnings can be taken before the client sees them. Its Warn is called from several goroutines.
type WarningCatcher interface {
	// CatchWarnings sends warnings to another place, nil for the session, and returns the place before.
	CatchWarnings(to *[]*sql.Warning) *[]*sql.Warning
}

// Strict hands the values that an analyzed plan cannot convert to onFault. GMS makes them 0 or NULL with a warning, or without. In the context of
// DivisionErrors it makes a division by zero an error.
func Strict(ctx *sql.Context, n sql.Node, onFault OnFault) (sql.Node, error) {
	return stricter{onFault: onFault, division: divisionIsError(ctx)}.node(ctx, n, true)
}

type stricter struct {
	onFault  OnFault
	division bool // by zero is an error
	columns  *projected
	at       int // of columns
}

// projected are the columns of one Project. A row that is left out for one of them is looked through for what is wrong with the others.
type projected struct {
	exprs  []sql.Expression
	inside bool // the others are being looked at
}

// lookOn evaluates the columns behind one that left the row out: onFault hears of theirs.
func (p *projected) lookOn(ctx *sql.Context, row sql.Row, at int) {
	if p == nil || p.inside {
		return
	}
	p.inside = true
	defer func() { p.inside = false }()
	for _, e := range p.exprs[at+1:] {
		_, _ = e.Eval(ctx, row) // the row is left out already: only faults count
	}
}

func (s stricter) node(ctx *sql.Context, n sql.Node, alone bool) (sql.Node, error) {
	switch n.(type) {
	case *plan.Project, *plan.Filter, *plan.SubqueryAlias, *plan.TableAlias:
	default:
		alone = false
	}
	children := n.Children()
	if len(children) > 0 {
		out := make([]sql.Node, len(children))
		for i, child := range children {
			var err error
			if out[i], err = s.node(ctx, child, alone); err != nil {
				return nil, err
			}
		}
		var err error
		if n, err = n.WithChildren(ctx, out...); err != nil {
			return nil, err
		}
	}
	return s.expressions(ctx, n, alone)
}

func (s stricter) expressions(ctx *sql.Context, n sql.Node, alone bool) (sql.Node, error) {
	switch n := n.(type) {
	case *plan.Project:
		out := make([]sql.Expression, len(n.Projections))
		s.columns = &projected{exprs: out}
		for i, e := range n.Projections {
			var err error
			s.at = i
			if out[i], err = s.column(ctx, e, alone); err != nil {
				return nil, err
			}
		}
		return n.WithExpressions(ctx, out...)
	case *plan.Filter:
		conjuncts := expression.SplitConjunction(ctx, n.Expression)
		for i, e := range conjuncts {
			var err error
			if conjuncts[i], err = s.watch(ctx, e, "", alone); err != nil {
				return nil, err
			}
		}
		return n.WithExpressions(ctx, expression.JoinAnd(conjuncts...))
	case *plan.Values:
		all := n.Expressions()
		for i, e := range all {
			var err error
			if all[i], err = s.watch(ctx, e, "", false); err != nil {
				return nil, err
			}
		}
		return n.WithExpressions(ctx, all...)
	case sql.Expressioner:
		return s.elsewhere(ctx, n)
	}
	return n, nil
}

// elsewhere watches the CASTs of a node that is neither, such as a join.
func (s stricter) elsewhere(ctx *sql.Context, n sql.Expressioner) (sql.Node, error) {
	out := n.Expressions()
	changed := false
	for i, e := range out {
		if !hasCast(e) {
			continue
		}
		var err error
		if out[i], err = s.casts(ctx, e, "", false); err != nil {
			return nil, err
		}
		changed = true
	}
	if !changed {
		return n.(sql.Node), nil
	}
	return n.WithExpressions(ctx, out...)
}

// hasCast tells whether there is a CAST in an expression, or a value that is converted for its column.
func hasCast(e sql.Expression) bool {
	if isCast(e) {
		return true
	}
	return slices.ContainsFunc(e.Children(), hasCast)
}

func isCast(e sql.Expression) bool {
	_, assigned := e.(*Assigned)
	_, _, cast := castOf(e)
	return assigned || cast
}

// castOf is the CAST that an expression is, and its operand; a Wrapper too which has the operand of the CAST that it stands for, and is not around it.
func castOf(e sql.Expression) (cast, child sql.Expression, ok bool) {
	inner := e
	w, wrapped := e.(Wrapper)
	if wrapped {
		inner = w.Unwrap()
	}
	if _, ok = inner.(*expression.Convert); !ok || wrapped && w.Children()[0] == inner {
		return nil, nil, false
	}
	return e, e.Children()[0], true
}

// column watches a projected expression below its name.
func (s stricter) column(ctx *sql.Context, e sql.Expression, alone bool) (sql.Expression, error) {
	a, ok := e.(*expression.Alias)
	if !ok {
		return s.watch(ctx, e, e.String(), alone)
	}
	child, err := s.watch(ctx, a.Child, a.Name(), alone)
	if err != nil {
		return nil, err
	}
	return a.WithChildren(ctx, child)
}

// watch puts a watched over an expression and over each CAST in it, so that what is around a CAST sees its NULL.
func (s stricter) watch(ctx *sql.Context, e sql.Expression, column string, alone bool) (sql.Expression, error) {
	switch e.(type) {
	case *expression.GetField, *expression.Literal:
		return e, nil
	}
	if slices.ContainsFunc(e.Children(), hasCast) {
		out := slices.Clone(e.Children())
		for i, child := range out {
			var err error
			if out[i], err = s.casts(ctx, child, column, alone); err != nil {
				return nil, err
			}
		}
		var err error
		if e, err = e.WithChildren(ctx, out...); err != nil {
			return nil, err
		}
	}
	return &watched{inner: e, column: column, alone: alone, stricter: s}, nil
}

func (s stricter) casts(ctx *sql.Context, e sql.Expression, column string, alone bool) (sql.Expression, error) {
	if isCast(e) {
		return s.watch(ctx, e, column, alone)
	}
	if !hasCast(e) {
		return e, nil
	}
	out := slices.Clone(e.Children())
	for i, child := range out {
		var err error
		if out[i], err = s.casts(ctx, child, column, alone); err != nil {
			return nil, err
		}
	}
	return e.WithChildren(ctx, out...)
}

// watched is an expression whose failed conversions go to onFault. It belongs to one execution of a plan.
type watched struct {
	inner  sql.Expression
	column string
	alone  bool
	stricter
	caught []*sql.Warning
}

var (
	_ sql.Expression                 = (*watched)(nil)
	_ sql.CollationCoercible         = (*watched)(nil)
	_ Wrapper                        = (*watched)(nil)
	_ sql.NonDeterministicExpression = (*watched)(nil)
)

// Unwrap returns the expression that compiles: what compiles converts nothing.
func (w *watched) Unwrap() sql.Expression { return w.inner }

// Resolved, String, Type, IsNullable, Children and the rest are the expression's.
func (w *watched) Resolved() bool                 { return w.inner.Resolved() }
func (w *watched) String() string                 { return w.inner.String() }
func (w *watched) Type(ctx *sql.Context) sql.Type { return w.inner.Type(ctx) }
func (w *watched) IsNullable(*sql.Context) bool   { return true }
func (w *watched) Children() []sql.Expression     { return w.inner.Children() }

// IsNonDeterministic is the expression's.
func (w *watched) IsNonDeterministic() bool {
	e, ok := w.inner.(sql.NonDeterministicExpression)
	return ok && e.IsNonDeterministic()
}

// CollationCoercibility is the expression's.
func (w *watched) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, w.inner)
}

// WithChildren returns it over other operands.
func (w *watched) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	inner, err := w.inner.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &watched{inner: inner, column: w.column, alone: w.alone, stricter: w.stricter}, nil
}

// Eval computes the value and looks whether it was converted.
func (w *watched) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	session, ok := ctx.Session.(WarningCatcher)
	if !ok {
		return w.inner.Eval(ctx, row)
	}
	w.caught = w.caught[:0]
	before := session.CatchWarnings(&w.caught)
	v, message, err := w.eval(ctx, row)
	session.CatchWarnings(before)
	for _, warning := range w.caught {
		switch {
		case w.division && warning.Code == expression.ERDivisionByZero && err == nil:
			err = &DivisionError{Expr: w.inner.String()}
		case !conversionFailed[warning.Code]:
			ctx.Warn(warning.Code, "%s", warning.Message)
		case message == "":
			message = warning.Message
		}
	}
	if err != nil || message == "" {
		return v, err
	}
	err = w.onFault(Fault{Column: w.column, Expr: w.inner.String(), Row: row, Message: message, Alone: w.alone})
	if errors.Is(err, ErrSkipRow) {
		w.columns.lookOn(ctx, row, w.at)
	}
	return nil, err
}

// divisionKey is the context's key of whether a division by zero is an error.
type divisionKey struct{}

// DivisionErrors is the context in which what a statement writes is planned: by MySQL's ERROR_FOR_DIVISION_BY_ZERO, in strict mode, a division by zero
// is a *DivisionError there, while a query has NULL.
func DivisionErrors(ctx *sql.Context) *sql.Context {
	mode := sql.LoadSqlMode(ctx)
	if !mode.Strict() || !mode.ModeEnabled(sql.ErrorForDivisionByZero) && !mode.ModeEnabled(sql.Traditional) {
		return ctx
	}
	return ctx.WithContext(context.WithValue(ctx.Context, divisionKey{}, true))
}

func divisionIsError(ctx *sql.Context) bool {
	on, _ := ctx.Value(divisionKey{}).(bool)
	return on
}

// DivisionError says that a statement would write the result of a division by zero.
type DivisionError struct{ Expr string }

func (e *DivisionError) Error() string { return "Division by 0 in " + e.Expr }

// ValueError says that a statement would write a value that an expression could not compute.
type ValueError struct{ Fault }

func (e *ValueError) Error() string { return e.Message + " in " + e.Expr }

// Refuse is the OnFault of statements: the value is an error.
func Refuse(f Fault) error { return &ValueError{f} }

// conversionFailed has the numbers of the warnings of ConversionFailed.
var conversionFailed = map[int]bool{
	1105: true, // GMS's, for a negative number as UNSIGNED
	1264: true, // out of range
	1292: true, // truncated or incorrect
	1366: true, // incorrect for the column
	3156: true, // of a document
}

// eval is the value, and what is wrong with it where GMS does not warn.
func (w *watched) eval(ctx *sql.Context, row sql.Row) (v any, message string, err error) {
	cast, child, ok := castOf(w.inner)
	if !ok {
		v, err = w.inner.Eval(ctx, row)
		return v, "", err
	}
	from, err := child.Eval(ctx, row)
	if err == nil {
		from, err = sql.UnwrapAny(ctx, from)
	}
	if err != nil || from == nil {
		return nil, "", err
	}
	of, err := cast.WithChildren(ctx, expression.NewLiteral(from, child.Type(ctx)))
	if err != nil {
		return nil, "", err
	}
	to := cast.Type(ctx)
	if v, err = of.Eval(ctx, row); err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if expression.ErrConvertExpression.Is(err) || err == nil && (v == nil || !kept(from, v, to)) {
		return nil, fmt.Sprintf("Incorrect %s value: '%v'", to, shown(from)), nil
	}
	return v, "", err
}

func shown(v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case *apd.Decimal:
		return v.Text('f')
	}
	return v
}

// kept says whether a CAST to a number gave the number that was there, but for rounding. Text must be a number of the type.
func kept(from, to any, t sql.Type) bool {
	if text, ok := from.(string); ok && types.IsInteger(t) {
		text = strings.TrimSpace(text)
		if v, ok := to.(uint64); ok {
			n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
			return err == nil && n == v
		}
		n, err := strconv.ParseInt(text, 10, 64)
		return err == nil && n == to
	}
	if !types.IsNumber(t) {
		return true
	}
	was, ok := exact(from)
	if !ok {
		_, isText := from.(string)
		return !isText // times and bits have rules of their own
	}
	is, ok := exact(to)
	if !ok {
		return false
	}
	diff := new(apd.Decimal)
	if _, err := exactContext.Sub(diff, was, is); err != nil {
		return false
	}
	diff.Abs(diff)
	return diff.Cmp(tolerance(was, t)) <= 0
}

// tolerance is the most by which rounding to a type changes a number.
func tolerance(was *apd.Decimal, t sql.Type) *apd.Decimal {
	if d, ok := t.(sql.DecimalType); ok {
		return apd.New(1, -int32(d.Scale()))
	}
	if !types.IsFloat(t) {
		return apd.New(1, 0)
	}
	out := new(apd.Decimal).Abs(was)
	out.Exponent -= 6
	if smallest := apd.New(1, -300); out.Cmp(smallest) < 0 {
		return smallest
	}
	return out
}

var exactContext = apd.BaseContext.WithPrecision(400)

func exact(v any) (*apd.Decimal, bool) {
	switch v := v.(type) {
	case *apd.Decimal:
		return v, v.Form == apd.Finite
	case string:
		d, _, err := apd.NewFromString(strings.TrimSpace(v))
		return d, err == nil && d.Form == apd.Finite && math.Abs(float64(d.Exponent)) < 400
	case float32:
		return exact(float64(v))
	case float64:
		d, err := new(apd.Decimal).SetFloat64(v)
		return d, err == nil && d.Form == apd.Finite
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64:
		d, _, err := apd.NewFromString(fmt.Sprint(v))
		return d, err == nil
	}
	return nil, false
}

// ErrSkipRow is what an OnFault returns to leave the row out. The iterators of Project and Filter go on after an error.
var ErrSkipRow = errors.New("row left out")

// ConversionFailed says whether a warning stands for a value that was invented, or left out, because a conversion failed.
func ConversionFailed(code int) bool { return conversionFailed[code] }
