package mysqltype

import (
	"fmt"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
)

// WithText is a value of a type as MySQL writes it into a text, where GMS, which sees the value alone, would write another one: that of a
// DATE has no time, and that of a DATETIME(6) six digits behind the point. Every other value stays.
func WithText(v any, t sql.Type) any {
	at, ok := v.(time.Time)
	if !ok || !types.IsTime(t) {
		return v
	}
	if at.Equal(types.ZeroTime) {
		v, err := t.SQL(nil, nil, at)
		if err != nil {
			return at
		}
		return v.ToString()
	}
	if t.Type() == sqltypes.Date {
		return string(batch.AppendDate(nil, int32(floorDays(at))))
	}
	text := batch.AppendTimestamp(nil, at.UnixMicro())
	if dt, ok := t.(sql.DatetimeType); ok && dt.Precision() > 0 {
		if at.Nanosecond()/1000 == 0 {
			text = append(text, ".000000"...)
		}
		text = text[:len(text)-types.MaxDatetimePrecision+dt.Precision()]
	}
	return string(text)
}

// WrongValue is the number of MySQL's error and warning for a text that is no date.
const WrongValue = 1292

// DateError says that a value is no date that a column can hold.
type DateError struct {
	Type   sql.Type // the column's
	Value  any
	Column string // or "" for none
	Row    int64  // from 1
}

func (e *DateError) Error() string {
	name := "datetime"
	if e.Type.Type() == sqltypes.Date {
		name = "date"
	}
	text := fmt.Sprintf("Incorrect %s value: '%v'", name, shown(e.Value, e.Type))
	if e.Column == "" {
		return text
	}
	return fmt.Sprintf("%s for column '%s' at row %d", text, e.Column, e.Row)
}

func shown(v any, t sql.Type) any {
	if bytes, ok := v.([]byte); ok {
		return string(bytes)
	}
	return WithText(v, t)
}

// IsZeroDate tells whether a value is what GMS has for 0000-00-00, which is no date of the calendar: Delta has no place for it.
func IsZeroDate(v any) bool {
	at, ok := v.(time.Time)
	return ok && at.Equal(types.ZeroTime)
}
