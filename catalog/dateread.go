package catalog

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// readDates makes texts that name no day NULL, with MySQL's warning, where they are cast to a date or compared with one. GMS reads another day off
// them.
func readDates(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	_, cast := e.(*expression.Convert)
	if !(cast && isDate(ctx, e)) && !(isComparison(e) && slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return isDate(ctx, c) })) {
		return e, transform.SameTree, nil
	}
	if !cast {
		if err := checkDates(ctx, e); err != nil {
			return nil, transform.SameTree, err
		}
	}
	children, same := realDates(ctx, e.Children(), cast)
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, children...)
	return out, same, err
}

// checkDates refuses to compare a date with a text that is written in the statement and has nothing of a date, as MySQL does, whatever rows there are.
func checkDates(ctx *sql.Context, comparison sql.Expression) error {
	for _, c := range comparison.Children() {
		l, ok := c.(*expression.Literal)
		if !ok {
			continue
		}
		text, ok := l.Value().(string)
		if !ok || types.IsBinaryType(l.Type(ctx)) || noDate(text, false) {
			continue
		}
		if _, _, err := types.DatetimeMaxPrecision.Convert(ctx, text); err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
			return err
		}
	}
	return nil
}

// realDates puts a possibleDate around each text that may name no day, those of an IN too.
func realDates(ctx *sql.Context, of []sql.Expression, cast bool) ([]sql.Expression, transform.TreeIdentity) {
	out, same := slices.Clone(of), transform.SameTree
	for i, c := range of {
		if list, ok := c.(expression.Tuple); ok {
			if items, unchanged := realDates(ctx, list, cast); !unchanged {
				out[i], same = expression.NewTuple(items...), transform.NewTree
			}
			continue
		}
		if c.Resolved() && (types.IsTextOnly(c.Type(ctx)) || !cast && types.IsBinaryType(c.Type(ctx))) && mayBeImpossible(c, cast) {
			out[i], same = &possibleDate{expression.UnaryExpressionStub{Child: c}, cast}, transform.NewTree
		}
	}
	return out, same
}

func isComparison(e sql.Expression) bool {
	switch e.(type) {
	case *expression.Equals, *expression.NullSafeEquals, *expression.GreaterThan, *expression.GreaterThanOrEqual, *expression.LessThan, *expression.LessThanOrEqual,
		*expression.Between, *between, *expression.InTuple:
		return true
	}
	return false
}

// mayBeImpossible is false for a literal that is a date: it stays one, which compiles.
func mayBeImpossible(e sql.Expression, cast bool) bool {
	if _, done := e.(*possibleDate); done {
		return false
	}
	l, ok := e.(*expression.Literal)
	if !ok {
		return true
	}
	text, ok := l.Value().(string)
	_, isBytes := l.Value().([]byte)
	return isBytes || ok && noDate(text, cast)
}

// noDate tells whether a text has the form of a date and is none. The zero date is compared as the first of all.
func noDate(text string, cast bool) bool {
	return mysqltype.ImpossibleDate(text) || cast && types.IsZeroTimestampStr(text)
}

// possibleDate is a text, or the text that bytes are, that is read as a date.
type possibleDate struct {
	expression.UnaryExpressionStub
	cast bool
}

var (
	_ sql.Expression         = (*possibleDate)(nil)
	_ sql.CollationCoercible = (*possibleDate)(nil)
)

func (e *possibleDate) String() string { return e.Child.String() }

// Type is the text's.
func (e *possibleDate) Type(ctx *sql.Context) sql.Type {
	if t := e.Child.Type(ctx); !types.IsBinaryType(t) {
		return t
	}
	return types.LongText
}

// IsNullable is true: a text that is no date is NULL.
func (e *possibleDate) IsNullable(*sql.Context) bool { return true }

// CollationCoercibility is the text's.
func (e *possibleDate) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, e.Child)
}

// WithChildren is of another text.
func (e *possibleDate) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	return &possibleDate{expression.UnaryExpressionStub{Child: children[0]}, e.cast}, nil
}

// Eval is the text, or NULL.
func (e *possibleDate) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := e.Child.Eval(ctx, row)
	if err == nil {
		v, err = sql.UnwrapAny(ctx, v)
	}
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	text, ok := v.(string)
	if err != nil || !ok {
		return v, err
	}
	impossible := noDate(text, e.cast)
	if l, literal := e.Child.(*expression.Literal); !impossible && !e.cast && (!literal || types.IsBinaryType(l.Type(ctx))) {
		_, _, err := types.DatetimeMaxPrecision.Convert(ctx, text)
		impossible = err != nil && !sql.ErrTruncatedIncorrect.Is(err)
	}
	if impossible {
		ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%s'", text)
		return nil, nil
	}
	return v, nil
}
