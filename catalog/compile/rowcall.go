package compile

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// rowCall is an expression that has no kernel: GMS computes it from the columns that it looks at, and so the same value as on rows. Around it all else runs
// on batches, and of a column that is dictionary encoded each value is computed once.
type rowCall struct {
	ctx    *sql.Context
	warned *warned        // the session of ctx
	expr   sql.Expression // its columns are at 0, 1, ...
	fields []batch.Field
	typ    batch.Type

	getters []mysqltype.Getter
	row     sql.Row
}

// perRow compiles an expression whose value depends on the columns alone.
func (c compiler) perRow(e sql.Expression) (vector.Expr, error) {
	t, ok := callType(c.ctx, e)
	if !ok || c.watched || isWritten(c.ctx) || !dependsOnColumnsAlone(c.ctx, e) {
		return nil, errNotCompiled
	}
	columns := columnsIn(c.ctx, e)
	if len(columns) == 0 {
		return c.folded(e, t)
	}
	call := newRowCall(c.ctx, t)
	args, at := make([]vector.Expr, len(columns)), make(map[int]int)
	for i, position := range columns {
		at[position] = i
	}
	var failed error
	transform.InspectExpr(c.ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		if f, ok := e.(*expression.GetField); ok && failed == nil {
			args[at[f.Index()]], failed = c.column(f)
		}
		return false
	})
	if failed != nil {
		return nil, failed
	}
	for _, position := range columns {
		call.fields = append(call.fields, c.p.fields[position-c.p.outer])
	}
	if call.expr, ok = moved(c.ctx, e, func(position int) int { return at[position] }); !ok {
		return nil, errNotCompiled
	}
	if call.expr, ok = fresh(c.ctx, call.expr); !ok {
		return nil, errNotCompiled
	}
	return vector.NewCall(call, t, args...), nil
}

// writtenKey is the context's key of whether a statement writes what is compiled.
type writtenKey struct{}

// written is the context in which what a statement writes is compiled: there a conversion that fails is an error, which kernels alone rule out.
func written(ctx *sql.Context) *sql.Context {
	return ctx.WithContext(context.WithValue(ctx.Context, writtenKey{}, true))
}

func isWritten(ctx *sql.Context) bool {
	on, _ := ctx.Value(writtenKey{}).(bool)
	return on
}

// folded computes what looks at no column. What warns is left to the rows, which warn each.
func (c compiler) folded(e sql.Expression, t batch.Type) (vector.Expr, error) {
	session, ok := c.ctx.Session.(WarningCatcher)
	if !ok {
		return nil, errNotCompiled
	}
	v, warned, err := evalCatching(c.ctx, session, e)
	if err == nil && !warned {
		v, err = callValue(c.ctx, t, v)
	}
	if err != nil || warned {
		return nil, errNotCompiled
	}
	return vector.NewConstant(t, v)
}

// evalCatching computes what looks at no column; its warnings do not reach the session, and a panic of GMS's is an error.
func evalCatching(ctx *sql.Context, session WarningCatcher, e sql.Expression) (v any, warned bool, err error) {
	var caught []*sql.Warning
	before := session.CatchWarnings(&caught)
	defer func() {
		session.CatchWarnings(before)
		if p := recover(); p != nil {
			err = fmt.Errorf("compute %s: %v", e, p)
		}
	}()
	v, err = e.Eval(ctx, nil)
	return v, len(caught) > 0, err
}

// FixedDecimal is an expression that may tell that its DECIMALs have no more digits than their type.
type FixedDecimal interface {
	sql.Expression
	FixedDecimal() bool
}

// callType is the type of an expression's values in a batch. DECIMALs of any other expression than a FixedDecimal are left out: GMS's may have more digits than their type.
func callType(ctx *sql.Context, e sql.Expression) (batch.Type, bool) {
	gms := e.Type(ctx)
	if gms == nil {
		return batch.Type{}, false
	}
	fixed, ok := e.(FixedDecimal)
	decimal := types.IsDecimal(gms) && !(ok && fixed.FixedDecimal())
	if _, isNull := gms.(sql.NullType); isNull || decimal || types.IsJSON(gms) || types.IsUnsigned(gms) || !byBytes(gms) {
		return batch.Type{}, false
	}
	t, err := mysqltype.ToDelta(gms)
	return t, err == nil && gms.Type() != sqltypes.Null
}

// dependsOnColumnsAlone is false where an evaluation may give another value than the one before, or does something.
func dependsOnColumnsAlone(ctx *sql.Context, e sql.Expression) bool {
	pure := true
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		for w, ok := e.(Wrapper); ok; w, ok = e.(Wrapper) {
			if _, isWatched := e.(*watched); isWatched {
				pure = false
			}
			e = w.Unwrap()
		}
		name := ""
		if f, ok := e.(sql.FunctionExpression); ok {
			name = strings.ToLower(f.FunctionName())
		}
		if departs(ctx, e, name) {
			pure = false
		}
		if n, ok := e.(sql.NonDeterministicExpression); ok && n.IsNonDeterministic() && !ofStatement[name] || notOfColumns[name] {
			pure = false
		}
		switch e.(type) {
		case sql.ExpressionWithNodes, sql.Aggregation, sql.WindowAdaptableExpression, *Assigned, *expression.UserVar, *expression.BindVar, *expression.ProcedureParam,
			*expression.MatchAgainst, *expression.Star, equated:
			pure = false
		}
		return !pure
	})
	return pure
}

