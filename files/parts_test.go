package files

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/parquet"
	"lakesql/store"
)

// told is what a reader gave: rows, and of malformed ones the line, the column, the message and the text.
type told struct {
	rows, bad, extra []string
	rejected         int64
	err              string
}

func (o *told) hear(e RowError) {
	o.bad = append(o.bad, fmt.Sprintf("%d %s %s %q", e.Line, e.Column, e.Message, e.Raw))
}

// read reads to the end; false after an error.
func (o *told) read(r formatReader) bool {
	for {
		b, err := r.Next()
		if err == io.EOF {
			for _, name := range r.Extra() {
				if !slices.Contains(o.extra, name) {
					o.extra = append(o.extra, name)
				}
			}
			return true
		}
		if err != nil {
			o.err = err.Error()
			return false
		}
		for i := range b.Rows() {
			cells := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				cells[c] = v.Format(b.Row(i))
			}
			o.rows = append(o.rows, strings.Join(cells, "|"))
		}
	}
}

// TestPiecesAreTheFile: lines that are cut off and read by several readers are the rows, the malformed rows with their lines, and the columns of the file, wherever it is cut.
func TestPiecesAreTheFile(t *testing.T) {
	parts := map[string][]string{
		"csv":  {"a,b", "1,x", "2,\"y\"", "nan", "3,\"no end", "\"q,", "#note", "", "4,z,9", ",", " 5 , v", "\xff,w", "\xEF\xBB\xBF", "\r", "\n", "\r\n", "\n", ";"},
		"json": {`{"a":1,"b":"x"}`, `{"b":"y"`, `}`, `[{"a":2},{"a":3}]`, `[{"a":4}`, `{"a":"bad"}`, `{"c":5}`, "nonsense", "\xff", "\xEF\xBB\xBF", " ", "\r", "\n", "\r\n", "\n", ";"},
		"text": {"x", "yy", "\xff", "\xEF\xBB\xBF", "", "\r", "\n", "\r\n", "\n", ";"},
	}
	schemas := map[string]string{"csv": "a INT, b STRING, _corrupt_record STRING, _rescued_data STRING", "json": "a INT, b STRING, _corrupt_record STRING, _rescued_data STRING", "text": "value STRING"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"csv", "json", "text"}).Draw(t, "format")
		args := map[string]string{"format": kind, "schema": schemas[kind], "mode": rapid.SampledFrom([]string{"PERMISSIVE", "DROPMALFORMED", "FAILFAST"}).Draw(t, "mode")}
		if sep := rapid.SampledFrom([]string{"", "", ";", "\r\n"}).Draw(t, "lineSep"); sep != "" {
			args["lineSep"] = sep
		}
		if kind == "csv" {
			args["header"], args["comment"] = rapid.SampledFrom([]string{"true", "false"}).Draw(t, "header"), "#"
		}
		if kind != "text" && rapid.Bool().Draw(t, "rescue") {
			args["rescuedDataColumn"] = "_rescued_data"
		}
		opts, err := ParseOptions(args)
		require.NoError(t, err)
		require.True(t, opts.haveParts())
		data := strings.Join(rapid.SliceOf(rapid.SampledFrom(parts[kind])).Draw(t, "text"), "")
		schema := opts.Schema()
		open := func(o *told) (partedRows, bool) {
			st := store.NewMemory("file:///in")
			require.NoError(t, st.MakeRoot(t.Context()))
			require.NoError(t, st.PutIfAbsent(t.Context(), "f", []byte(data)))
			info, err := st.Stat(t.Context(), "f")
			require.NoError(t, err)
			c := &contents{ctx: t.Context(), st: st, key: "f", file: File{URI: "file:///in/f", Size: info.Size, ModTime: info.ModTime}}
			r, _, err := opts.openRows(c, schema, opts.rescued(c.file, nil, schema), o.hear)
			if err != nil {
				o.err = err.Error()
				return nil, false
			}
			return r.(partedRows), true
		}
		var want, got told
		if r, ok := open(&want); ok {
			want.read(r)
			want.rejected = r.Rejected()
		}
		if r, ok := open(&got); ok {
			readers := make([]partedRows, 1+rapid.IntRange(0, 2).Draw(t, "others"))
			for i := range readers {
				readers[i], _, err = r.fork(nil, got.hear)
				require.NoError(t, err)
			}
			for i := 0; ; i++ {
				piece, err := r.cut(Piece{text: format.Piece{Buf: make([]byte, rapid.IntRange(10, 60).Draw(t, "size"))}})
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				at := readers[i%len(readers)]
				if at.take(piece); !got.read(at) {
					break
				}
			}
			for _, at := range readers {
				got.rejected += at.Rejected()
			}
			if kind == "csv" {
				got.extra = r.Extra() // of a file without rows, too
			}
		}
		if want.err != "" { // how many rows come before an error is nobody's business
			require.Equal(t, want.err, got.err, "%q", data)
			return
		}
		require.Equal(t, want, got, "%q", data)
	})
}

