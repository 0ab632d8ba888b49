package vector

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// Nested columns, variants and void pass through, can be asked for NULL, and take another name for the same type; nothing else compiles over them.
func TestExpressionsOverNestedColumns(t *testing.T) {
	for _, text := range []string{"struct<a:int>", "array<string>", "map<string,int>", "variant", "void"} {
		typ, err := batch.ParseType(text)
		require.NoError(t, err)
		f := batch.Field{Name: "c", Type: typ, Nullable: true}
		v := batch.NewVector(typ, 3)
		v.AppendNull()
		if typ.Kind != batch.Void {
			value := "{}"
			if typ.Kind == batch.List {
				value = "[null]"
			}
			require.NoError(t, v.AppendFromJSON([]byte(value)))
		}
		v.AppendNull()
		c := NewColumn(0, f)
		op := NewBatches(batch.NewSchema(f), batch.New(batch.NewSchema(f), v))
		op = NewProject(NewFilter(op, NewIsNull(c)), []Expr{c, NewNull(typ)}, []batch.Field{f, f})
		require.Equal(t, "NULL | NULL\nNULL | NULL\n", drain(t, op), text)

		for what, build := range map[string]func() (Expr, error){
			"compare": func() (Expr, error) { return NewCompare(Equal, c, c) },
			"in":      func() (Expr, error) { return NewIn(c, []Expr{NewInt(1)}) },
			"add":     func() (Expr, error) { return NewArith(Add, c, NewInt(1)) },
			"and":     func() (Expr, error) { return NewAnd(c, c) },
			"not":     func() (Expr, error) { return NewNot(c) },
			"like":    func() (Expr, error) { return NewLike(c, "a%", '\\') },
			"cast":    func() (Expr, error) { return NewCast(c, batch.Type{Kind: batch.String}) },
			"from":    func() (Expr, error) { return NewCast(NewString("x"), typ) },
			"between": func() (Expr, error) { return NewBetween(c, c, c) },
		} {
			_, err := build()
			var unsupported *UnsupportedError
			require.ErrorAs(t, err, &unsupported, "%s of %s", what, text)
		}
		require.True(t, canMatch(NewIsNull(c), func(int) bounds { return unbounded }))
	}

	from := batch.StructOf(batch.Field{Name: "a", Type: batch.Type{Kind: batch.Int32}})
	to := batch.StructOf(batch.Field{Name: "A", Type: batch.Type{Kind: batch.Int32}, Nullable: true, Metadata: map[string]string{"id": "1"}})
	x, err := NewCast(NewColumn(0, batch.Field{Name: "s", Type: from}), to)
	require.NoError(t, err)
	v := batch.NewVector(from, 1)
	require.NoError(t, v.AppendFromJSON([]byte(`{"a":1}`)))
	schema := batch.NewSchema(batch.Field{Name: "s", Type: from})
	op := NewProject(NewBatches(schema, batch.New(schema, v)), []Expr{x}, []batch.Field{{Name: "s", Type: to}})
	require.Equal(t, "{\"A\":1}\n", drain(t, op))
}
