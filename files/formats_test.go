package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"lakesql/batch"
	"lakesql/format/csv"
	"lakesql/format/parquet"
	"lakesql/store"
)

// formatOptions are those of another format than CSV.
func formatOptions(t *testing.T, args map[string]string) *Options {
	o, err := ParseOptions(args)
	require.NoError(t, err)
	return o
}

// readFolder infers the schema of a folder's files, and reads them.
func readFolder(t *testing.T, dir string, o *Options) (*batch.Schema, []string) {
	list, waiting, err := newSet(t, store.FileURI(dir), o).List(t.Context())
	require.NoError(t, err)
	list = append(list, waiting...)
	schema, err := InferSchema(t.Context(), store.Open, list, o)
	require.NoError(t, err)
	r, err := Read(t.Context(), store.Open, list, schema, o, nil)
	require.NoError(t, err)
	return schema, rows(t, r)
}

// putParquet writes a file whose rows are read from texts.
func putParquet(t *testing.T, path, columns string, records ...[]string) {
	fields, err := batch.ParseFields(columns)
	require.NoError(t, err)
	schema := batch.NewSchema(fields...)
	b := batch.NewBuilder(schema)
	for _, record := range records {
		for i, text := range record {
			v := b.Column(i)
			if text == "NULL" {
				v.AppendNull()
				continue
			}
			require.NoError(t, csv.AppendValue(v, text, csv.DefaultOptions()))
		}
	}
	var out bytes.Buffer
	w, err := parquet.NewWriter(&out, schema, parquet.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(b.Finish()))
	_, err = w.Close()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
}

func TestParquetFiles(t *testing.T) {
	dir := t.TempDir()
	putParquet(t, filepath.Join(dir, "day=2024-01-02", "a.parquet"), "id INT, name STRING", []string{"1", "ann"}, []string{"NULL", "bob"})
	putParquet(t, filepath.Join(dir, "day=2024-01-03", "b.parquet"), "Name STRING, ID BIGINT, price DECIMAL(6,2)", []string{"cat", "5000000000", "1.50"})
	o := formatOptions(t, map[string]string{"format": "parquet"})
	schema, got := readFolder(t, dir, o)
	require.Equal(t, "id long, name string, price decimal(6,2), day date", schema.String())
	require.Equal(t, []string{"1|ann|NULL|2024-01-02", "NULL|bob|NULL|2024-01-02", "5000000000|cat|1.50|2024-01-03"}, got)

	narrow := formatOptions(t, map[string]string{"format": "parquet", "schema": "price DECIMAL(10,4)"})
	path := filepath.Join(dir, "day=2024-01-03", "b.parquet")
	r, err := OpenFile(t.Context(), store.Open, fileOf(t, path), narrow.Schema(), narrow, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"Name", "ID", "day"}, r.Extra())
	require.Equal(t, []string{"1.5000"}, rows(t, r))
}

func TestParquetFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	putParquet(t, filepath.Join(dir, "a.parquet"), "id STRING", []string{"x"})
	putParquet(t, filepath.Join(dir, "b.parquet"), "id INT", []string{"1"})
	put(t, filepath.Join(dir, "c.parquet"), "PAR1 is how it begins, and no more")
	o := formatOptions(t, map[string]string{"format": "parquet", "schema": "id INT"})
	for name, want := range map[string]string{"a.parquet": "id", "c.parquet": "damaged"} {
		r, err := OpenFile(t.Context(), store.Open, fileOf(t, filepath.Join(dir, name)), o.Schema(), o, nil)
		if err == nil {
			_, err = r.Next(t.Context())
		}
		var bad *UnreadableError
		require.ErrorAs(t, err, &bad, name)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "c.parquet")))
	list, waiting, err := newSet(t, store.FileURI(dir), o).List(t.Context())
	require.NoError(t, err)
	_, err = InferSchema(t.Context(), store.Open, append(list, waiting...), formatOptions(t, map[string]string{"format": "parquet"}))
	require.ErrorContains(t, err, "b.parquet")
	require.ErrorContains(t, err, "schemaHints")
}

func TestParquetFileCutShortWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	var records [][]string
	for range 3 * batch.MaxRows {
		records = append(records, []string{"1"})
	}
	putParquet(t, path, "id INT", records...)
	o := formatOptions(t, map[string]string{"format": "parquet", "schema": "id INT"})
	r, err := OpenFile(t.Context(), store.Open, fileOf(t, path), o.Schema(), o, nil)
	require.NoError(t, err)
	_, err = r.Next(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, 10))
	for err == nil {
		_, err = r.Next(t.Context())
	}
	var changed *ChangedError
	var bad *UnreadableError
	require.True(t, errors.As(err, &changed) || errors.As(err, &bad), "%v", err)
	require.ErrorContains(t, err, "a.parquet")
}

func TestTextFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "kind=x", "a.txt"), "one\r\n\ntwo, three")
	schema, got := readFolder(t, dir, formatOptions(t, map[string]string{"format": "text"}))
	require.Equal(t, "value string, kind string", schema.String())
	require.Equal(t, []string{"one|x", "|x", "two, three|x"}, got)
	_, got = readFolder(t, dir, formatOptions(t, map[string]string{"format": "text", "wholeText": "true", "schema": "doc STRING"}))
	require.Equal(t, []string{"one\r\n\ntwo, three|x"}, got)
}

func TestCharacterSets(t *testing.T) {
	const text = "name,no\nMüller €,1\nŁódź,2\n"
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	require.NoError(t, err)
	utf32le, err := utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewEncoder().String(text)
	require.NoError(t, err)
	latin, err := charmap.Windows1252.NewEncoder().String("name,no\nMüller €,1\n")
	require.NoError(t, err)
	for _, c := range []struct {
		name, content string
		want          []string
	}{
		{"UTF-16", utf16, []string{"Müller €|1", "Łódź|2"}},
		{"UTF-16LE", utf16, []string{"Müller €|1", "Łódź|2"}},
		{"UTF-32", utf32le, []string{"Müller €|1", "Łódź|2"}},
		{"Cp1252", latin, []string{"Müller €|1"}},
		{"windows-1252", latin, []string{"Müller €|1"}},
		{"utf-8", text, []string{"Müller €|1", "Łódź|2"}},
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "a.csv"), c.content)
		schema, got := readFolder(t, dir, formatOptions(t, map[string]string{"format": "csv", "header": "true", "encoding": c.name}))
		require.Equal(t, "name string, no integer", schema.String(), c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestSnappyAndDeflate(t *testing.T) {
	const text = "id\n1\n2\n"
	dir := t.TempDir()
	var framed, inflated bytes.Buffer
	w := snappy.NewBufferedWriter(&framed)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	z := zlib.NewWriter(&inflated)
	_, err = z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	var hadoop []byte // two blocks, the first of two chunks
	for _, block := range [][]string{{"id", "\n1\n"}, {"2\n"}} {
		size := 0
		for _, chunk := range block {
			size += len(chunk)
		}
		hadoop = binary.BigEndian.AppendUint32(hadoop, uint32(size))
		for _, chunk := range block {
			compressed := snappy.Encode(nil, []byte(chunk))
			hadoop = append(binary.BigEndian.AppendUint32(hadoop, uint32(len(compressed))), compressed...)
		}
	}
	o := formatOptions(t, map[string]string{"format": "csv", "header": "true", "schema": "id INT"})
	for name, content := range map[string]string{"framed.csv.snappy": framed.String(), "hadoop.csv.snappy": string(hadoop), "a.csv.deflate": inflated.String()} {
		put(t, filepath.Join(dir, name), content)
		r, err := OpenFile(t.Context(), store.Open, fileOf(t, filepath.Join(dir, name)), o.Schema(), o, nil)
		require.NoError(t, err, name)
		require.Equal(t, []string{"1", "2"}, rows(t, r), name)
	}
	for name, content := range map[string]string{
		"cut.csv.snappy": string(hadoop[:len(hadoop)-1]), "no.csv.snappy": "plain text that is none", "short.csv.snappy": string(hadoop[:5]),
	} {
		put(t, filepath.Join(dir, name), content)
		r, err := OpenFile(t.Context(), store.Open, fileOf(t, filepath.Join(dir, name)), o.Schema(), o, nil)
		if err == nil {
			_, err = r.Next(t.Context())
		}
		require.ErrorContains(t, err, "its name says snappy", name)
	}
}
