package resultmeta

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// selected is the column of an expression in a list; one that is a table's own is not Known.
func (d *derivation) selected(e sql.Expression) Column {
	if alias, ok := e.(*expression.Alias); ok {
		return d.selected(alias.Child)
	}
	if f, ok := e.(*expression.GetField); ok {
		return d.columns[f.Id()]
	}
	if !e.Resolved() {
		return Column{}
	}
	return d.expression(e)
}

// expression is the column of an expression.
func (d *derivation) expression(e sql.Expression) Column {
	switch e := e.(type) {
	case *expression.Alias:
		return d.expression(e.Child)
	case *expression.GetField:
		if c, ok := d.columns[e.Id()]; ok {
			return c
		}
		return ofType(e.Type(d.ctx), e.Database() != "" && !e.IsNullable(d.ctx))
	case *expression.Literal:
		return literal(d.ctx, e)
	case *expression.Arithmetic:
		return d.arithmetic(e.Op, e)
	case *expression.Div:
		return d.arithmetic("/", e)
	case *expression.IntDiv:
		return d.arithmetic("div", e)
	case *expression.Mod:
		return d.arithmetic("%", e)
	case *expression.UnaryMinus:
		return d.minus(e)
	case *expression.BitOp:
		return unsigned(integerLength, eachNotNull(d.operands(e)))
	case *expression.IsNull, *expression.IsTrue, *expression.NullSafeEquals, *plan.ExistsSubquery:
		return truth(true)
	case *plan.InSubquery:
		return truth(false)
	case *expression.InTuple, *expression.HashInTuple, *expression.Between, *expression.Like, *expression.Not, *expression.And, *expression.Or, *expression.Xor,
		*expression.Equals, *expression.GreaterThan, *expression.LessThan, *expression.GreaterThanOrEqual, *expression.LessThanOrEqual:
		return truth(eachNotNull(d.operands(e)))
	case *expression.Case:
		return d.choice(e)
	case *expression.Convert:
		return d.cast(e)
	case *expression.ConvertUsing:
		return d.expression(e.Child).asText().nullable()
	case *expression.Binary:
		return d.bytes(e.Child)
	case *expression.CollatedExpression:
		c := d.expression(e.Children()[0]).asText().nullable()
		with, _ := e.CollationCoercibility(d.ctx)
		c.Bytewise = strings.HasSuffix(with.Name(), "_bin")
		return c
	case *plan.Subquery:
		of := d.node(e.Query)
		if len(of) == 1 && of[0].Known {
			return of[0].item().nullable()
		}
		return ofType(e.Type(d.ctx), false).item()
	case sql.FunctionExpression:
		return d.call(e)
	case Conversion:
		return d.expression(e.Written())
	case interface{ Unwrap() sql.Expression }:
		return d.expression(e.Unwrap())
	}
	return Column{}
}

// Conversion is what a function is given in place of an argument: the columns of functions are those of what is written.
type Conversion interface{ Written() sql.Expression }

// written is an argument as it is written in the statement.
func written(e sql.Expression) sql.Expression {
	if c, ok := e.(Conversion); ok {
		return c.Written()
	}
	return e
}

// operands are the columns of what an expression is made of; a list's are its members'.
func (d *derivation) operands(e sql.Expression) (columns []Column) {
	for _, child := range e.Children() {
		if list, ok := child.(expression.Tuple); ok {
			columns = append(columns, d.operands(list)...)
			continue
		}
		columns = append(columns, d.expression(child))
	}
	return columns
}

func (d *derivation) arithmetic(op string, e sql.Expression) Column {
	of := d.operands(e)
	if len(of) != 2 || !of[0].Known || !of[1].Known {
		return Column{}
	}
	for _, child := range e.Children() {
		if _, ok := child.(*expression.Interval); ok {
			return Column{}
		}
	}
	return arithmetic(op, of[0], of[1])
}

func (d *derivation) minus(e *expression.UnaryMinus) Column {
	of := d.expression(e.Child)
	if !of.Known {
		return of
	}
	return negative(of)
}

