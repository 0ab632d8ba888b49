package catalog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// newSparkCast is CAST(value AS type) with Spark's values: a text that is none of the type is NULL.
func newSparkCast(ctx *sql.Context, args []sql.Expression) (scalarBody, error) {
	name, ok := args[1].(*expression.Literal)
	if !ok {
		return scalarBody{}, refuse(KindInvalid, "CAST wants the name of a type")
	}
	to, err := batch.ParseType(fmt.Sprint(name.Value()))
	if err != nil {
		return scalarBody{}, err
	}
	boolean := types.IsBoolean(args[0].Type(ctx))
	date := args[0].Type(ctx).Type() == sqltypes.Date
	return scalarBody{typ: mysqltype.Of(to), cast: to, eval: func(ctx *sql.Context, args []any) (any, error) {
		v := args[0]
		switch n, isInt := v.(int8); {
		case boolean && isInt:
			v = n != 0
		case date:
			if t, isTime := v.(time.Time); isTime {
				v = dateValue(t)
			}
		}
		out, err := sparkCast(ctx, v, to)
		if errors.Is(err, errNoValue) {
			return nil, nil
		}
		return out, err
	}}, nil
}

// dateValue is a time that is a date.
type dateValue time.Time

// errNoValue says that a text is no value of the type.
var errNoValue = errors.New("no value of the type")

// sparkCast is a value as rows have it, but for bool and dateValue.
func sparkCast(ctx *sql.Context, v any, to batch.Type) (any, error) {
	switch to.Kind {
	case batch.String:
		return sparkText(ctx, v)
	case batch.Binary:
		text, err := sparkText(ctx, v)
		return []byte(text), err
	case batch.Bool:
		return castToBool(ctx, v)
	case batch.Date:
		t, err := castToTime(v)
		return midnight(t), err
	case batch.Timestamp, batch.TimestampNTZ:
		return castToTime(v)
	case batch.Float32, batch.Float64, batch.Decimal, batch.Int8, batch.Int16, batch.Int32, batch.Int64:
		return castToNumber(ctx, v, to)
	}
	return nil, refuse(KindUnsupported, "CAST to %s is not supported in the metadata of a table", to)
}

func castToBool(ctx *sql.Context, v any) (any, error) {
	switch v := v.(type) {
	case bool:
		return boolean(v), nil
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "t", "true", "y", "yes", "1":
			return int8(1), nil
		case "f", "false", "n", "no", "0":
			return int8(0), nil
		}
		return nil, errNoValue
	}
	n, err := castToNumber(ctx, v, batch.Type{Kind: batch.Float64})
	if err != nil {
		return nil, err
	}
	return boolean(n.(float64) != 0), nil
}

func castToTime(v any) (time.Time, error) {
	switch v := v.(type) {
	case dateValue:
		return time.Time(v), nil
	case int8, int16, int32, int64:
		seconds, err := strconv.ParseInt(fmt.Sprint(v), 10, 64)
		return time.Unix(seconds, 0).UTC(), err
	}
	t, ok := sparkTime(v)
	if !ok {
		return t, errNoValue
	}
	return t, nil
}

// castToNumber reads a number off any value, then fits it into the type: to whole numbers it is cut, to decimals rounded.
func castToNumber(ctx *sql.Context, v any, to batch.Type) (any, error) {
	switch of := v.(type) {
	case bool:
		v = int64(boolean(of))
	case time.Time:
		v = apd.New(of.UnixMicro(), -6)
	case dateValue:
		return nil, errNoValue
	case string:
		of = strings.TrimSpace(of)
		if f, ok := specialFloats[strings.ToLower(of)]; ok && (to.Kind == batch.Float32 || to.Kind == batch.Float64) {
			v = f
			break
		}
		d, _, err := apd.NewFromString(of)
		if err != nil || d.Form != apd.Finite || of == "" {
			return nil, errNoValue
		}
		v = d
	}
	switch f, isFloat := v.(float64); {
	case to.Kind == batch.Float64 || to.Kind == batch.Float32:
		out, _, err := mysqltype.Of(to).Convert(ctx, v)
		return out, err
	case isFloat && (math.IsNaN(f) || math.IsInf(f, 0)):
		return nil, errNoValue
	}
	exact, _, err := types.InternalDecimalType.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	d := new(apd.Decimal)
	if to.Kind == batch.Decimal {
		if _, err := exactContext.Quantize(d, exact.(*apd.Decimal), -int32(to.Scale)); err != nil {
			return nil, err
		}
		if d.NumDigits() > int64(to.Precision) {
			return nil, errNoValue
		}
		return d, nil
	}
	return wholeNumber(ctx, exact.(*apd.Decimal), to)
}

// specialFloats are the texts of doubles that are no numbers.
var specialFloats = map[string]float64{
	"nan": math.NaN(), "infinity": math.Inf(1), "+infinity": math.Inf(1), "-infinity": math.Inf(-1), "inf": math.Inf(1), "+inf": math.Inf(1), "-inf": math.Inf(-1),
}

// cutContext cuts digits off.
var cutContext = func() *apd.Context {
	c := *exactContext
	c.Rounding = apd.RoundDown
	return &c
}()

func wholeNumber(ctx *sql.Context, d *apd.Decimal, to batch.Type) (any, error) {
	whole := new(apd.Decimal)
	if _, err := cutContext.Quantize(whole, d, 0); err != nil {
		return nil, err
	}
	n, err := whole.Int64()
	if err != nil {
		return nil, errNoValue
	}
	out, inRange, err := mysqltype.Of(to).Convert(ctx, n)
	if err == nil && inRange != sql.InRange {
		return nil, errNoValue
	}
	return out, err
}

// sparkText is a value as Spark writes it.
func sparkText(ctx *sql.Context, v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case bool:
		return strconv.FormatBool(v), nil
	case dateValue:
		return string(batch.AppendDate(nil, int32(time.Time(v).Unix()/86400))), nil
	case time.Time:
		text := string(batch.AppendTimestamp(nil, v.UnixMicro()))
		if strings.Contains(text, ".") {
			text = strings.TrimRight(text, "0")
		}
		return text, nil
	case float32:
		return javaFloat(float64(v), 32), nil
	case float64:
		return javaFloat(v, 64), nil
	case *apd.Decimal:
		return v.Text('f'), nil
	}
	out, _, err := mysqltype.Text.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	return out.(string), nil
}

// javaFloat writes a double as Java does: 1.0, 1.0E10, NaN.
func javaFloat(f float64, bits int) string {
	switch abs := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case abs == 0 || abs >= 1e-3 && abs < 1e7:
		text := strconv.FormatFloat(f, 'f', -1, bits)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, bits), "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	return mantissa + "E" + sign + strings.TrimLeft(exponent, "+-0")
}
