package vector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
)

// spilling is a budget with a directory of its own, which must be empty again at the end.
func spilling(t testing.TB, limit int64) *Budget {
	space, err := NewSpillSpace(t.TempDir(), 1<<30)
	require.NoError(t, err)
	b := NewBudget(limit, space)
	t.Cleanup(func() { requireNothingLeft(t, b) })
	return b
}

// requireNothingLeft says that no operator holds anything of a budget any more.
func requireNothingLeft(t require.TestingT, b *Budget) {
	require.Zero(t, b.used.Load(), "bytes in memory")
	if b.space == nil {
		return
	}
	require.Zero(t, b.space.Used(), "bytes on disk")
	require.Zero(t, b.space.files.Load(), "open files")
	left, err := os.ReadDir(b.space.directory)
	require.NoError(t, err)
	require.Empty(t, left)
}

// nestedSchema is the model's columns and nested ones.
func nestedSchema(t require.TestingT) *batch.Schema {
	s := modelSchema()
	for i, text := range []string{"struct<a:int,b:string>", "array<string>", "map<string,array<int>>", "variant", "void"} {
		typ, err := batch.ParseType(text)
		require.NoError(t, err)
		s.Fields = append(s.Fields, batch.Field{Name: fmt.Sprintf("n%d", i), Type: typ, Nullable: true})
	}
	return s
}

// drawNested draws a column of one of nestedSchema's nested types.
func drawNested(t *rapid.T, typ batch.Type, n int) *batch.Vector {
	v := batch.NewVector(typ, n)
	for range n {
		texts := map[batch.Kind][]string{
			batch.Struct: {`{}`, `{"a":1,"b":"x"}`, `{"b":""}`}, batch.List: {`[]`, `["x",null,"yy"]`, `["x"]`},
			batch.Map: {`{}`, `{"k":[1,2],"l":null}`}, batch.Variant: {`1`, `{"a":[true]}`},
		}[typ.Kind]
		if at := rapid.IntRange(-1, len(texts)-1).Draw(t, "text"); at < 0 {
			v.AppendNull()
		} else {
			require.NoError(t, v.AppendFromJSON([]byte(texts[at])))
		}
	}
	return v
}

// TestSpillModel: what is written comes back in order, as often as it is asked for, from memory and from a file, whatever the types, selections and
// dictionaries; columns that nobody looks at stay nil.
func TestSpillModel(t *testing.T) {
	budget := spilling(t, 1<<30)
	rapid.Check(t, func(t *rapid.T) {
		schema := nestedSchema(t)
		s := budget.newSpill(schema)
		dict := batch.NewVector(batch.Type{Kind: batch.String}, 2)
		dict.AppendString("one")
		dict.AppendString("")
		absent := rapid.IntRange(-1, len(schema.Fields)-1).Draw(t, "absent")
		line := func(b *batch.Batch, i int) string {
			var out []string
			for c, v := range b.Cols {
				require.Equal(t, c == absent, v == nil)
				if v != nil {
					out = append(out, v.Format(i))
				}
			}
			return strings.Join(out, "|")
		}
		var want []string
		for range rapid.IntRange(0, 6).Draw(t, "batches") {
			n := rapid.IntRange(0, 20).Draw(t, "rows")
			b := &batch.Batch{Schema: schema, Len: n}
			for c, f := range schema.Fields {
				switch {
				case c == absent:
					b.Cols = append(b.Cols, nil)
				case f.Type.Kind == batch.String && rapid.Bool().Draw(t, "shared"):
					v := &batch.Vector{Type: f.Type, Dict: dict, Len: n, Codes: make([]uint32, n)}
					for i := range v.Codes {
						v.Codes[i] = uint32(i % 2)
					}
					b.Cols = append(b.Cols, v)
				case len(f.Type.Fields()) > 0 || f.Type.Kind == batch.Void:
					b.Cols = append(b.Cols, drawNested(t, f.Type, n))
				default:
					b.Cols = append(b.Cols, drawColumn(t, f.Type, n))
				}
			}
			if rapid.Bool().Draw(t, "selected") {
				b.Sel = []int32{}
				for i := range n {
					if rapid.Bool().Draw(t, "keep") {
						b.Sel = append(b.Sel, int32(i))
					}
				}
			}
			for k := range b.Rows() {
				want = append(want, line(b, b.Row(k)))
			}
			require.NoError(t, s.write(context.Background(), b))
			if rapid.Bool().Draw(t, "to disk") {
				require.NoError(t, s.flush())
			}
		}
		for range 2 {
			require.NoError(t, s.rewind())
			var got []string
			for {
				b, err := s.next(context.Background())
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				require.Nil(t, b.Sel)
				require.LessOrEqual(t, b.Len, batch.MaxRows)
				for i := range b.Len {
					got = append(got, line(b, i))
				}
			}
			require.Equal(t, want, got)
		}
		require.NoError(t, s.close())
		require.NoError(t, s.close())
	})
}