// choice is the column of CASE.
func (d *derivation) choice(e *expression.Case) Column {
	var of []Column
	for _, b := range e.Branches {
		of = append(of, d.expression(b.Value))
	}
	if e.Else == nil {
		return merge(of...)
	}
	of = append(of, d.expression(e.Else))
	return merge(of...).notNull(eachNotNull(of))
}

func literal(ctx *sql.Context, e *expression.Literal) Column {
	value := e.Value()
	switch t := e.Type(ctx); {
	case value == nil:
		return Column{Known: true, Type: sqltypes.Null}
	case types.IsBoolean(t):
		return integer(1, true)
	case types.IsInteger(t):
		if _, ok := value.(bool); ok {
			return integer(1, true)
		}
		digits := fmt.Sprint(value)
		if _, err := strconv.ParseInt(digits, 10, 64); err != nil {
			return unsigned(uint64(len(digits)), true)
		}
		return integer(uint64(len(strings.TrimPrefix(digits, "-")))+1, true)
	case types.IsDecimal(t):
		d := t.(sql.DecimalType)
		return decimal(uint64(d.Precision()), uint64(d.Scale()), true)
	case types.IsFloat(t):
		return double(true)
	case types.IsTextOnly(t):
		s, ok := value.(string)
		if !ok {
			return Column{}
		}
		return text(uint64(utf8.RuneCountInString(s)), true)
	case types.IsBinaryType(t):
		b, ok := value.([]byte)
		if s, isText := value.(string); isText {
			b, ok = []byte(s), true
		}
		if !ok {
			return Column{}
		}
		c := binary(uint64(len(b)), true)
		c.Decimals = 0
		return c
	case types.IsDateType(t), types.IsDatetimeType(t), types.IsTimestampType(t), types.IsTimespan(t):
		return ofType(t, true)
	}
	return Column{}
}

// castForm reads the type of a CAST, which GMS tells in its text alone.
var castForm = regexp.MustCompile(`(?s), (\w+)(?:\((\d+)(?:,(\d+))?\))?\)$`)

// castDigits are the digits of a CAST to a DECIMAL that names none.
const castDigits = 10

// cast is the column of CAST.
func (d *derivation) cast(e *expression.Convert) Column {
	of := d.expression(e.Child)
	form := castForm.FindStringSubmatch(e.String())
	if !of.Known || form == nil {
		return Column{}
	}
	size, err := strconv.ParseUint(form[2], 10, 32)
	sized := err == nil
	switch form[1] {
	case expression.ConvertToSigned:
		return integer(integerLength, of.NotNull)
	case expression.ConvertToUnsigned:
		return unsigned(integerLength, of.NotNull)
	case expression.ConvertToDouble, expression.ConvertToReal:
		return double(of.NotNull)
	case expression.ConvertToFloat:
		c := double(of.NotNull)
		c.Type = sqltypes.Float32
		return c
	case expression.ConvertToDecimal:
		if !sized {
			size = castDigits
		}
		scale, err := strconv.ParseUint(form[3], 10, 32)
		if err != nil {
			scale = 0
		}
		return decimal(size, scale, of.NotNull)
	case expression.ConvertToChar, expression.ConvertToNChar:
		if sized {
			return text(size, false)
		}
		c := of.asText().nullable()
		if c.isBytes() || c.Bytewise {
			c = text(c.Length, false)
		}
		return c
	case expression.ConvertToBinary:
		if sized {
			return binary(size, false)
		}
		return d.bytes(e.Child)
	case expression.ConvertToDate:
		return date()
	case expression.ConvertToDatetime:
		return datetime(uint32(size))
	case expression.ConvertToTime:
		return timeOfDay(uint32(size))
	case expression.ConvertToYear:
		return Column{Known: true, Type: sqltypes.Year, Length: 4}
	case expression.ConvertToJSON:
		return document()
	}
	return Column{}
}

// bytes is the column of BINARY.
func (d *derivation) bytes(e sql.Expression) Column {
	of := d.expression(e)
	if !of.Known {
		return of
	}
	if (of.isText() && !of.isBytes()) || of.Type == sqltypes.TypeJSON {
		return binary(of.Length*characterBytes, false)
	}
	return binary(of.Length, false)
}