// notOfColumns are the functions that have an effect, or look at more than their arguments.
var notOfColumns = map[string]bool{
	"rand": true, "uuid": true, "uuid_short": true, "sleep": true, "random_bytes": true, "get_lock": true, "release_lock": true, "release_all_locks": true, "is_free_lock": true,
	"is_used_lock": true, "load_file": true, "last_insert_id": true, "row_count": true, "found_rows": true, "values": true, "grouping": true, "benchmark": true,
}

// departs tells of what GMS has otherwise than MySQL, or fails at: comparisons of dates with numbers, and of bytes and documents; and GREATEST and LEAST of
// what is not of one family.
func departs(ctx *sql.Context, e sql.Expression, name string) bool {
	_, compares := compareOp(e)
	switch e.(type) {
	case *expression.Between, *expression.InTuple, *expression.HashInTuple:
		compares = true
	}
	operands := e.Children()
	if len(operands) == 2 {
		if list, ok := operands[1].(expression.Tuple); ok {
			operands = append([]sql.Expression{operands[0]}, list...)
		}
	}
	var dates, numbers, others bool
	for _, o := range operands {
		t := o.Type(ctx)
		switch {
		case t == nil:
		case types.IsTime(t):
			dates = true
		case types.IsNumber(t) && !types.IsBoolean(t):
			numbers = true
		case types.IsBoolean(t), types.IsJSON(t), types.IsBinaryType(t):
			others = true
		}
	}
	switch {
	case compares:
		return dates && numbers || others
	case name == "greatest" || name == "least":
		return others || dates
	}
	return false
}

// ofStatement are the functions that give one value for the whole of a statement.
var ofStatement = map[string]bool{
	"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true, "current_date": true, "curtime": true, "current_time": true,
	"utc_timestamp": true, "utc_date": true, "utc_time": true, "unix_timestamp": true,
}

// fresh builds an expression anew, because GMS's keep what they need once: two goroutines must not share it.
func fresh(ctx *sql.Context, e sql.Expression) (sql.Expression, bool) {
	children := e.Children()
	if len(children) == 0 {
		return e, true
	}
	out := make([]sql.Expression, len(children))
	for i, child := range children {
		var ok bool
		if out[i], ok = fresh(ctx, child); !ok {
			return nil, false
		}
	}
	e, err := e.WithChildren(ctx, out...)
	return e, err == nil
}

// newRowCall is a call that keeps its warnings for the context of the batches.
func newRowCall(ctx *sql.Context, t batch.Type) *rowCall {
	own := *ctx
	warned := &warned{Session: ctx.Session}
	own.Session = warned
	return &rowCall{ctx: &own, warned: warned, typ: t}
}

// warned is a session for one goroutine that keeps warnings.
type warned struct {
	sql.Session
	all []*sql.Warning
}

// Warn keeps a warning.
func (s *warned) Warn(w *sql.Warning) { s.all = append(s.all, w) }

// warn gives the warnings of a row to whom they concern.
func (c *rowCall) warn(ctx context.Context) {
	for _, w := range c.warned.all {
		if !vector.Warn(ctx, vector.Warning{Code: w.Code, Message: w.Message}) {
			c.warned.Session.Warn(w)
		}
	}
	c.warned.all = c.warned.all[:0]
}

// Bind implements vector.RowFunc.
func (c *rowCall) Bind(args []*batch.Vector) {
	c.getters, c.row = c.getters[:0], make(sql.Row, len(args))
	for i, v := range args {
		c.getters = append(c.getters, mysqltype.NewGetter(c.fields[i], v))
	}
}

// Append implements vector.RowFunc. A panic of GMS's must not end the process, as it would in another goroutine.
func (c *rowCall) Append(ctx context.Context, out *batch.Vector, i int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compute %s: %v", c.expr, p)
		}
	}()
	for n, get := range c.getters {
		c.row[n] = get(i)
	}
	v, err := c.expr.Eval(c.ctx, c.row)
	defer c.warn(ctx)
	if err != nil || mysqltype.AppendComputed(out, v) {
		return err
	}
	if v, err = callValue(c.ctx, c.typ, v); err != nil {
		return err
	}
	return out.AppendValue(v)
}

// callValue is a value of GMS's as AppendValue takes it.
func callValue(ctx *sql.Context, t batch.Type, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil || v == nil {
		return nil, err
	}
	if t.Kind == batch.Bool {
		return sql.ConvertToBool(ctx, v)
	}
	if out, ok := mysqltype.Direct(t, v); ok {
		return out, nil
	}
	return mysqltype.ToBatch(ctx, batch.Field{Type: t}, v)
}

// Clone implements vector.RowFunc.
func (c *rowCall) Clone() vector.RowFunc {
	expr, ok := fresh(c.ctx, c.expr)
	if !ok { // it was built anew before
		expr = c.expr
	}
	out := newRowCall(c.ctx, c.typ)
	out.warned.Session, out.expr, out.fields = c.warned.Session, expr, c.fields
	return out
}
