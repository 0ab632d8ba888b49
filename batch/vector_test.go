package batch

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// everyType has a type of each kind and layout.
var everyType = []Type{
	{Kind: Bool}, {Kind: Int8}, {Kind: Int16}, {Kind: Int32}, {Kind: Int64}, {Kind: Float32}, {Kind: Float64},
	DecimalOf(9, 2), DecimalOf(38, 10), {Kind: Date}, {Kind: Timestamp}, {Kind: TimestampNTZ}, {Kind: String}, {Kind: Binary},
	{Kind: Void}, {Kind: Variant}, StructOf(), deepType,
	StructOf(Field{Name: "a", Type: Type{Kind: Int32}, Nullable: true}, Field{Name: "b c", Type: Type{Kind: String}}),
	ListOf(Field{Type: Type{Kind: Int64}, Nullable: true}), ListOf(Field{Type: Type{Kind: Void}, Nullable: true}),
	MapOf(Field{Type: Type{Kind: String}}, Field{Type: DecimalOf(20, 3), Nullable: true}),
}

// deepType has every nested kind within another.
var deepType = ListOf(Field{Nullable: true, Type: StructOf(
	Field{Name: "m", Nullable: true, Type: MapOf(Field{Type: Type{Kind: Int16}}, Field{Nullable: true, Type: ListOf(Field{Type: Type{Kind: String}, Nullable: true})})},
	Field{Name: "s", Nullable: true, Type: StructOf(Field{Name: "x", Type: Type{Kind: Bool}, Nullable: true}, Field{Name: "v", Type: Type{Kind: Variant}, Nullable: true})},
	Field{Name: "d", Nullable: true, Type: Type{Kind: Date}},
)})

// drawValue draws a value as Vector.Value returns them, often null.
func drawValue(t *rapid.T, typ Type) any {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return nil
	}
	var row []any
	switch fields := typ.Fields(); typ.Kind {
	case Void:
		return nil
	case Variant:
		v := NewVector(typ, 1)
		require.NoError(t, v.AppendFromJSON([]byte(fmt.Sprintf(`{"n":%d,"%[1]d":[true]}`, rapid.IntRange(-300, 300).Draw(t, "variant")))))
		return v.Value(0)
	case Struct:
		row = make([]any, 0, len(fields))
		for _, f := range fields {
			row = append(row, drawValue(t, f.Type))
		}
		return row
	case List:
		row = []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			row = append(row, drawValue(t, fields[0].Type))
		}
		return row
	case Map:
		entries, seen := []Entry{}, map[any]bool{nil: true}
		for range rapid.IntRange(0, 3).Draw(t, "entries") {
			if key := drawValue(t, fields[0].Type); !seen[key] {
				seen[key] = true
				entries = append(entries, Entry{key, drawValue(t, fields[1].Type)})
			}
		}
		return entries
	}
	n := rapid.Int64Range(-1000, 1000).Draw(t, "value")
	switch typ.Kind {
	case Bool:
		return n%2 == 0
	case Int8:
		return int8(n)
	case Int16:
		return int16(n)
	case Int32, Date:
		return int32(n)
	case Int64, Timestamp, TimestampNTZ:
		return n
	case Float32:
		return float32(n) / 2
	case Float64:
		return float64(n) / 2
	case Decimal:
		return decimal128.FromI64(n)
	case Binary:
		return []byte(fmt.Sprint(n))
	}
	return fmt.Sprint(n)
}

func values(v *Vector) []any {
	out := make([]any, v.Len)
	for i := range out {
		out[i] = v.Value(i)
	}
	return out
}

// diffValues compares what Vector.Value returned.
func diffValues(want, got []any) string {
	return cmp.Diff(want, got, cmpopts.EquateComparable(decimal128.Num{}))
}

// encode gives a vector of the same values with a dictionary.
func encode(t require.TestingT, v *Vector) *Vector {
	if len(v.Children) > 0 { // nested vectors are plain, what lies in them may be encoded
		out := v.Slice(0, v.Len)
		for i, child := range v.Children {
			if out.Off != nil {
				child = child.Slice(0, int(v.Off[v.Len]))
			}
			out.Children[i] = encode(t, child)
		}
		return out
	}
	if v.Type.Layout() == LayoutStruct || v.Type.Layout() == LayoutVoid {
		return v
	}
	out := &Vector{Type: v.Type, Dict: NewVector(v.Type, 0)}
	require.NoError(t, out.Dict.AppendValue(zeroOf(v)))
	for i := range v.Len {
		if v.IsNull(i) {
			out.AppendNull()
			continue
		}
		out.Dict.AppendFrom(v, i)
		out.Codes = append(out.Codes, uint32(out.Dict.Len-1))
		out.grew()
	}
	return out
}

// zeroOf returns the type's zero, read where AppendNull left it.
func zeroOf(v *Vector) any {
	z := NewNulls(v.Type, 1)
	z.Valid = nil
	return z.Value(0)
}

