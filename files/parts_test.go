package files

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
		open := func(o *told, size int) (partedRows, bool) {
			r, err := opts.lineReader(strings.NewReader(data), int64(size), schema, opts.rescued(File{URI: "file:///in/f"}, nil, schema), o.hear)
			if err != nil {
				o.err = err.Error()
				return nil, false
			}
			return lines{r}, true
		}
		var want, got told
		if r, ok := open(&want, len(data)); ok {
			want.read(r)
			want.rejected = r.Rejected()
		}
		if r, ok := open(&got, rapid.IntRange(4, 60).Draw(t, "first")); ok {
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
	const n = 2000
	schema := batch.NewSchema(batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true}, batch.Field{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true})
	cells := batch.NewBuilder(schema)
	chance := rand.NewChaCha8([32]byte{})
	var csv, json, text, columns, packed bytes.Buffer
	csv.WriteString("id,name\n")
	for i := range n {
		random := make([]byte, 1200) // few rows are a large file, packed too
		_, _ = chance.Read(random)   // it never fails
		name := hex.EncodeToString(random)
		fmt.Fprintf(&csv, "%d,%s\n", i, name)
		fmt.Fprintf(&json, "{\"id\":%d,\"name\":\"%s\"}\n", i, name)
		fmt.Fprintf(&text, "%d %s\n", i, name)
		require.NoError(t, cells.AppendRow(int64(i), name))
	}
	zip, err := gzip.NewWriterLevel(&packed, gzip.HuffmanOnly)
	require.NoError(t, err)
	_, err = zip.Write(append(csv.Bytes(), text.Bytes()...))
	require.NoError(t, err)
	require.NoError(t, zip.Close())
	w, err := parquet.NewWriter(&columns, schema, parquet.WriterOptions{RowGroupRows: n / 3, Compression: parquet.Uncompressed})
	require.NoError(t, err)
	require.NoError(t, w.Write(cells.Finish()))
	_, err = w.Close()
	require.NoError(t, err)
	for _, c := range []struct {
		name  string
		data  []byte
		parts int
		args  []string
	}{
		{"f.csv", csv.Bytes(), 3, []string{"format", "csv", "header", "true", "schema", "id BIGINT, name STRING, day INT"}},
		{"f.json", json.Bytes(), 3, []string{"format", "json", "schema", "id BIGINT, name STRING, day INT"}},
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

// TestRowGroupOfAChangedFile: a row group that is read after the last was dealt out is not of a file that has changed since.
func TestRowGroupOfAChangedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.parquet")
	const n = 600_000
	ids := batch.NewVector(batch.Type{Kind: batch.Int64}, n)
	for i := range n {
		ids.AppendInt64(int64(i) << 20)
	}
	schema := batch.NewSchema(batch.Field{Name: "id", Type: ids.Type, Nullable: true})
	var data bytes.Buffer
	w, err := parquet.NewWriter(&data, schema, parquet.WriterOptions{RowGroupRows: n / 2, Compression: parquet.Uncompressed})
	require.NoError(t, err)
	require.NoError(t, w.Write(&batch.Batch{Schema: schema, Cols: []*batch.Vector{ids}, Len: n}))
	_, err = w.Close()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data.Bytes(), 0o644))
	parts, err := OpenParts(t.Context(), store.Open, fileOf(t, path), schema, parse(t, "format", "parquet", "schema", "id BIGINT"))
	require.NoError(t, err)
	defer parts.Close()
	var pieces []Piece
	for {
		piece, err := parts.Cut(t.Context(), Piece{})
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		pieces = append(pieces, piece)
	}
	require.Len(t, pieces, 2)
	fork, err := parts.Fork(nil)
	require.NoError(t, err)
	defer fork.Close()
	fork.Take(pieces[0])
	require.Len(t, rows(t, fork), n/2)
	fork, err = parts.Fork(nil)
	require.NoError(t, err)
	defer fork.Close()
	require.NoError(t, os.Chtimes(path, time.Time{}, time.Unix(1, 0)))
	fork.Take(pieces[1])
	for err == nil {
		_, err = fork.Next(t.Context())
	}
	var changed *ChangedError
	require.ErrorAs(t, err, &changed)
}
