package parquet

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// TestDictionaryNumbersEachValueOnce: the codes stand for the values, and no value has two, whatever was met of late.
func TestDictionaryNumbersEachValueOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		typ := rapid.SampledFrom([]batch.Kind{batch.String, batch.Int32, batch.Int64}).Draw(rt, "type")
		v := batch.NewVector(batch.Type{Kind: typ}, 0)
		distinct := rapid.IntRange(1, 2000).Draw(rt, "distinct")
		length := rapid.IntRange(0, 20).Draw(rt, "length")
		n := rapid.IntRange(1, 3000).Draw(rt, "rows")
		rows := make([]int32, n)
		for i := range n {
			x := (i*7919 + i*i) % distinct
			rows[i] = int32(i)
			switch typ {
			case batch.String:
				text := fmt.Sprintf("%d%0*d", x%10, length, x)
				v.AppendBytes([]byte(text[:min(len(text), x%24)]))
			case batch.Int32:
				v.AppendInt32(int32(x - distinct/2))
			default:
				v.AppendInt64(int64(x-distinct/2) << 33)
			}
		}
		d := newDictionary(v.Type)
		half := rapid.IntRange(0, n).Draw(rt, "at once")
		codes := d.appendCodes(nil, v, rows[:half])
		codes = d.appendCodes(codes, v, rows[half:])
		require.Len(rt, codes, n)
		seen := map[string]int32{}
		value := func(v *batch.Vector, row int) string {
			switch typ {
			case batch.String:
				return string(v.BytesAt(row))
			case batch.Int32:
				return fmt.Sprint(v.I32[row])
			}
			return fmt.Sprint(v.I64[row])
		}
		for i, code := range codes {
			x := value(v, i)
			require.Equal(rt, x, value(d.values, int(code)))
			if before, ok := seen[x]; ok {
				require.Equal(rt, before, code)
			}
			seen[x] = code
		}
		require.Len(rt, seen, d.values.Len)
	})
}
