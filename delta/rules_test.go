package delta

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/store"
)

// fakeSQL evaluates the expressions that it knows, row by row.
type fakeSQL map[string]func(b *batch.Batch, row int) any

type fakeEvaluation struct {
	sql   fakeSQL
	exprs []Expression
}

func (s fakeSQL) Compile(_ context.Context, _ *batch.Schema, exprs []Expression) (Evaluation, error) {
	for _, e := range exprs {
		if s[e.SQL] == nil {
			return nil, fmt.Errorf("cannot compile %s", e.SQL)
		}
	}
	return fakeEvaluation{s, exprs}, nil
}

func (e fakeEvaluation) Eval(_ context.Context, b *batch.Batch) ([]*batch.Vector, error) {
	out := make([]*batch.Vector, len(e.exprs))
	for i, x := range e.exprs {
		out[i] = batch.NewVector(x.Type, b.Len)
		for row := range b.Len {
			if err := out[i].AppendValue(e.sql[x.SQL](b, row)); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// long is the value of a long column as a number; 0 for null.
func long(b *batch.Batch, column string, row int) int64 {
	v, _ := b.Cols[b.Schema.Index(column)].Value(row).(int64)
	return v
}

var ruleSQL = fakeSQL{
	"id > 0": func(b *batch.Batch, row int) any {
		if b.Cols[b.Schema.Index("id")].IsNull(row) {
			return nil
		}
		return long(b, "id", row) > 0
	},
	"id * 2": func(b *batch.Batch, row int) any { return long(b, "id", row) * 2 },
	"7":      func(*batch.Batch, int) any { return int64(7) },
}

func ruleColumn(name string, metadata map[string]string) batch.Field {
	return batch.Field{Name: name, Type: kind(batch.Int64), Nullable: true, Metadata: metadata}
}

// longs is a batch of long columns; nil for one that is not given, nil values are null.
func longs(schema *batch.Schema, columns ...[]any) *batch.Batch {
	out := &batch.Batch{Schema: schema, Cols: make([]*batch.Vector, len(columns))}
	for i, values := range columns {
		if values == nil {
			continue
		}
		out.Cols[i] = batch.NewVector(schema.Fields[i].Type, len(values))
		for _, v := range values {
			if n, ok := v.(int); ok {
				v = int64(n)
			}
			if err := out.Cols[i].AppendValue(v); err != nil {
				panic(err)
			}
		}
		out.Len = len(values)
	}
	return out
}

// written writes one batch and returns the rows of the files, or the error.
func written(t *testing.T, st store.Store, meta *Metadata, opts FileWriterOptions, b *batch.Batch) ([]AddFile, string, error) {
	w, err := NewFileWriter(st, nil, meta, opts)
	if err != nil {
		return nil, "", err
	}
	if err := w.Write(ctx, b); err != nil {
		require.NoError(t, w.Abort())
		return nil, "", err
	}
	adds, err := w.Close(ctx)
	require.NoError(t, err)
	schema, err := ParseSchema(meta.SchemaString)
	require.NoError(t, err)
	rows := ""
	for _, a := range adds {
		rows += rowsOf(t, st, a, schema.Fields...)
	}
	return adds, rows, nil
}

func TestRulesOfColumns(t *testing.T) {
	identity, err := NewIdentity(10, 5, false)
	require.NoError(t, err)
	schema := batch.NewSchema(ruleColumn("id", nil), ruleColumn("gen", map[string]string{GenerationKey: `"id * 2"`}),
		ruleColumn("def", map[string]string{DefaultKey: `"7"`}), ruleColumn("auto", identity))
	meta := newMeta(t, schema, nil, nil)
	st := memoryStore(t)
	opts := FileWriterOptions{Evaluator: ruleSQL}

	adds, rows, err := written(t, st, meta, opts, longs(schema, []any{1, 2, nil}, nil, nil, nil))
	require.NoError(t, err)
	require.Equal(t, "1 | 2 | 7 | 10\n2 | 4 | 7 | 15\nNULL | 0 | 7 | 20\n", rows)
	require.Equal(t, map[string]int64{"auto": 20}, adds[0].identity)

	_, rows, err = written(t, st, meta, opts, longs(schema, []any{3}, []any{6}, []any{nil}, nil))
	require.NoError(t, err)
	require.Equal(t, "3 | 6 | NULL | 10\n", rows, "a NULL that is given is no default")

	_, _, err = written(t, st, meta, opts, longs(schema, []any{3}, []any{7}, nil, nil))
	require.ErrorIs(t, err, ErrConstraint)
	require.ErrorContains(t, err, "column gen is 7, and its expression (id * 2) gives 6")
	_, _, err = written(t, st, meta, opts, longs(schema, []any{3}, nil, nil, []any{1}))
	require.ErrorContains(t, err, "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED")

	opts.Rows = ChangedRows
	_, rows, err = written(t, st, meta, opts, longs(schema, []any{3}, nil, nil, []any{1}))
	require.NoError(t, err)
	require.Equal(t, "3 | 6 | 7 | 1\n", rows)

	_, rows, err = written(t, st, meta, FileWriterOptions{Rows: MovedRows}, longs(schema, []any{3}, []any{1}, []any{1}, []any{1}))
	require.NoError(t, err)
	require.Equal(t, "3 | 1 | 1 | 1\n", rows, "rows that are moved stay as they are")
	_, _, err = written(t, st, meta, FileWriterOptions{Rows: MovedRows}, longs(schema, []any{3}, nil, []any{1}, []any{1}))
	require.ErrorContains(t, err, "column gen is not given")

	var unsupported *UnsupportedError
	_, _, err = written(t, st, meta, FileWriterOptions{}, longs(schema, []any{3}, []any{1}, []any{1}, nil))
	require.ErrorAs(t, err, &unsupported)
	require.Equal(t, []string{"generated column gen"}, unsupported.Features)
	simple := newMeta(t, batch.NewSchema(schema.Fields[0], schema.Fields[2]), nil, nil)
	_, _, err = written(t, st, simple, FileWriterOptions{}, longs(schemaOf(t, simple), []any{3}, nil))
	require.ErrorAs(t, err, &unsupported, "a default is needed")
	_, rows, err = written(t, st, simple, FileWriterOptions{}, longs(schemaOf(t, simple), []any{3}, []any{4}))
	require.NoError(t, err)
	require.Equal(t, "3 | 4\n", rows)
}

func TestConstraintsAndInvariants(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("id", nil), ruleColumn("x", nil))
	for name, meta := range map[string]*Metadata{
		"CHECK constraint pos (id > 0)":     newMeta(t, schema, nil, map[string]string{"delta.constraints.pos": "id > 0"}),
		"invariant of column id (id > 0)":   newMeta(t, batch.NewSchema(ruleColumn("id", map[string]string{invariantsKey: `"{\"expression\":{\"expression\":\"id > 0\"}}"`}), schema.Fields[1]), nil, nil),
		"invariant of column x (id > 0)":    newMeta(t, batch.NewSchema(schema.Fields[0], ruleColumn("x", map[string]string{invariantsKey: `"id > 0"`})), nil, nil),
		"CHECK constraint second (id > 0)":  newMeta(t, schema, nil, map[string]string{"delta.constraints.first": "7 > 0", "delta.constraints.second": "id > 0"}),
		"CHECK constraint in part (id > 0)": newMeta(t, schema, []string{"x"}, map[string]string{"delta.constraints.in part": "id > 0"}),
	} {
		st := memoryStore(t)
		ruleSQL["7 > 0"] = func(*batch.Batch, int) any { return true }
		opts := FileWriterOptions{Evaluator: ruleSQL}
		for _, bad := range []any{-1, nil} {
			_, _, err := written(t, st, meta, opts, longs(schema, []any{1, bad}, []any{5, 6}))
			require.ErrorIs(t, err, ErrConstraint)
			require.ErrorContains(t, err, name+" violated by row with values: id: ")
			require.ErrorContains(t, err, "x: 6")
		}
		good := longs(schema, []any{1, nil, 2}, []any{1, 2, 1})
		good.Sel = []int32{0, 2}
		adds, _, err := written(t, st, meta, opts, good)
		require.NoError(t, err, "rows that are not selected do not matter")
		require.Equal(t, int64(2), adds[0].NumRecords)
		_, err = NewFileWriter(st, nil, meta, FileWriterOptions{})
		require.ErrorContains(t, err, "(id > 0)")
		_, err = NewFileWriter(st, nil, meta, FileWriterOptions{Rows: MovedRows})
		require.NoError(t, err)
		w, err := NewFileWriter(st, nil, meta, FileWriterOptions{Evaluator: fakeSQL{}})
		require.NoError(t, err)
		require.ErrorContains(t, w.Write(ctx, longs(schema, []any{1}, []any{1})), "cannot compile")
		require.NoError(t, w.Abort())
	}
	for _, damaged := range []string{`"{\"expression\":{}}"`, `"{"`, `1`, `""`} {
		meta := newMeta(t, batch.NewSchema(ruleColumn("id", map[string]string{invariantsKey: damaged})), nil, nil)
		_, err := NewFileWriter(memoryStore(t), nil, meta, FileWriterOptions{Evaluator: ruleSQL})
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestNotNullInside(t *testing.T) {
	field := func(name string, k batch.Kind, nullable bool) batch.Field {
		return batch.Field{Name: name, Type: kind(k), Nullable: nullable}
	}
	list := func(element batch.Field) batch.Field {
		return batch.Field{Name: "c", Type: batch.ListOf(element), Nullable: true}
	}
	structure := batch.StructOf(field("a", batch.Int32, false), batch.Field{Name: "l", Nullable: true, Type: batch.ListOf(field("", batch.Int32, false))})
	for _, c := range []struct {
		field batch.Field
		text  string
		want  string // the column that is violated; "" none
	}{
		{batch.Field{Name: "c", Type: structure, Nullable: true}, `{"a":1,"l":[1,2]}`, ""},
		{batch.Field{Name: "c", Type: structure, Nullable: true}, `null`, ""},
		{batch.Field{Name: "c", Type: structure}, `null`, "column: c"},
		{batch.Field{Name: "c", Type: structure}, `{"a":null,"l":null}`, "column: c.a"},
		{batch.Field{Name: "c", Type: structure}, `{"a":1,"l":[1,null]}`, "column: c.l.element"},
		{list(batch.Field{Type: structure, Nullable: true}), `[null,{"a":1,"l":[]}]`, ""},
		{list(batch.Field{Type: structure, Nullable: true}), `[null,{"a":1,"l":[null]}]`, "column: c.element.l.element"},
		{batch.Field{Name: "c", Nullable: true, Type: batch.MapOf(field("", batch.String, false), field("", batch.Int32, false))}, `{"x":1,"y":null}`, "column: c.value"},
		{batch.Field{Name: "c", Nullable: true, Type: batch.Type{Kind: batch.Variant}}, `null`, ""},
	} {
		schema := batch.NewSchema(c.field)
		v := batch.NewVector(c.field.Type, 2)
		if c.text == "null" { // the JSON text null is a value of a variant
			v.AppendNull()
		} else {
			require.NoError(t, v.AppendFromJSON([]byte(c.text)))
		}
		v.AppendNull() // not selected
		_, rows, err := written(t, memoryStore(t), newMeta(t, schema, nil, nil), FileWriterOptions{}, &batch.Batch{Schema: schema, Cols: []*batch.Vector{v}, Len: 2, Sel: []int32{0}})
		if c.want == "" {
			require.NoError(t, err)
			require.Equal(t, v.Format(0)+"\n", rows)
			continue
		}
		require.ErrorIs(t, err, ErrConstraint)
		require.ErrorContains(t, err, c.want)
	}
}

func TestCharAndVarchar(t *testing.T) {
	column := func(name, declared string) batch.Field {
		return batch.Field{Name: name, Type: kind(batch.String), Nullable: true, Metadata: map[string]string{CharVarcharKey: declared}}
	}
	schema := batch.NewSchema(column("c", `"char(3)"`), column("v", `"varchar(3)"`), column("s", `"string"`))
	meta := newMeta(t, schema, nil, nil)
	b := batch.NewBuilder(schema)
	require.NoError(t, b.AppendRow("a", "a", "abcd"))
	require.NoError(t, b.AppendRow("éüö  ", "éüö  ", "x"))
	require.NoError(t, b.AppendRow(nil, nil, nil))
	rows := b.Finish()
	_, text, err := written(t, memoryStore(t), meta, FileWriterOptions{}, rows)
	require.NoError(t, err)
	require.Equal(t, "a   | a | abcd\néüö | éüö | x\nNULL | NULL | NULL\n", text)
	require.Equal(t, "a", rows.Cols[0].Value(0), "the caller's batch stays as it is")
	for i, name := range []string{"c", "v"} {
		require.NoError(t, b.AppendRow("abc", "abc", "abc"))
		row := []any{"a", "a", "a"}
		row[i] = "abcd"
		require.NoError(t, b.AppendRow(row...))
		_, _, err = written(t, memoryStore(t), meta, FileWriterOptions{}, b.Finish())
		require.ErrorIs(t, err, ErrConstraint)
		require.ErrorContains(t, err, `"abcd" of column `+name)
	}
}

func TestIdentityMarks(t *testing.T) {
	identity := func(start, step int64) map[string]string {
		m, err := NewIdentity(start, step, true)
		require.NoError(t, err)
		return m
	}
	_, err := NewIdentity(1, 0, true)
	require.Error(t, err)
	schema := batch.NewSchema(ruleColumn("up", identity(1, 1)), ruleColumn("down", identity(-1, -10)), ruleColumn("x", nil))
	table := createTable(t, memoryStore(t), schema, nil, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, &Protocol{MinReader: 1, MinWriter: 6}, s.Protocol())

	write := func(s *Snapshot, b *batch.Batch) []AddFile {
		w, err := NewFileWriter(table.Store(), s, s.Metadata(), FileWriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(ctx, b))
		adds, err := w.Close(ctx)
		require.NoError(t, err)
		return adds
	}
	tx := table.Begin(s)
	tx.Add(write(s, longs(schema, nil, nil, []any{0, 0}))...)
	view := tx.View()
	second := write(view, longs(schema, nil, nil, []any{0}))
	require.Equal(t, map[string]int64{"up": 3, "down": -21}, second[0].identity, "a later statement goes on behind the one before")
	tx.Add(second...)
	done, err := tx.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	after := schemaOf(t, done.Snapshot.Metadata())
	require.Equal(t, "3", after.Fields[0].Metadata[identityMark])
	require.Equal(t, "-21", after.Fields[1].Metadata[identityMark])
	text, err := table.Store().Get(ctx, commitKey(1))
	require.NoError(t, err)
	require.Contains(t, string(text), `"tags":{"delta.identity.schemaUpdate":"true"}`)

	// Values that are given move no mark. Two that were made at once cannot both be right.
	explicit := table.Begin(done.Snapshot)
	explicit.Add(write(done.Snapshot, longs(schema, []any{100}, []any{100}, []any{0}))...)
	first, loser := table.Begin(done.Snapshot), table.Begin(done.Snapshot)
	first.Add(write(done.Snapshot, longs(schema, nil, nil, []any{0}))...)
	loser.Add(write(done.Snapshot, longs(schema, nil, nil, []any{0}))...)
	_, err = first.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	_, err = loser.Commit(ctx, Operation{Name: "WRITE"})
	require.ErrorIs(t, err, ErrConflict)
	given, err := explicit.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err, "it changes no metadata")
	require.Equal(t, "4", schemaOf(t, given.Snapshot.Metadata()).Fields[0].Metadata[identityMark])

	full := ruleColumn("up", identity(1, 1))
	full.Metadata[identityMark] = "9223372036854775806"
	id, err := identityOf(0, full)
	require.NoError(t, err)
	n, err := id.next()
	require.NoError(t, err)
	require.Equal(t, int64(9223372036854775807), n)
	_, err = id.next()
	require.ErrorIs(t, err, ErrConstraint)
	for key, bad := range map[string]string{IdentityStep: "0", IdentityStart: `"x"`, identityMark: "1.5"} {
		f := ruleColumn("up", identity(1, 1))
		f.Metadata[key] = bad
		_, err := identityOf(0, f)
		require.ErrorIs(t, err, ErrCorrupt)
	}
}

func TestFailedEvaluation(t *testing.T) {
	schema := batch.NewSchema(ruleColumn("id", nil))
	meta := newMeta(t, schema, nil, map[string]string{"delta.constraints.c": "boom"})
	boom := errors.New("boom")
	_, _, err := written(t, memoryStore(t), meta, FileWriterOptions{Evaluator: failing{boom}}, longs(schema, []any{1}))
	require.ErrorIs(t, err, boom)
}

type failing struct{ err error }

func (f failing) Compile(context.Context, *batch.Schema, []Expression) (Evaluation, error) {
	return f, nil
}
func (f failing) Eval(context.Context, *batch.Batch) ([]*batch.Vector, error) { return nil, f.err }