// TestPartsOfAFile: the parts of a large file of each kind are its rows, in order, with the columns that its path gives and the hidden ones.
func TestPartsOfAFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "day=7")
	require.NoError(t, os.Mkdir(dir, 0o755))
	const n = 130_000
	ids := batch.NewVector(batch.Type{Kind: batch.Int64}, 5*n)
	chance := rand.New(rand.NewPCG(1, 2))
	var csv, json, text, columns, packed bytes.Buffer
	csv.WriteString("id,name\n")
	for i := range n {
		name := fmt.Sprintf("%016x%016x", chance.Uint64(), chance.Uint64())
		fmt.Fprintf(&csv, "%d,%s\n", i, name)
		fmt.Fprintf(&json, "{\"id\":%d,\"name\":%q}\n", i, name)
		fmt.Fprintf(&text, "%d %s\n", i, name)
	}
	zip := gzip.NewWriter(&packed)
	_, err := zip.Write(append(csv.Bytes(), text.Bytes()...))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	for i := range 5 * n {
		ids.AppendInt64(int64(i) << 20)
	}
	schema := batch.NewSchema(batch.Field{Name: "id", Type: ids.Type, Nullable: true})
	w, err := parquet.NewWriter(&columns, schema, parquet.WriterOptions{RowGroupRows: 300_000, Compression: parquet.Uncompressed})
	require.NoError(t, err)
	for at := 0; at < ids.Len; at += batch.MaxRows {
		end := min(at+batch.MaxRows, ids.Len)
		require.NoError(t, w.Write(&batch.Batch{Schema: schema, Cols: []*batch.Vector{ids.Slice(at, end)}, Len: end - at}))
	}
	_, err = w.Close()
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		data  []byte
		parts int
		args  []string
	}{
		{"f.csv", csv.Bytes(), 3, []string{"format", "csv", "header", "true", "schema", "id BIGINT, name STRING, day INT"}},
		{"f.json", json.Bytes(), 5, []string{"format", "json", "schema", "id BIGINT, name STRING, day INT"}},
		{"f.txt", text.Bytes(), 3, []string{"format", "text"}},
		{"whole.txt", text.Bytes(), 0, []string{"format", "text", "wholetext", "true"}},
		{"several.csv", csv.Bytes(), 0, []string{"format", "csv", "header", "true", "multiLine", "true", "schema", "id BIGINT, name STRING, day INT"}},
		{"small.csv", csv.Bytes()[:1000], 0, []string{"format", "csv", "header", "true", "schema", "id BIGINT, name STRING, day INT"}},
		{"f.csv.gz", packed.Bytes(), 5, []string{"format", "text"}},
		{"f.parquet", columns.Bytes(), 3, []string{"format", "parquet", "schema", "id BIGINT, name STRING, day INT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			require.NoError(t, os.WriteFile(path, c.data, 0o644))
			opts := parse(t, c.args...)
			f := fileOf(t, path)
			schema := opts.Schema()
			if schema == nil {
				schema = batch.NewSchema(batch.Field{Name: "value", Type: batch.Type{Kind: batch.String}, Nullable: true})
			}
			schema = WithMetadata(schema)
			parts, err := OpenParts(t.Context(), store.Open, f, schema, opts)
			require.NoError(t, err)
			if c.parts == 0 {
				require.Nil(t, parts)
				return
			}
			r, err := OpenFile(t.Context(), store.Open, f, schema, opts, nil)
			require.NoError(t, err)
			want := rows(t, r)
			var got []string
			number := 0
			for spare := (Piece{}); ; number++ {
				piece, err := parts.Cut(t.Context(), spare)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				fork, err := parts.Fork(nil)
				require.NoError(t, err)
				fork.Take(piece)
				got = append(got, rows(t, fork)...)
				spare = piece
			}
			require.Equal(t, want, got)
			require.GreaterOrEqual(t, number, c.parts)
			require.NoError(t, parts.Close())
		})
	}
}
