package mysqltype

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// maxTextLength is the largest n for which VARCHAR(n) in utf8mb4 fits MySQL's limit of 65,535 bytes.
const maxTextLength = 16383

// Text is the type of every Delta string column that declares no length.
var Text sql.Type = String{types.MustCreateString(sqltypes.VarChar, maxTextLength, sql.Collation_Default).(types.StringType)}

// String is VARCHAR(16383) as clients see it: BI tools treat VARCHAR as a dimension, and TEXT as a blob. It only reports
// the length: longer values are neither cut nor refused.
type String struct{ types.StringType }

var (
	_ sql.StringType         = String{}
	_ sql.TypeWithCollation  = String{}
	_ sql.CollationCoercible = String{}
)

// Convert converts any value to a string, of any length.
func (t String) Convert(ctx context.Context, v any) (any, sql.ConvertInRange, error) {
	if v == nil {
		return nil, sql.InRange, nil
	}
	if s, ok := v.(string); ok {
		return s, sql.InRange, nil
	}
	b, err := types.ConvertToBytes(ctx, v, t, nil)
	if err != nil {
		return nil, sql.Overflow, err
	}
	return string(b), sql.InRange, nil
}

// Equals says whether the other type is this one.
func (t String) Equals(other sql.Type) bool {
	o, ok := other.(String)
	return ok && o.Collation() == t.Collation()
}

// Promote is MySQL's widest text type.
func (t String) Promote() sql.Type { return types.LongText }

// ValueType is string.
func (t String) ValueType() reflect.Type { return reflect.TypeFor[string]() }

// WithNewCollation is the type with another collation.
func (t String) WithNewCollation(collation sql.CollationID) (sql.Type, error) {
	n, err := t.StringType.WithNewCollation(collation)
	if err != nil {
		return nil, err
	}
	if st, ok := n.(types.StringType); ok {
		return String{st}, nil
	}
	return n, nil
}

// Printable is a message that is UTF-8: other bytes, of values that a message shows, are written as \xNN.
func Printable(message string) string {
	if utf8.ValidString(message) {
		return message
	}
	var b strings.Builder
	for len(message) > 0 {
		r, n := utf8.DecodeRuneInString(message)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02X`, message[0])
		} else {
			b.WriteString(message[:n])
		}
		message = message[n:]
	}
	return b.String()
}
