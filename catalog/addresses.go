package catalog

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// unhexed is UNHEX(text), NULL with MySQL's warning of what are no hexadecimal digits. GMS's does not warn.
var unhexed = ofWritten("unhex", types.LongBlob, "string", func(ctx *sql.Context, v any) (any, bool, error) {
	text, err := asText(ctx, v)
	if err != nil {
		return nil, false, err
	}
	if len(text)%2 != 0 {
		text = "0" + text
	}
	out, err := hex.DecodeString(text)
	return out, err == nil, nil
})

// addressNumber is INET_ATON(text): a.b.c.d, or fewer parts of which the last one has the bytes that are left. GMS's takes four parts only.
var addressNumber = ofWritten("inet_aton", types.Uint32, "string", func(ctx *sql.Context, v any) (any, bool, error) {
	text, err := asText(ctx, v)
	if err != nil {
		return nil, false, err
	}
	parts := strings.Split(text, ".")
	n, last := int64(0), len(parts)-1
	if last > 3 {
		return nil, false, nil
	}
	for i, part := range parts {
		b := uint64(0)
		if part != "" || i == last {
			if b, err = strconv.ParseUint(part, 10, 8); err != nil {
				return nil, false, nil
			}
		}
		if n = n<<8 + int64(b); i == last-1 && last < 3 {
			n <<= 8 * (3 - last)
		}
	}
	return uint32(n), true, nil
})

// addressText is INET_NTOA(number). GMS's has no addresses from 128.0.0.0 on, and takes negative numbers for some.
var addressText = ofWritten("inet_ntoa", types.LongText, "integer", func(ctx *sql.Context, v any) (any, bool, error) {
	bits, err := asBits(ctx, v)
	if err != nil || bits > math.MaxUint32 {
		return nil, false, err
	}
	return fmt.Sprintf("%d.%d.%d.%d", bits>>24, bits>>16&255, bits>>8&255, bits&255), true, nil
})

// ofWritten is a function that has no value for some arguments, which a warning shows as they are written.
func ofWritten(name string, t sql.Type, kind string, eval func(*sql.Context, any) (any, bool, error)) sql.Function {
	return scalarFunction(name, 1, 1, func(_ *sql.Context, args []sql.Expression) (scalarBody, error) {
		return scalarBody{typ: t, eval: func(ctx *sql.Context, values []any) (any, error) {
			out, ok, err := eval(ctx, values[0])
			if err != nil || ok {
				return out, err
			}
			ctx.Warn(wrongArgument, "Incorrect %s value: '%s' for function %s", kind, sqlText(args[0]), name)
			return nil, nil
		}}, nil
	})
}
