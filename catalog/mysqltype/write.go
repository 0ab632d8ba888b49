package mysqltype

import (
	"context"
	"fmt"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
)

// AppendRow appends a row of MySQL values to a batch. A value that is not yet of the column's Go type is converted as MySQL would. On an
// error the row is not added.
func AppendRow(ctx *sql.Context, to *batch.Builder, row sql.Row) error {
	fields := to.Schema().Fields
	if len(row) != len(fields) {
		return fmt.Errorf("row of %d values for the %d columns (%s)", len(row), len(fields), to.Schema())
	}
	values := make([]any, len(row))
	for i, v := range row {
		var err error
		if values[i], err = ToBatch(ctx, fields[i], v); err != nil {
			return fmt.Errorf("column %s: %w", fields[i].Name, err)
		}
	}
	return to.AppendRow(values...)
}

// ToBatch turns a MySQL value into the Go type that batch.Vector.AppendValue takes for column f. A nested column and a variant take what
// MySQL's JSON columns do: a document, a text that is JSON, or a scalar.
func ToBatch(ctx *sql.Context, f batch.Field, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil || v == nil {
		return nil, err
	}
	if isJSON(f) {
		return fromDocument(ctx, f, v)
	}
	if IsZeroDate(v) && (f.Type.Kind == batch.Date || f.Type.Kind == batch.Timestamp || f.Type.Kind == batch.TimestampNTZ) {
		return nil, &DateError{Type: Of(f.Type), Value: v}
	}
	t := f.Type
	if t.Kind == batch.Void {
		return nil, fmt.Errorf("a column of type void holds only NULL; found %T", v)
	}
	if out, ok := Direct(t, v); ok {
		return out, nil
	}
	convert := Of(t).Convert
	if decimal, ok := Of(t).(sql.DecimalType); ok {
		convert = func(context.Context, any) (any, sql.ConvertInRange, error) {
			n, err := IntoDecimal(ctx, decimal, v)
			return n, sql.InRange, err
		}
	}
	converted, inRange, err := convert(ctx, v)
	if err != nil {
		return nil, err
	}
	if inRange != sql.InRange {
		return nil, sql.ErrValueOutOfRange.New(v, Of(t))
	}
	if IsZeroDate(converted) {
		return nil, &DateError{Type: Of(t), Value: v}
	}
	if out, ok := Direct(t, converted); ok {
		return out, nil
	}
	return toDecimal(t, converted)
}

// fromDocument is a value for a column of documents.
func fromDocument(ctx *sql.Context, f batch.Field, v any) (any, error) {
	if d, ok := v.(*Document); ok && d.variant != nil && f.Type.Kind == batch.Variant {
		return []any{d.metadata, d.variant}, nil
	}
	text, err := jsonText(ctx, v)
	if err != nil || f.Type.Kind != batch.String {
		return batch.JSON(text), err
	}
	d, err := ParseDocument(text)
	if err != nil {
		return nil, err
	}
	return d.String(), nil
}

// Direct is ToBatch of the Go types that GMS's own types hold, without a look at the value; false for the others.
func Direct(t batch.Type, v any) (any, bool) {
	switch t.Kind {
	case batch.Bool:
		switch v := v.(type) {
		case bool:
			return v, true
		case int8:
			return v != 0, true
		}
	case batch.Date:
		if v, ok := v.(time.Time); ok {
			return int32(floorDays(v)), true
		}
	case batch.Timestamp, batch.TimestampNTZ:
		if v, ok := v.(time.Time); ok {
			return v.UnixMicro(), true
		}
	case batch.Int8:
		_, ok := v.(int8)
		return v, ok
	case batch.Int16:
		_, ok := v.(int16)
		return v, ok
	case batch.Int32:
		_, ok := v.(int32)
		return v, ok
	case batch.Int64:
		_, ok := v.(int64)
		return v, ok
	case batch.Float32:
		_, ok := v.(float32)
		return v, ok
	case batch.Float64:
		_, ok := v.(float64)
		return v, ok
	case batch.String:
		_, ok := v.(string)
		return v, ok
	case batch.Binary:
		_, ok := v.([]byte)
		return v, ok
	}
	return nil, false
}

func floorDays(t time.Time) int64 {
	const day = 24 * 60 * 60
	seconds := t.Unix()
	if seconds < 0 {
		return -((-seconds + day - 1) / day)
	}
	return seconds / day
}

// toDecimal rounds to the column's scale, as MySQL does.
func toDecimal(t batch.Type, v any) (any, error) {
	d, ok := v.(*apd.Decimal)
	if !ok || t.Kind != batch.Decimal {
		return nil, fmt.Errorf("value of type %T does not fit %s", v, t)
	}
	return batch.ParseDecimalRounded([]byte(d.Text('f')), t.Precision, t.Scale)
}
