package files

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/integration/shared"
	"lakesql/store"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// fileOf is the file as a listing sees it.
func fileOf(t testing.TB, path string) File {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return File{URI: store.FileURI(path), Size: info.Size(), ModTime: info.ModTime()}
}

func rows(t testing.TB, r Reader) []string {
	t.Helper()
	var out []string
	for {
		b, err := r.Next(t.Context())
		if err == io.EOF {
			require.NoError(t, r.Close())
			require.NoError(t, r.Close())
			return out
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			row := b.Row(i)
			cells := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				if cells[c] = "NULL"; !v.IsNull(row) {
					cells[c] = v.Format(row)
				}
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
}

func TestReadLesson(t *testing.T) {
	dir := shared.Path(t, "data", "lesson")
	opts := parse(t, "header", "true")
	list, _, err := newSet(t, store.FileURI(dir), opts).List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	schema, err := InferSchema(t.Context(), store.Open, list, opts)
	require.NoError(t, err)
	require.Equal(t, "transaction_id integer, item string, amount double", typesOf(schema))
	r, err := Read(t.Context(), store.Open, list, schema, opts, nil)
	require.NoError(t, err)
	require.Len(t, rows(t, r), 4)
	require.Empty(t, r.Extra())
}

func typesOf(schema *batch.Schema) string {
	var out []string
	for _, f := range schema.Fields {
		out = append(out, f.Name+" "+f.Type.String())
	}
	return strings.Join(out, ", ")
}

func TestReadPartitionsAndDifferentHeaders(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "region=eu", "day=1", "a.csv"), "id,name\n1,x\n2,y\n")
	put(t, filepath.Join(dir, "region=a%2Fb c", "day="+hivePartitionNull, "b.csv"), "NAME,more,id\nz,9,3.5\n")
	opts := parse(t, "header", "true")
	list := []File{
		fileOf(t, filepath.Join(dir, "region=eu", "day=1", "a.csv")),
		fileOf(t, filepath.Join(dir, "region=a%2Fb c", "day="+hivePartitionNull, "b.csv")),
	}
	schema, err := InferSchema(t.Context(), store.Open, list, opts)
	require.NoError(t, err)
	require.Equal(t, "id double, name string, more integer, region string, day integer", typesOf(schema))
	r, err := Read(t.Context(), store.Open, list, schema, opts, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"1|x|NULL|eu|1", "2|y|NULL|eu|1", "3.5|z|9|a/b c|NULL"}, rows(t, r))

	narrow, err := InferSchema(t.Context(), store.Open, list[:1], opts)
	require.NoError(t, err)
	var bad []string
	r, err = Read(t.Context(), store.Open, list, narrow, opts, func(f File, e RowError) {
		bad = append(bad, filepath.Base(f.URI)+" "+e.Column+" "+e.Message)
	})
	require.NoError(t, err)
	require.Equal(t, []string{"1|x|eu|1", "2|y|eu|1", "NULL|z|a/b c|NULL"}, rows(t, r))
	require.Equal(t, []string{"more"}, r.Extra())
	require.Equal(t, []string{`b.csv id "3.5" is no integer`}, bad)

	r, err = OpenFile(t.Context(), store.Open, list[0], &batch.Schema{Fields: narrow.Fields[:1]}, opts, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"name", "region", "day"}, r.Extra())
	require.NoError(t, r.Close())

	opts = parse(t, "header", "true", "partitionColumns", "day", "schemaHints", "id STRING, later DATE")
	schema, err = InferSchema(t.Context(), store.Open, list, opts)
	require.NoError(t, err)
	require.Equal(t, "id string, name string, more integer, day integer, later date", typesOf(schema))

	opts = parse(t, "header", "true", "recursiveFileLookup", "true")
	schema, err = InferSchema(t.Context(), store.Open, list, opts)
	require.NoError(t, err)
	require.Equal(t, "id double, name string, more integer", typesOf(schema))
}

func TestPartitionThatDoesNotFit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "day=x", "a.csv")
	put(t, path, "id\n1\n")
	opts := parse(t, "header", "true")
	schema, err := parseColumns("id INT, day INT")
	require.NoError(t, err)
	_, err = OpenFile(t.Context(), store.Open, fileOf(t, path), schema, opts, nil)
	var bad *UnreadableError
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, `folder day=x, column "day": "x" is no integer`)
}

func TestInferSchemaOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "1,x\n")
	list := []File{fileOf(t, path)}
	for _, tt := range []struct {
		opts []string
		want string
	}{
		{nil, "_c0 integer, _c1 string"},
		{[]string{"inferColumnTypes", "false"}, "_c0 string, _c1 string"},
		{[]string{"schema", "id BIGINT, name STRING"}, "id long, name string"},
	} {
		schema, err := InferSchema(t.Context(), store.Open, list, parse(t, tt.opts...))
		require.NoError(t, err)
		require.Equal(t, tt.want, typesOf(schema))
	}
	_, err := InferSchema(t.Context(), store.Open, nil, parse(t))
	require.ErrorIs(t, err, ErrNoData)
	put(t, path, "\n")
	_, err = InferSchema(t.Context(), store.Open, []File{fileOf(t, path)}, parse(t))
	require.ErrorIs(t, err, ErrNoData)
}

