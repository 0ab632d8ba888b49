package compile

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
	"lakesql/vector"
)

// scalarKernels are the functions whose arguments are those of kernels, by GMS's names.
var scalarKernels = map[string]*vector.Function{
	"length": vector.Length, "character_length": vector.CharLength, "upper": vector.Upper, "lower": vector.Lower, "reverse": vector.Reverse, "substring": vector.Substring,
	"left": vector.Left, "right": vector.Right, "concat": vector.Concat, "concat_ws": vector.ConcatWS, "replace": vector.Replace, "locate": vector.Locate, "position": vector.Locate,
	"instr": vector.Instr, "substring_index": vector.SubstringIndex, "lpad": vector.LPad, "rpad": vector.RPad, "repeat": vector.Repeat, "insert": vector.Insert, "ascii": vector.Ascii,
	"ord":         vector.Ord,
	"microsecond": vector.Microsecond, "dayofweek": vector.DayOfWeek, "weekday": vector.Weekday, "dayofyear": vector.DayOfYear, "weekofyear": vector.WeekOfYear, "week": vector.Week,
	"yearweek": vector.YearWeek, "to_days": vector.ToDays, "last_day": vector.LastDay, "dayname": vector.DayName, "monthname": vector.MonthName,
	"makedate": vector.MakeDate, "date_format": vector.DateFormat,
}

// scalar compiles a call of a function that has a kernel.
func (c compiler) scalar(e sql.FunctionExpression) (vector.Expr, error) {
	args := e.Children()
	switch e := e.(type) {
	case *function.Trim:
		return c.trim(e)
	case *function.LeftTrim:
		return c.kernelOf(e, vector.TrimLeading, args[0], blank)
	case *function.RightTrim:
		return c.kernelOf(e, vector.TrimTrailing, args[0], blank)
	case Shifted:
		date, n, unit, back := e.Shift()
		if f, ok := vector.Shift(unit, back, e.Overflow(c.ctx)); ok {
			return c.kernelOf(e, f, date, n)
		}
		return nil, errNotCompiled
	case *function.TimestampDiff:
		unit, ok := literalText(args[0])
		if f, known := vector.TimestampDiff(strings.TrimPrefix(strings.ToUpper(unit), "SQL_TSI_")); ok && known {
			return c.kernelOfTimes(e, f, args[1:]...)
		}
		return nil, errNotCompiled
	}
	name := strings.ToLower(e.FunctionName())
	switch name {
	case "date":
		return c.day(args[0])
	case "datediff":
		return c.kernelOfTimes(e, vector.DateDiff, args...)
	case "strcmp":
		if !c.comparedByBytes(args[0], args[1]) {
			return nil, errNotCompiled
		}
		return c.kernelOf(e, vector.Strcmp, args...)
	case "abs":
		return c.sized(e, vector.Abs, args[0])
	case "nullif":
		return c.nullIf(e)
	case "round", "truncate":
		digits, ok := RoundingDigits(c.ctx, args[1:])
		if !ok {
			return nil, errNotCompiled
		}
		return c.kernelOf(e, vector.Round(digits, name == "truncate"), args[0])
	}
	f, ok := scalarKernels[name]
	if !ok {
		return nil, errNotCompiled
	}
	return c.kernelOf(e, f, args...)
}

// Shifted is a date or time that is moved by an interval: n units, or with back as many into the past.
type Shifted interface {
	sql.FunctionExpression
	Shift() (date, n sql.Expression, unit string, back bool)
	// Overflow is what is said of a date or time that is out of range.
	Overflow(ctx *sql.Context) vector.Warning
}

// literalText is the text of a literal.
func literalText(e sql.Expression) (string, bool) {
	literal, ok := e.(*expression.Literal)
	if !ok {
		return "", false
	}
	text, ok := literal.Value().(string)
	return text, ok
}

// blank is what TRIM takes away when nothing is said.
var blank = expression.NewLiteral(" ", mysqltype.Text)

// trim is TRIM. The text alone tells of GMS's which end it is about.
func (c compiler) trim(e *function.Trim) (vector.Expr, error) {
	f := vector.TrimBoth
	switch text := strings.ToLower(e.String()); {
	case strings.HasPrefix(text, "trim(leading "):
		f = vector.TrimLeading
	case strings.HasPrefix(text, "trim(trailing "):
		f = vector.TrimTrailing
	}
	return c.kernelOf(e, f, e.Children()...)
}

// kernelOf is a kernel of arguments, with the type that GMS gives e.
func (c compiler) kernelOf(e sql.Expression, f *vector.Function, args ...sql.Expression) (vector.Expr, error) {
	compiled := make([]vector.Expr, len(args))
	for i, a := range args {
		var err error
		if compiled[i], err = c.operand(a); err != nil {
			return nil, err
		}
	}
	return c.kernelWith(e, f, compiled...)
}

