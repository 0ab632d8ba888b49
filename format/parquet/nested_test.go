package parquet

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// prune returns a type of some of the fields at every level, in another order, and of some that no file has.
func prune(r *rand.Rand, t batch.Type) batch.Type {
	pruned := func(f batch.Field) batch.Field {
		f.Type = prune(r, f.Type)
		return f
	}
	switch t.Kind {
	case batch.List:
		return batch.ListOf(pruned(t.Fields()[0]))
	case batch.Map:
		return batch.MapOf(pruned(t.Fields()[0]), pruned(t.Fields()[1]))
	case batch.Struct:
		var fields []batch.Field
		for _, f := range t.Fields() {
			if r.IntN(3) > 0 {
				fields = append(fields, pruned(f))
			}
		}
		if len(fields) == 0 || r.IntN(3) == 0 {
			fields = append(fields, batch.Field{Name: "gone", Type: randomType(r, 2), Nullable: true})
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		return batch.StructOf(fields...)
	}
	return t
}

// project returns what is left of a value of one type as another that prune made of it.
func project(value any, from, to batch.Type) any {
	if value == nil || from == to {
		return value
	}
	have, want := from.Fields(), to.Fields()
	switch to.Kind {
	case batch.List:
		out := []any{}
		for _, x := range value.([]any) {
			out = append(out, project(x, have[0].Type, want[0].Type))
		}
		return out
	case batch.Map:
		out := []batch.Entry{}
		for _, e := range value.([]batch.Entry) {
			out = append(out, batch.Entry{Key: project(e.Key, have[0].Type, want[0].Type), Value: project(e.Value, have[1].Type, want[1].Type)})
		}
		return out
	}
	out := make([]any, len(want))
	for i, f := range want {
		at := slices.IndexFunc(have, func(o batch.Field) bool { return o.Name == f.Name })
		if at >= 0 {
			out[i] = project(value.([]any)[at], have[at].Type, f.Type)
		}
	}
	return out
}

// requireValue compares a value of any type.
func requireValue(t *testing.T, want, got any, where string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(want, got) {
		w, g := fmt.Sprint(want), fmt.Sprint(got)
		require.Fail(t, "values differ", "%s: want %.500s, got %.500s", fmt.Sprintf(where, args...), w, g)
	}
}

// Nested columns come back as they were written, whole and in parts, all rows and some.
func TestNestedColumnsAreRead(t *testing.T) {
	trials := 100
	if testing.Short() {
		trials = 25
	}
	for seed := range trials {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		s := randomSchema(r)
		rows := []int{1, 7, 60, 250}[r.IntN(4)]
		b := randomNested(r, s, rows, []float64{0, 0.1, 0.5, 1}[r.IntN(4)], r.IntN(2) == 0)
		data, _ := encodeFile(t, s, WriterOptions{Compression: Compression(r.IntN(5)), RowGroupRows: 1 + r.IntN(2*rows), PageBytes: 1 + r.IntN(3000)}, b)
		f, err := openBytes(data)
		require.NoError(t, err)
		got, err := readAll(f, ScanOptions{Columns: s.Fields})
		require.NoError(t, err, "seed %d: %s", seed, s)
		require.Equal(t, rows, got.Len)
		for c, field := range s.Fields {
			for i := range rows {
				requireValue(t, b.Cols[c].Value(i), got.Cols[c].Value(i), "seed %d, column %s, row %d", seed, field.Name, i)
			}
		}

		wanted := slices.Clone(s.Fields)
		for i := range wanted {
			wanted[i].Type = prune(r, wanted[i].Type)
		}
		opts := ScanOptions{Columns: wanted}
		for at := r.Int64N(20); at < int64(rows); at += 1 + r.Int64N(100) {
			end := at + 1 + r.Int64N(40)
			opts.Rows = append(opts.Rows, RowRange{at, end})
			at = end
		}
		if opts.Rows == nil {
			continue
		}
		at, got := positions(t, f, opts)
		for c, field := range wanted {
			for i, p := range at {
				want := project(b.Cols[c].Value(int(p)), s.Fields[c].Type, field.Type)
				requireValue(t, want, got.Cols[c].Value(i), "seed %d, column %s as %s, row %d", seed, field.Name, field.Type, p)
			}
		}
	}
}

func TestDamagedVariantIsRefused(t *testing.T) {
	s := batch.NewSchema(batch.Field{Name: "s", Type: batch.StructOf(batch.Field{Name: "v", Type: batch.Type{Kind: batch.Variant}, Nullable: true})})
	b := randomNested(rand.New(rand.NewPCG(1, 1)), s, 3, 0, false)
	values := b.Cols[0].Children[0].Children[1]
	values.Bytes[values.Off[1]] = 0xFF
	data, _ := encodeFile(t, s, WriterOptions{}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	_, err = readAll(f, ScanOptions{Columns: s.Fields})
	require.ErrorContains(t, err, "read column s of")
	require.ErrorContains(t, err, "damaged variant")
}

// The pages' facts hold for the rows that they are told of.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	s := batch.NewSchema(
		batch.Field{Name: "n", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
		batch.Field{Name: "s", Type: batch.StructOf(batch.Field{Name: "x", Type: batch.Type{Kind: batch.String}, Nullable: true}, batch.Field{Name: "y", Type: batch.Type{Kind: batch.Int32}}), Nullable: true},
		batch.Field{Name: "l", Type: batch.ListOf(batch.Field{Type: batch.Type{Kind: batch.Int32}}), Nullable: true},
	)
	b := randomNested(r, s, 5000, 0.2, false)
	data, _ := encodeFile(t, s, WriterOptions{RowGroupRows: 3000, PageBytes: 2000}, b)
	f, err := openBytes(data)
	require.NoError(t, err)
	inner := batch.Field{Name: "s", Type: batch.StructOf(batch.Field{Name: "x", Type: batch.Type{Kind: batch.String}, Nullable: true}), Nullable: true}
	for _, want := range []batch.Field{s.Fields[0], inner} {
		next := int64(0)
		for g := range f.RowGroups() {
			pages, err := f.Pages(t.Context(), g, want, nil, false)
			require.NoError(t, err)
			require.Greater(t, len(pages), 3)
			for _, p := range pages {
				require.Equal(t, next, p.Rows.Start)
				next = p.Rows.End
				got, err := readAll(f, ScanOptions{Columns: []batch.Field{want}, Rows: []RowRange{p.Rows}})
				require.NoError(t, err)
				col := got.Cols[0]
				if want.Name == "s" {
					col = col.Children[0]
				}
				require.Equal(t, int64(col.NullCount()), p.Stats.NullCount)
				low, high, ok := boundsOf(col)
				require.True(t, ok)
				require.True(t, p.Stats.HasMinMax)
				require.True(t, ordered(p.Stats.Min, low) && ordered(high, p.Stats.Max))
			}
		}
		require.Equal(t, int64(5000), next)
	}
	for _, want := range []batch.Field{s.Fields[1], s.Fields[2], {Name: "none", Type: batch.Type{Kind: batch.Int64}}} {
		pages, err := f.Pages(t.Context(), 0, want, nil, false)
		require.NoError(t, err, fmt.Sprint(want))
		require.Nil(t, pages)
	}
}