// The model is a []any beside each vector.
func TestVectorAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(everyType).Draw(t, "type")
		v, model := NewVector(typ, 0), []any{}
		src, srcModel := NewVector(typ, 0), []any{}
		most := 150 // rows, so that there are several words of validity
		if len(typ.Fields()) > 0 {
			most = 20
		}
		for range rapid.IntRange(0, most).Draw(t, "rows") {
			x := drawValue(t, typ)
			require.NoError(t, src.AppendValue(x))
			srcModel = append(srcModel, x)
		}
		sources := []*Vector{src, encode(t, src)}
		check := func(got *Vector, want []any) {
			if diff := diffValues(want, values(got)); diff != "" {
				t.Fatalf("%s: %s", typ, diff)
			}
			nulls := 0
			for _, x := range want {
				if x == nil {
					nulls++
				}
			}
			require.Equal(t, nulls, got.NullCount())
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) { check(v, model) },
			"value": func(t *rapid.T) {
				x := drawValue(t, typ)
				require.NoError(t, v.AppendValue(x))
				model = append(model, x)
			},
			"nulls": func(t *rapid.T) {
				n := rapid.IntRange(0, 70).Draw(t, "n")
				v.AppendNulls(n)
				model = append(model, make([]any, n)...)
			},
			"from": func(t *rapid.T) {
				if len(srcModel) == 0 {
					return
				}
				row := rapid.IntRange(0, len(srcModel)-1).Draw(t, "row")
				v.AppendFrom(rapid.SampledFrom(sources).Draw(t, "source"), row)
				model = append(model, srcModel[row])
			},
			"all": func(t *rapid.T) {
				v.AppendRows(rapid.SampledFrom(sources).Draw(t, "source"), nil)
				model = append(model, srcModel...)
			},
			"rows": func(t *rapid.T) {
				if len(srcModel) == 0 {
					return
				}
				rows := rapid.SliceOfN(rapid.Int32Range(0, int32(len(srcModel)-1)), 1, 80).Draw(t, "rows")
				v.AppendRows(rapid.SampledFrom(sources).Draw(t, "source"), rows)
				for _, r := range rows {
					model = append(model, srcModel[r])
				}
			},
			"slice": func(t *rapid.T) {
				lo := rapid.IntRange(0, v.Len).Draw(t, "lo")
				hi := rapid.IntRange(lo, v.Len).Draw(t, "hi")
				s := v.Slice(lo, hi)
				check(s, model[lo:hi])
				check(s.Decode(), model[lo:hi])
				check(s.Clone(), model[lo:hi])
				if hi > lo {
					check(s.Gather([]int32{0, int32(hi - lo - 1)}), []any{model[lo], model[hi-1]})
				}
				again := NewVector(typ, 0)
				again.AppendRows(s, nil)
				again.AppendRows(s, nil)
				check(again, append(append([]any{}, model[lo:hi]...), model[lo:hi]...))
			},
			"reset": func(t *rapid.T) {
				v.Reset()
				model = model[:0]
			},
		})
	})
}

func TestBitmapAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.SliceOfN(rapid.Bool(), 0, 300).Draw(t, "bits")
		b := make(Bitmap, 0).Grow(len(bits))
		for i, x := range bits {
			if x {
				b.Set(i)
			}
		}
		lo := rapid.IntRange(0, len(bits)).Draw(t, "lo")
		hi := rapid.IntRange(lo, len(bits)).Draw(t, "hi")
		s := b.slice(lo, hi)
		count := 0
		for i, x := range bits[lo:hi] {
			require.Equal(t, x, s.Get(i))
			if x {
				count++
			}
		}
		require.Equal(t, count, s.Count(hi-lo))
		b.SetRange(lo, hi)
		for i := range bits {
			require.Equal(t, bits[i] || i >= lo && i < hi, b.Get(i))
			b.Clear(i)
			require.False(t, b.Get(i))
		}
	})
}

func TestAppendKeepsTheSharedDictionary(t *testing.T) {
	plain := NewVector(Type{Kind: String}, 0)
	plain.AppendString("a")
	plain.AppendNull()
	coded := encode(t, plain)
	v := NewVector(plain.Type, 0)
	v.AppendRows(coded, nil)
	v.AppendRows(coded, []int32{1, 0})
	require.Same(t, coded.Dict, v.Dict)
	require.Equal(t, []any{"a", nil, nil, "a"}, values(v))
	v.AppendRows(plain, nil)
	require.Nil(t, v.Dict)
	require.Equal(t, []any{"a", nil, nil, "a", "a", nil}, values(v))
}

func TestAppendValueRefusesOtherTypes(t *testing.T) {
	v := NewVector(DecimalOf(3, 1), 0)
	require.ErrorIs(t, v.AppendValue(decimal128.FromI64(1000)), ErrOutOfRange)
	require.ErrorContains(t, v.AppendValue(int64(5)), "append int64 to a vector of decimal(3,1)")
	require.ErrorContains(t, NewVector(Type{Kind: String}, 0).AppendValue([]byte("x")), "append []uint8")
	require.Panics(t, func() { NewVector(Type{}, 0) })
}

// TestNullsOfAnEmptyDictionary: a dictionary vector may have nothing but nulls, and then no values.
func TestNullsOfAnEmptyDictionary(t *testing.T) {
	typ := Type{Kind: String}
	v := &Vector{Type: typ, Dict: NewVector(typ, 0)}
	v.AppendNulls(3)
	require.Equal(t, 3, v.Decode().NullCount())
	out := NewVector(typ, 0)
	out.AppendString("x")
	out.AppendRows(v, []int32{2, 0})
	require.Equal(t, 3, out.Len)
	require.Equal(t, 2, out.NullCount())
}
