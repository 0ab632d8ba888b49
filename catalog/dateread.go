package catalog

import (
	"regexp"
	"slices"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
)

// readDates makes texts that name no day the first of all, with MySQL's warning, where they are compared with a date, those that are written in the statement NULL, and reads what is cast to a date or time as MySQL does. GMS reads another
// day off texts, and none off numbers.
func readDates(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if cast, ok := e.(*expression.Convert); ok {
		return readCast(ctx, cast)
	}
	if !isComparison(e) || !slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return isDate(ctx, c) }) {
		return e, transform.SameTree, nil
	}
	if err := checkDates(ctx, e); err != nil {
		return nil, transform.SameTree, err
	}
	r := readsDate
	if slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return isDate(ctx, c) && !types.IsDateType(c.Type(ctx)) }) {
		r = readsDatetime
	}
	children, same := realDates(ctx, e.Children(), r)
	if same {
		return e, same, nil
	}
	out, err := e.WithChildren(ctx, children...)
	return out, same, err
}

// readCast is a CAST to a date or time of what it reads.
func readCast(ctx *sql.Context, cast *expression.Convert) (sql.Expression, transform.TreeIdentity, error) {
	r := readsDatetime
	switch t := cast.Type(ctx); {
	case types.IsTimespan(t):
		digits := 0
		if written := timeCastDigits.FindStringSubmatch(cast.String()); written != nil {
			digits = int(written[1][0] - '0')
		}
		return &timeArgument{expression.UnaryExpressionStub{Child: cast.Child}, readsTime, digits, 0}, transform.NewTree, nil
	case types.IsDateType(t):
		r = readsDate
	case !types.IsTime(t):
		return cast, transform.SameTree, nil
	}
	child := r.argument(ctx, cast.Child)
	if child == cast.Child {
		return cast, transform.SameTree, nil
	}
	out, err := cast.WithChildren(ctx, child)
	return out, transform.NewTree, err
}

// timeCastDigits finds the digits of TIME(n) in the text of GMS's conversion, which keeps them to itself.
var timeCastDigits = regexp.MustCompile(`, time\((\d)\)\)$`)

// checkDates refuses to compare a date with a text that is written in the statement and has nothing of a date, as MySQL does, whatever rows there are.
func checkDates(ctx *sql.Context, comparison sql.Expression) error {
	for _, c := range comparison.Children() {
		l, ok := c.(*expression.Literal)
		if !ok {
			continue
		}
		text, ok := l.Value().(string)
		if !ok || types.IsBinaryType(l.Type(ctx)) || noDate(text) {
			continue
		}
		if _, _, err := types.DatetimeMaxPrecision.Convert(ctx, text); err != nil && !sql.ErrTruncatedIncorrect.Is(err) {
			return err
		}
	}
	return nil
}

// realDates puts a possibleDate around each text that may name no day, those of an IN too.
func realDates(ctx *sql.Context, of []sql.Expression, r reading) ([]sql.Expression, transform.TreeIdentity) {
	out, same := slices.Clone(of), transform.SameTree
	for i, c := range of {
		if list, ok := c.(expression.Tuple); ok {
			if items, unchanged := realDates(ctx, list, r); !unchanged {
				out[i], same = expression.NewTuple(items...), transform.NewTree
			}
			continue
		}
		if c.Resolved() && (types.IsTextOnly(c.Type(ctx)) || types.IsBinaryType(c.Type(ctx))) && mayBeImpossible(c) {
			out[i], same = &possibleDate{expression.UnaryExpressionStub{Child: c}, r}, transform.NewTree
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
func mayBeImpossible(e sql.Expression) bool {
	if _, done := e.(*possibleDate); done {
		return false
	}
	l, ok := e.(*expression.Literal)
	if !ok {
		return true
	}
	text, ok := l.Value().(string)
	_, isBytes := l.Value().([]byte)
	return isBytes || ok && noDate(text)
}

// noDate tells whether a text has the form of a date and is none. The zero date is one: it is compared as the first of all.
func noDate(text string) bool { return mysqltype.ImpossibleDate(text) }

// possibleDate is a text, or the text that bytes are, that is read as a date.
type possibleDate struct {
	expression.UnaryExpressionStub
	reading
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
	return &possibleDate{expression.UnaryExpressionStub{Child: children[0]}, e.reading}, nil
}

// Eval is the text, as GMS reads it.
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
	l, literal := e.Child.(*expression.Literal)
	if !noDate(text) {
		if literal && !types.IsBinaryType(l.Type(ctx)) {
			return v, nil
		}
		if _, _, err := types.DatetimeMaxPrecision.Convert(ctx, text); err == nil {
			return v, nil
		}
	}
	if literal {
		ctx.Warn(mysqltype.WrongValue, "Incorrect datetime value: '%s'", text)
		return nil, nil
	}
	if c, ok, err := e.civil(ctx, e.Child, 0, text); err != nil || ok && c.Whole() {
		return c.Time().Format(textOfMoment), err
	}
	return types.ZeroDateStr, nil
}

// textOfMoment is how GMS reads a moment.
const textOfMoment = time.DateTime + ".000000"