func TestReadCompressed(t *testing.T) {
	dir := t.TempDir()
	text := "id\n1\n2\n"
	var zipped bytes.Buffer
	for range 2 { // gzip files may be put one behind the other
		zw := gzip.NewWriter(&zipped)
		_, err := zw.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, zw.Close())
		text = "3\n"
	}
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	put(t, filepath.Join(dir, "a.csv.gz"), zipped.String())
	put(t, filepath.Join(dir, "b.csv.ZST"), string(enc.EncodeAll([]byte("id\n4\n"), nil)))
	put(t, filepath.Join(dir, "g.csv.bz2"), "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x77\x9a\x1a\x18\x00\x00\x02\x49\x00\x00\x10\x02\x00\x04\x20\x20\x00\x30\xcd\x34\x19\x90\xae\x38\xbb\x92\x29\xc2\x84\x83\xbc\xd0\xd0\xc0")
	put(t, filepath.Join(dir, "c.csv.gz"), "no gzip")
	put(t, filepath.Join(dir, "d.csv.lz4"), "x")
	put(t, filepath.Join(dir, "e.csv.gz"), zipped.String()[:zipped.Len()/2])
	put(t, filepath.Join(dir, "f.csv.gz"), "")
	require.NoError(t, enc.Close())
	schema, err := parseColumns("id INT")
	require.NoError(t, err)
	opts := parse(t, "header", "true")
	open := func(name string) (Reader, error) {
		return OpenFile(t.Context(), store.Open, fileOf(t, filepath.Join(dir, name)), schema, opts, nil)
	}
	r, err := open("a.csv.gz")
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "3"}, rows(t, r))
	r, err = open("b.csv.ZST")
	require.NoError(t, err)
	require.Equal(t, []string{"4"}, rows(t, r))
	r, err = open("g.csv.bz2")
	require.NoError(t, err)
	require.Equal(t, []string{"5"}, rows(t, r))
	r, err = open("f.csv.gz")
	require.NoError(t, err)
	require.Empty(t, rows(t, r))
	var bad *UnreadableError
	for name, want := range map[string]string{"c.csv.gz": "its name says gzip", "d.csv.lz4": ".lz4 are not supported yet", "e.csv.gz": "its name says gzip"} {
		r, err = open(name)
		if err == nil {
			_, err = r.Next(t.Context())
		}
		require.ErrorAs(t, err, &bad, name)
		require.ErrorContains(t, err, want)
	}
}

func TestReadChangedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.csv")
	opts := parse(t, "header", "true")
	schema, err := parseColumns("id INT")
	require.NoError(t, err)
	open := func(f File) (Reader, error) { return OpenFile(t.Context(), store.Open, f, schema, opts, nil) }
	put(t, path, "id\n1\n")
	f := fileOf(t, path)

	r, err := open(f)
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, rows(t, r))

	milliseconds := f
	milliseconds.ModTime = time.UnixMilli(f.ModTime.UnixMilli())
	_, err = open(milliseconds)
	require.NoError(t, err, "logs keep milliseconds")

	r, err = open(f)
	require.NoError(t, err)
	put(t, path, "id\n1\n2\n") // while it is read
	_, err = r.Next(t.Context())
	for err == nil {
		_, err = r.Next(t.Context())
	}
	var changed *ChangedError
	require.ErrorAs(t, err, &changed)
	require.EqualValues(t, 7, changed.Now.Size)
	require.ErrorContains(t, err, "a%20b.csv")
	_, again := r.Next(t.Context())
	require.Equal(t, err, again)

	_, err = open(f)
	require.ErrorAs(t, err, &changed)
	touched := fileOf(t, path)
	require.NoError(t, os.Chtimes(path, time.Time{}, touched.ModTime.Add(time.Second)))
	_, err = open(touched)
	require.ErrorAs(t, err, &changed)

	require.NoError(t, os.Remove(path))
	var gone *GoneError
	_, err = open(f)
	require.ErrorAs(t, err, &gone)
	_, err = InferSchema(t.Context(), store.Open, []File{f}, opts)
	require.ErrorAs(t, err, &gone)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestReadTruncatedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "id\n"+strings.Repeat("1\n", 2*rangeBytes))
	schema, err := parseColumns("id INT")
	require.NoError(t, err)
	r, err := OpenFile(t.Context(), store.Open, fileOf(t, path), schema, parse(t, "header", "true"), nil)
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, rangeBytes))
	for err == nil {
		_, err = r.Next(t.Context())
	}
	var changed *ChangedError
	require.ErrorAs(t, err, &changed)
	require.NoError(t, r.Close())
}

func TestReadWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "id\n1\n")
	require.NoError(t, os.Chmod(path, 0))
	_, err := OpenFile(t.Context(), store.Open, fileOf(t, path), &batch.Schema{}, parse(t, "header", "true"), nil)
	var bad *UnreadableError
	require.ErrorAs(t, err, &bad)
}

