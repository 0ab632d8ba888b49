package compile

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/vector"
)

// frameBounds are the bounds of a frame as GMS's has them.
type frameBounds struct {
	rows       bool
	start, end frameBound
}

type frameBound struct {
	kind     vector.BoundKind
	distance sql.Expression // before or behind the current row; nil: none
}

// boundsOf takes the frame of a window apart. Without one it is that of MySQL: up to the last peer.
func boundsOf(w *sql.WindowDefinition) frameBounds {
	out := frameBounds{end: frameBound{kind: vector.CurrentRow}}
	f := w.Frame
	if f == nil {
		return out
	}
	out.rows = strings.HasPrefix(f.String(), "ROWS") // GMS's frames tell it no other way
	switch {
	case f.StartNPreceding() != nil:
		out.start = frameBound{vector.Preceding, f.StartNPreceding()}
	case f.StartNFollowing() != nil:
		out.start = frameBound{vector.Following, f.StartNFollowing()}
	case f.StartCurrentRow():
		out.start = frameBound{kind: vector.CurrentRow}
	}
	switch {
	case f.EndNPreceding() != nil:
		out.end = frameBound{vector.Preceding, f.EndNPreceding()}
	case f.EndNFollowing() != nil:
		out.end = frameBound{vector.Following, f.EndNFollowing()}
	case f.UnboundedFollowing():
		out.end = frameBound{kind: vector.UnboundedFollowing}
	}
	return out
}

// rowsAway is the distance of a bound in rows.
func (b frameBound) rowsAway(ctx *sql.Context) (int64, error) {
	v, err := b.distance.Eval(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, inRange, err := types.Int64.Convert(ctx, v)
	if v == nil || err != nil || inRange != sql.InRange || n.(int64) < 0 || !types.IsInteger(b.distance.Type(ctx)) {
		return 0, sql.ErrInvalidArgument.New("the frame of a window")
	}
	return n.(int64), nil
}

// movedKey is the one key of a window's order, and the key at which a range begins or ends.
func (b frameBound) movedKey(ctx *sql.Context, w *sql.WindowDefinition) (key, moved sql.Expression, err error) {
	if len(w.OrderBy) != 1 {
		return nil, nil, sql.ErrInvalidArgument.New("a range of values, which takes one ORDER BY expression,")
	}
	key = unwrap(w.OrderBy[0].Expr)
	_, interval := b.distance.(*expression.Interval)
	if t := key.Type(ctx); interval != types.IsTime(t) || !interval && !types.IsNumber(t) {
		return nil, nil, sql.ErrInvalidArgument.New("a range of values, whose ORDER BY is a number, or a date beside an INTERVAL,")
	}
	if !interval {
		v, err := b.distance.Eval(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		n, _, err := types.Float64.Convert(ctx, v)
		if v == nil || err != nil || n.(float64) < 0 {
			return nil, nil, sql.ErrInvalidArgument.New("the frame of a window")
		}
	}
	back := (b.kind == vector.Preceding) != (w.OrderBy[0].Order == sql.Descending)
	return key, MoveKey(ctx, key, b.distance, back), nil
}
