package mysqltype

import (
	"math"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/vector"
)

// Literal is a constant as a vector expression of its own type; false when there is none for it.
func Literal(v any, t sql.Type) (vector.Expr, bool) {
	switch v := v.(type) {
	case bool:
		return vector.NewBool(v), true
	case int8:
		if types.IsBoolean(t) {
			return vector.NewBool(v != 0), v == 0 || v == 1
		}
		return vector.NewInt(int64(v)), true
	case int16:
		return vector.NewInt(int64(v)), true
	case int32:
		return vector.NewInt(int64(v)), true
	case int64:
		return vector.NewInt(v), true
	case uint8:
		return vector.NewInt(int64(v)), true
	case uint16:
		return vector.NewInt(int64(v)), true
	case uint32:
		return vector.NewInt(int64(v)), true
	case uint64:
		if v > math.MaxInt64 {
			return nil, false
		}
		return vector.NewInt(int64(v)), true
	case float64:
		return vector.NewFloat(v), true
	case *apd.Decimal:
		return decimalLiteral(v)
	case string:
		return vector.NewString(v), true
	case time.Time:
		if t.Type() == sqltypes.Date {
			return vector.NewDate(int32(floorDays(v))), true
		}
		return vector.NewTimestamp(batch.Timestamp, v.UnixMicro()), true
	}
	return nil, false
}

// decimalLiteral has the precision and scale that the constant's digits need.
func decimalLiteral(d *apd.Decimal) (vector.Expr, bool) {
	if d.Form != apd.Finite {
		return nil, false
	}
	scale := max(-d.Exponent, 0)
	precision := max(int32(d.NumDigits())+max(d.Exponent, 0), scale, 1)
	if precision > MaxDecimalPrecision {
		return nil, false
	}
	unscaled, err := batch.ParseDecimal([]byte(d.Text('f')), uint8(precision), uint8(scale))
	if err != nil {
		return nil, false
	}
	return vector.NewDecimal(unscaled, uint8(precision), uint8(scale)), true
}

// LiteralFor is a constant as an expression that compares with a column of type t as MySQL compares them: a text next to a date or
// time is that date or time. false: leave the comparison to the rows.
func LiteralFor(ctx *sql.Context, v any, literal sql.Type, t batch.Type) (vector.Expr, bool) {
	switch t.Kind {
	case batch.Bool:
		return boolLiteral(v)
	case batch.Date, batch.Timestamp, batch.TimestampNTZ:
		at, ok := instant(ctx, v)
		if !ok {
			return nil, false
		}
		if t.Kind != batch.Date {
			return vector.NewTimestamp(t.Kind, at.UnixMicro()), true
		}
		if !at.Equal(at.Truncate(24 * time.Hour)) {
			return nil, false
		}
		return vector.NewDate(int32(floorDays(at))), true
	case batch.String:
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		return vector.NewString(s), true
	case batch.Binary, batch.Struct, batch.List, batch.Map, batch.Variant, batch.Void:
		return nil, false
	}
	if _, ok := v.(string); ok {
		return nil, false
	}
	if types.IsBoolean(literal) {
		literal = types.Int8
	}
	if b, ok := v.(bool); ok {
		if b {
			return vector.NewInt(1), true
		}
		return vector.NewInt(0), true
	}
	return Literal(v, literal)
}

// boolLiteral takes 0 and 1 for FALSE and TRUE; a BOOLEAN column compared with another number is left to the rows.
func boolLiteral(v any) (vector.Expr, bool) {
	switch v := v.(type) {
	case bool:
		return vector.NewBool(v), true
	case int8:
		return vector.NewBool(v == 1), v == 0 || v == 1
	case int64:
		return vector.NewBool(v == 1), v == 0 || v == 1
	}
	return nil, false
}

// instant is a constant as MySQL reads it next to a date or time.
func instant(ctx *sql.Context, v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		at, _, err := types.DatetimeMaxPrecision.Convert(ctx, v)
		if err != nil {
			return time.Time{}, false
		}
		t, ok := at.(time.Time)
		return t, ok && !t.Equal(types.ZeroTime)
	}
	return time.Time{}, false
}