func TestReadFailFast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "id\n1\nx\n")
	schema, err := parseColumns("id INT")
	require.NoError(t, err)
	r, err := Read(t.Context(), store.Open, []File{fileOf(t, path)}, schema, parse(t, "header", "true", "mode", "FAILFAST"), nil)
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	var bad *RowsError
	require.ErrorAs(t, err, &bad)
	require.EqualValues(t, 3, bad.Err.Row.Line)
	require.ErrorContains(t, err, "a.csv: [MALFORMED_RECORD_IN_PARSING] line 3, column \"id\": \"x\" is no integer")
	require.NoError(t, r.Close())
}

func TestReadCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "id\n1\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := OpenFile(ctx, store.Open, fileOf(t, path), &batch.Schema{}, parse(t, "header", "true"), nil)
	require.ErrorIs(t, err, context.Canceled)
}

// TestReadJSON reads documents of lines and of many lines, packed, and from key=value folders.
func TestReadJSON(t *testing.T) {
	dir := t.TempDir()
	lines := filepath.Join(dir, "day=1", "a.json")
	put(t, lines, "{\"id\":1,\"tags\":[\"x\"],\"day\":7}\n{\"id\":2,\"at\":{\"x\":1.5}}\n")
	packed := filepath.Join(dir, "day=2", "b.json.gz")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(`{"id":12345678901,"more":true}`))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	put(t, packed, b.String())
	opts := parse(t, "format", "json")
	list := []File{fileOf(t, lines), fileOf(t, packed)}
	schema, err := InferSchema(t.Context(), store.Open, list, opts)
	require.NoError(t, err)
	require.Equal(t, "id long, tags array<string>, day integer, at struct<x:double>, more boolean", typesOf(schema))
	r, err := Read(t.Context(), store.Open, list, schema, opts, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`1|["x"]|1|NULL|NULL`, `2|NULL|1|{"x":1.5}|NULL`, "12345678901|NULL|2|NULL|true"}, rows(t, r))
	require.Empty(t, r.Extra())

	narrow := batch.NewSchema(schema.Fields[0])
	r, err = Read(t.Context(), store.Open, list, narrow, opts, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2", "12345678901"}, rows(t, r))
	require.Equal(t, []string{"tags", "at", "day", "more"}, r.Extra())

	notJSON := filepath.Join(dir, "c.csv")
	put(t, notJSON, "id,name\n1,a\n")
	_, err = InferSchema(t.Context(), store.Open, []File{fileOf(t, notJSON)}, opts)
	var bad *UnreadableError
	require.ErrorAs(t, err, &bad)
	require.ErrorContains(t, err, "is this a JSON file?")
	r, err = Read(t.Context(), store.Open, []File{fileOf(t, notJSON)}, narrow, parse(t, "format", "json", "mode", "FAILFAST"), nil)
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	var row *RowsError
	require.ErrorAs(t, err, &row)
	require.ErrorContains(t, err, "c.csv: [MALFORMED_RECORD_IN_PARSING] line 1: the record is malformed")
}

func TestReadNotCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "\xff\xfei\x00d\x00")
	_, err := OpenFile(t.Context(), store.Open, fileOf(t, path), &batch.Schema{}, parse(t, "header", "true"), nil)
	var bad *UnreadableError
	require.ErrorAs(t, err, &bad)
	var malformed *format.Error
	require.ErrorAs(t, err, &malformed)
	require.ErrorContains(t, err, "UTF-16")
}

// TestFilesAreLeftOut has a file that is gone and one that is no gzip, with the options that leave them out and without.
func TestFilesAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.csv"), "id\n1\n")
	put(t, filepath.Join(dir, "b.csv.gz"), "no gzip")
	put(t, filepath.Join(dir, "c.csv"), "id\n3\n")
	var list []File
	for _, name := range []string{"a.csv", "b.csv.gz", "c.csv"} {
		list = append(list, fileOf(t, filepath.Join(dir, name)))
	}
	list = append(list, File{URI: store.FileURI(filepath.Join(dir, "gone.csv")), Size: 5})
	read := func(options ...string) ([]string, []string, error) {
		o := parse(t, append(options, "header", "true")...)
		schema, err := InferSchema(t.Context(), store.Open, list, o)
		if err != nil {
			return nil, nil, err
		}
		var told []string
		r, err := Read(t.Context(), store.Open, list, schema, o, func(f File, e RowError) { told = append(told, e.Message) })
		require.NoError(t, err)
		return rows(t, r), told, nil
	}
	_, _, err := read("ignoreMissingFiles", "true")
	require.ErrorContains(t, err, "b.csv.gz cannot be read")
	_, _, err = read("ignoreCorruptFiles", "true")
	require.ErrorContains(t, err, "gone.csv was listed (5 bytes) and is not there any more")
	got, told, err := read("ignoreMissingFiles", "true", "ignoreCorruptFiles", "true")
	require.NoError(t, err)
	require.Equal(t, []string{"1", "3"}, got)
	require.Len(t, told, 2)
	require.Contains(t, told[0], "the file is left out: file ")
	require.Contains(t, told[0], "b.csv.gz")
	require.Contains(t, told[1], "gone.csv")
}