// TestSpillOfLongTexts: blocks stay about as long as they should be, and a dictionary is written once.
func TestSpillOfLongTexts(t *testing.T) {
	budget := spilling(t, 1<<30)
	schema := batch.NewSchema(batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}})
	s := budget.newSpill(schema)
	v := batch.NewVector(schema.Fields[0].Type, 100)
	for i := range 100 {
		v.AppendString(strings.Repeat(string(rune('a'+i%26)), 200_000))
	}
	require.NoError(t, s.write(context.Background(), batch.New(schema, v)))
	require.NoError(t, s.rewind())
	rows := 0
	for {
		b, err := s.next(context.Background())
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for i := range b.Len {
			require.Equal(t, v.BytesAt(rows), b.Cols[0].BytesAt(i))
			rows++
		}
		require.Less(t, len(s.block)*8, 2*spillBlock)
	}
	require.Equal(t, 100, rows)
	require.NoError(t, s.close())

	s = budget.newSpill(schema)
	coded := &batch.Vector{Type: v.Type, Len: batch.MaxRows, Codes: make([]uint32, batch.MaxRows), Dict: v.Slice(0, 3).Clone()}
	for range 10 {
		require.NoError(t, s.write(context.Background(), batch.New(schema, coded)))
	}
	require.NoError(t, s.rewind())
	require.Less(t, s.size+int64(len(s.out)), int64(10*4*batch.MaxRows+3*200_000+10_000))
	require.NoError(t, s.close())
}

func TestSpillFailsClearly(t *testing.T) {
	directory := t.TempDir()
	space, err := NewSpillSpace(directory, 100<<10)
	require.NoError(t, err)
	budget := NewBudget(1<<20, space).Child(1 << 20)
	v := batch.NewVector(long.Type, batch.MaxRows)
	for i := range int64(batch.MaxRows) {
		v.AppendInt64(i)
	}
	b := batch.New(batch.NewSchema(long), v)

	s := budget.newSpill(b.Schema)
	require.NoError(t, s.write(context.Background(), b))
	require.NoError(t, s.rewind())
	require.EqualValues(t, s.size, budget.Spilled())
	require.EqualValues(t, s.size, budget.parent.Spilled())
	var full *SpillLimitError
	other := budget.newSpill(b.Schema)
	require.ErrorAs(t, other.write(context.Background(), b), &full)
	require.EqualError(t, full, "queries would spill more than the 0 MiB that they may have on disk together")
	require.NoError(t, other.close())

	require.NoError(t, s.file.Truncate(1000))
	_, err = s.next(context.Background())
	require.ErrorContains(t, err, "read what was spilled to "+directory+": 984 of 65544 bytes")
	require.ErrorIs(t, err, io.EOF)
	require.NotEqual(t, io.EOF, err)

	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.write(canceled, b), context.Canceled)
	_, err = s.next(canceled)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.close())
	requireNothingLeft(t, budget)

	require.NoError(t, os.RemoveAll(directory))
	require.NoError(t, os.WriteFile(directory, nil, 0o600)) // no directory can be made there
	err = budget.newSpill(b.Schema).write(context.Background(), b)
	require.ErrorContains(t, err, "make a file to spill to: ")
}

// TestSpillOnAFullDisk: the device that is always full stands for the disk.
func TestSpillOnAFullDisk(t *testing.T) {
	file, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the system has no device that is always full")
	}
	require.NoError(t, err)
	budget := spilling(t, 1<<20)
	s := budget.newSpill(batch.NewSchema(long))
	s.file = file
	budget.space.files.Add(1)
	v := batch.NewVector(long.Type, batch.MaxRows)
	v.AppendNulls(batch.MaxRows)
	err = s.write(context.Background(), batch.New(s.schema, v))
	require.ErrorContains(t, err, "no space left on device")
	require.NoError(t, s.close())
}

// TestSpillSpaceIsCleaned: files of a process that died go when the next one begins, and those of others stay.
func TestSpillSpaceIsCleaned(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, os.MkdirAll(directory, 0o700))
	for _, name := range []string{"lakesql-spill-1234", "mine.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte("x"), 0o600))
	}
	space, err := NewSpillSpace(directory, 1<<20)
	require.NoError(t, err)
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "mine.txt", left[0].Name())
	require.Zero(t, space.Used())
}

func TestBudgetOfAllQueries(t *testing.T) {
	all := NewBudget(100, nil)
	a, b := all.Child(80), all.Child(80)
	x, y := share{budget: a, what: "a sort"}, share{budget: b, what: "a join"}
	require.NoError(t, x.set(70))
	require.EqualError(t, y.set(60), "a join needs more than the 0 MiB of memory that all queries together may hold; filter more rows, or take fewer distinct values")
	require.NoError(t, x.set(20))
	require.NoError(t, y.set(0))
	require.EqualError(t, x.set(90), "a sort needs more than the 0 MiB of memory that a query may hold; filter more rows, or take fewer distinct values")
	require.False(t, x.mustSpill(), "there is no place to spill to")
	require.NoError(t, x.set(0))
	requireNothingLeft(t, all)
}

func TestSpillDirectoryIsMadeAgain(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "spill")
	space, err := NewSpillSpace(directory, 1<<30)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(directory))
	file, named, err := space.open()
	require.NoError(t, err)
	require.NoError(t, file.Close())
	if named {
		require.NoError(t, os.Remove(file.Name()))
	}
}