// kernelOfTimes is kernelOf with times as arguments, for which texts may stand.
func (c compiler) kernelOfTimes(e sql.Expression, f *vector.Function, args ...sql.Expression) (vector.Expr, error) {
	compiled := make([]vector.Expr, len(args))
	for i, a := range args {
		var err error
		if literal, ok := a.(*expression.Literal); ok {
			compiled[i], err = c.literalFor(literal, batch.Type{Kind: batch.Timestamp})
		} else {
			compiled[i], err = c.operand(a)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.kernelWith(e, f, compiled...)
}

func (c compiler) kernelWith(e sql.Expression, f *vector.Function, args ...vector.Expr) (vector.Expr, error) {
	gms := e.Type(c.ctx)
	if gms == nil || !byBytes(gms) {
		return nil, errNotCompiled
	}
	t, err := mysqltype.ToDelta(gms)
	if err != nil {
		return nil, errNotCompiled
	}
	x, err := vector.NewScalar(f, args...)
	if err != nil {
		return nil, err
	}
	return vector.NewCast(x, t)
}

// day is DATE(time).
func (c compiler) day(e sql.Expression) (vector.Expr, error) {
	x, err := c.operand(e)
	if err != nil {
		return nil, err
	}
	switch x.Type().Kind {
	case batch.Date, batch.Timestamp, batch.TimestampNTZ:
		return vector.NewCast(x, batch.Type{Kind: batch.Date})
	}
	return nil, errNotCompiled
}

// sized is -x or ABS(x). A DECIMAL x may carry more digits than its type shows, and so does the value.
func (c compiler) sized(e sql.Expression, f *vector.Function, arg sql.Expression) (vector.Expr, error) {
	x, err := c.operand(arg)
	if err != nil {
		return nil, err
	}
	if x.Type().Kind == batch.Decimal {
		return vector.NewScalar(f, x)
	}
	return c.kernelWith(e, f, x)
}

// RoundingDigits are the digits that ROUND and TRUNCATE keep behind the point, as their second argument says; false where that is no constant.
func RoundingDigits(ctx *sql.Context, args []sql.Expression) (int64, bool) {
	if len(args) == 0 {
		return 0, true
	}
	e, sign := args[0], int64(1)
	if minus, ok := e.(*expression.UnaryMinus); ok {
		e, sign = minus.Child, -1
	}
	literal, ok := e.(*expression.Literal)
	if !ok || !types.IsInteger(literal.Type(ctx)) || literal.Value() == nil {
		return 0, false
	}
	n, _, err := types.Int64.Convert(ctx, literal.Value())
	if err != nil {
		return 0, false
	}
	return sign * n.(int64), true
}

// nullIf is NULLIF, whose arguments are the comparison and the value: NULL where the operands are equal.
func (c compiler) nullIf(e sql.Expression) (vector.Expr, error) {
	equal, err := c.boolean(e.Children()[0])
	if err != nil {
		return nil, err
	}
	x, err := c.operand(e.Children()[1])
	if err != nil {
		return nil, err
	}
	if t, err := mysqltype.ToDelta(e.Type(c.ctx)); err != nil || t != x.Type() {
		return nil, errNotCompiled
	}
	return vector.NewCase([]vector.Expr{equal}, []vector.Expr{vector.NewNull(x.Type())}, x)
}

// converted is CAST of numbers, and of dates to times and back, where no value can fail to have the type. A text would be cut to its length, and a time
// rounded to its digits, and no batch has an unsigned BIGINT.
func (c compiler) converted(e *expression.Convert) (vector.Expr, error) {
	t, err := mysqltype.ToDelta(e.Type(c.ctx))
	if err != nil || types.IsUnsigned(e.Type(c.ctx)) {
		return nil, errNotCompiled
	}
	x, err := c.operand(e.Child)
	if err != nil {
		return nil, err
	}
	from := family(x.Type().Kind)
	isTime := from == batch.Timestamp || from == batch.TimestampNTZ
	switch {
	case from == batch.Int64 && (t.Kind == batch.Decimal || t.Kind == batch.Int64 || t.Kind == batch.Float64):
	case from == batch.Date && (t.Kind == batch.Date || t.Kind == batch.Timestamp), isTime && t.Kind == batch.Date:
	default:
		return nil, errNotCompiled
	}
	return vector.NewCast(x, t)
}

// dateText is the text of a date, or of a time with six digits behind the point.
func (c compiler) dateText(e *DateText) (vector.Expr, error) {
	if e.json {
		return nil, errNotCompiled
	}
	x, err := c.compile(e.Child)
	if err != nil {
		return nil, err
	}
	t := writtenType(c.ctx, e.Child)
	if dt, ok := t.(sql.DatetimeType); x.Type().Kind != batch.Date && (!ok || dt.Precision() != 6) {
		return nil, errNotCompiled
	}
	return vector.NewCast(x, batch.Type{Kind: batch.String})
}
