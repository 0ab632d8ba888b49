package batch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestNestedTypesAreComparable(t *testing.T) {
	field := Field{Name: "a", Type: ListOf(Field{Type: Type{Kind: Int32}}), Nullable: true, Metadata: map[string]string{"k": "1"}}
	one := StructOf(field)
	require.True(t, one == StructOf(field))
	require.Equal(t, "a", one.Fields()[0].Name)
	field.Metadata["k"] = "2" // the type has a copy
	require.Equal(t, "1", one.Fields()[0].Metadata["k"])
	for _, other := range []Type{
		StructOf(field), StructOf(), StructOf(field, field), ListOf(field), one.Fields()[0].Type,
		StructOf(Field{Name: "b", Type: field.Type, Nullable: true, Metadata: map[string]string{"k": "1"}}),
		StructOf(Field{Name: "a", Type: field.Type, Metadata: map[string]string{"k": "1"}}),
		StructOf(Field{Name: "a", Type: Type{Kind: Int32}, Nullable: true, Metadata: map[string]string{"k": "1"}}),
	} {
		require.False(t, one == other, other)
	}
	require.True(t, one.WithoutMetadata() == StructOf(field).WithoutMetadata())
	require.True(t, ListOf(Field{Name: "x", Type: one}) == ListOf(Field{Name: "y", Type: one}))
	require.Nil(t, Type{Kind: String}.Fields())
	require.Len(t, Type{Kind: Variant}.Fields(), 2)
}

func TestUnusedTypesAreForgotten(t *testing.T) {
	held := func() int {
		shapes.mu.Lock()
		defer shapes.mu.Unlock()
		return len(shapes.held)
	}
	before := held()
	for i := range 1000 {
		StructOf(Field{Name: fmt.Sprintf("forgotten %d", i), Type: ListOf(Field{Type: DecimalOf(38, uint8(i%38))})})
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		return held() <= before+1
	}, time.Minute, time.Millisecond)
}

func TestAlikeAndAs(t *testing.T) {
	from := StructOf(Field{Name: "A", Type: ListOf(Field{Type: Type{Kind: String}})})
	to := StructOf(Field{Name: "a", Nullable: true, Metadata: map[string]string{"id": "7"}, Type: ListOf(Field{Type: Type{Kind: String}, Nullable: true})})
	require.True(t, from.Alike(to))
	for _, other := range []string{"struct<b:array<string>>", "struct<a:array<binary>>", "struct<a:array<string>,b:int>", "array<string>", "string"} {
		typ, err := ParseType(other)
		require.NoError(t, err)
		require.False(t, from.Alike(typ), other)
	}
	require.False(t, DecimalOf(5, 1).Alike(DecimalOf(5, 2)))

	v := NewVector(from, 0)
	require.NoError(t, v.AppendFromJSON([]byte(`{"A":["x"]}`)))
	v.Children[0].Children[0] = encode(t, v.Children[0].Children[0])
	as := v.As(to)
	require.Equal(t, `{"a":["x"]}`, as.Format(0))
	require.True(t, to == as.Type && to.Fields()[0].Type == as.Children[0].Type)
	require.Equal(t, `{"A":["x"]}`, v.Format(0))
	require.Same(t, v, v.As(from))
}

func TestNestedTypeNames(t *testing.T) {
	for text, want := range map[string]string{
		"ARRAY<INT>": "array<int>", "Map< String , Array<Struct<>> >": "map<string,array<struct<>>>", "struct<a bigint, `b ``c`: decimal(5,2) NOT NULL>": "struct<a:bigint,`b ``c`:decimal(5,2) not null>",
		"STRUCT<comment: STRING COMMENT 'it''s \\'x\\'' NOT NULL, `1`: VARIANT>": "struct<comment:string not null,`1`:variant>",
		"struct<é:void>": "struct<`é`:void>",
	} {
		typ, err := ParseType(text)
		require.NoError(t, err, text)
		require.Equal(t, want, typ.String())
		again, err := ParseType(typ.String())
		require.NoError(t, err)
		require.True(t, typ.WithoutMetadata() == again)
	}
	typ, err := ParseType(`struct<a: int comment "say ""hi""">`)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"comment": `"say \"hi\""`}, typ.Fields()[0].Metadata)
	for text, want := range map[string]string{
		"array": "expected < and what the array is of", "array<int": "found the end, expected a comma or >", "array<int>>": `found ">", expected the end of the type`, "map<int>": "the type of the map's values",
		"struct<a>": "field a has no type", "struct<a:int,A:string>": "field A is there twice", "struct<a:what>": `field a: unknown type "what"`, "struct<`a:int>": "has no closing `",
		"struct<a:int not>": "expected NULL", "struct<a:int comment x>": "expected the comment in quotes", "struct<:int>": "expected a name and a type", "array<int(3)>": "takes no arguments",
		"struct<a:int b:int>": `found "b:int>", expected a comma or >`, "array<decimal(40)>": "must be 1 to 38", "array<decimal(5>": "write decimal(precision, scale)",
		strings.Repeat("array<", 300): "more than 200 types within one another",
	} {
		_, err := ParseType(text)
		require.ErrorContains(t, err, want, text)
	}
	fields, err := ParseFields(" id BIGINT NOT NULL, s STRUCT<a: INT, b: STRING> , `x,y` DATE ")
	require.NoError(t, err)
	require.Equal(t, "id long not null, s struct<a:int,b:string>, x,y date", NewSchema(fields...).String())
	none, err := ParseFields("")
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = ParseFields("a INT; b INT")
	require.ErrorContains(t, err, `unknown type "INT;"`)
}

func FuzzParseType(f *testing.F) {
	for _, text := range []string{"array<map<string,struct<a:int not null comment 'x',`b`` c`:decimal(5,2)>>>", "DECIMAL(10)", "struct<>"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		typ, err := ParseType(text)
		if err != nil {
			return
		}
		again, err := ParseType(typ.String())
		if err != nil || typ.WithoutMetadata() != again {
			t.Fatalf("%q is %s, which comes back as %s, %v", text, typ, again, err)
		}
	})
}

func TestErrorsLeaveNestedVectorsWhole(t *testing.T) {
	v := NewVector(deepType, 0)
	require.NoError(t, v.AppendFromJSON([]byte(`[{"m":{"1":["a"]},"s":{"x":true,"v":1},"d":"2024-01-01"},null]`)))
	before := v.Format(0)
	require.Error(t, v.AppendFromJSON([]byte(`[{"m":{"2":["b"]}},{"d":"x"}]`)))
	require.Error(t, v.AppendValue([]any{[]any{[]Entry{{int16(1), []any{"x"}}}, []any{true, nil}, "no date"}}))
	require.Error(t, v.AppendValue([]any{[]any{[]Entry{{"no key", nil}}, nil, nil}}))
	require.Error(t, v.AppendValue([]any{[]any{nil}}))
	v.AppendNull()
	require.NoError(t, v.AppendFromJSON([]byte("[]")))
	require.Equal(t, []string{before, "NULL", "[]"}, []string{v.Format(0), v.Format(1), v.Format(2)})
	require.Equal(t, 1, v.NullCount())

	b := NewBuilder(NewSchema(Field{Name: "l", Type: deepType, Nullable: true}, Field{Name: "n", Type: Type{Kind: Int64}}))
	require.Error(t, b.AppendRow(JSON("[null]"), "no number"))
	require.NoError(t, b.AppendRow(JSON("[null]"), int64(1)))
	require.Equal(t, "[null] | 1\n", b.Finish().Format())
}
