package json

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"lakesql/batch"
	"lakesql/format"

	"github.com/stretchr/testify/require"
)

// endless repeats a text for ever.
type endless string

func (e endless) Read(p []byte) (int, error) {
	n := copy(p, e)
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
	return n, nil
}

// TestEndlessRecord: a file without line ends, or whose bracket or string never closes, is refused before it fills the memory.
func TestEndlessRecord(t *testing.T) {
	for _, in := range []string{`{"a":"`, `{"a":[`, `{"a":{`} {
		for _, multiLine := range []bool{false, true} {
			res := readAll(t, io.MultiReader(strings.NewReader("{}\n"+in), endless("1, ")), schemaOf(t, "a STRING"), with(func(o *Options) { o.MultiLine = multiLine }))
			var malformed *format.Error
			require.ErrorAs(t, res.err, &malformed)
			require.EqualValues(t, 2, malformed.Line)
			require.Contains(t, malformed.Message, "longer than 32 MiB: is this a JSON file?")
		}
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	require.Less(t, mem.HeapSys, uint64(16*format.MaxRecordBytes))
}

// TestManyBatches: rows are neither lost nor doubled where blocks, batches and buffers end.
func TestManyBatches(t *testing.T) {
	const n = 3*batch.MaxRows + 17
	for _, shape := range []string{"lines", "one line", "multiLine", "array"} {
		t.Run(shape, func(t *testing.T) {
			opts := with(func(o *Options) { o.MultiLine = shape == "multiLine" || shape == "array" })
			var docs, want []string
			bad := 0
			for i := range n {
				text := strings.Repeat("y", i%50)
				id := fmt.Sprint(i)
				if i%1000 == 999 {
					id = `"x"`
					bad++
				}
				docs = append(docs, fmt.Sprintf(`{"id":%s,"text":"%s","list":[%d,%d]}`, id, text, i, i+1))
				want = append(want, fmt.Sprintf("%s|%s|[%d,%d]", strings.Replace(id, `"x"`, "NULL", 1), text, i, i+1))
			}
			in := map[string]string{
				"lines": strings.Join(docs, "\n"), "one line": "[" + strings.Join(docs, ",") + "]", "multiLine": strings.Join(docs, "\n"), "array": "[" + strings.Join(docs, ",\n") + "]\n",
			}[shape]
			opts.SizeHint = int64(len(in))
			got := readAll(t, strings.NewReader(in), schemaOf(t, "id INT, text STRING, list ARRAY<INT>"), opts)
			require.NoError(t, got.err)
			require.Equal(t, want, got.rows)
			require.Len(t, got.errors, bad)
			if shape != "one line" {
				require.Equal(t, `2000 id the string "x" is no integer`, got.errors[1])
			}
			require.Equal(t, docs[1999], got.raws[1])
		})
	}
}

// TestLongTexts: batches end early where texts are long; the raw text of an error is whole.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("z", 1<<20)
	in := strings.Repeat(`{"a":"`+long+`"}`+"\n", 40) + `{"a":` + long
	var raw []byte
	opts := with(func(o *Options) { o.OnError = func(e format.RowError) { raw = e.Raw } })
	r, err := NewReader(strings.NewReader(in), schemaOf(t, "a STRING"), opts)
	require.NoError(t, err)
	rows, batches := 0, 0
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Less(t, len(b.Cols[0].Bytes), 2*batchBytes)
		rows += b.Rows()
		batches++
	}
	require.Equal(t, 41, rows)
	require.Greater(t, batches, 3)
	require.Greater(t, len(raw), len(long))
}

func TestFailFast(t *testing.T) {
	opts := with(func(o *Options) {
		o.Mode = format.FailFast
		o.OnError = func(format.RowError) { require.Fail(t, "FAILFAST returns the error") }
	})
	r, err := NewReader(strings.NewReader("{\"a\":1}\n{\"a\":\"x\"}\n"), schemaOf(t, "a INT"), opts)
	require.NoError(t, err)
	_, err = r.Next()
	var bad *format.RecordError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, format.RowError{Line: 2, Column: "a", Raw: []byte(`{"a":"x"}`), Message: `the string "x" is no integer`}, bad.Row)
	_, again := r.Next()
	require.Equal(t, err, again)
}

func TestRejectedAndNoColumns(t *testing.T) {
	r, err := NewReader(strings.NewReader("{}\nx\n{\"a\":1}\n"), &batch.Schema{}, with(func(o *Options) { o.Mode = format.DropMalformed }))
	require.NoError(t, err)
	b, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, 2, b.Rows())
	require.EqualValues(t, 1, r.Rejected())
}

// TestOtherFiles: what is no JSON text is told by its first line, and gives no columns.
func TestOtherFiles(t *testing.T) {
	for _, in := range []string{"\x1f\x8b\x08\x00\x00\n1", "PAR1\x15", "id,name\n1,x\n", "{\x00\"\x00"} {
		res := readAll(t, strings.NewReader(in), schemaOf(t, "a INT"), DefaultOptions())
		require.NoError(t, res.err)
		require.NotEmpty(t, res.errors)
	}
	for _, in := range []string{"\xff\xfe{\x00", "\xfe\xff\x00{"} {
		require.ErrorContains(t, readAll(t, strings.NewReader(in), schemaOf(t, "a INT"), DefaultOptions()).err, "UTF-16")
	}
}

func TestSchemasThatNoFileHas(t *testing.T) {
	_, err := NewReader(strings.NewReader(""), schemaOf(t, "m MAP<INT, STRING>"), DefaultOptions())
	require.ErrorContains(t, err, `column "m": the keys of a map in JSON are strings`)
	_, err = NewReader(strings.NewReader(""), schemaOf(t, "a DATE"), with(func(o *Options) { o.DateFormat = "YYYY" }))
	require.ErrorContains(t, err, "option dateFormat is 'YYYY'")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadErrorsComeThrough(t *testing.T) {
	broken := errors.New("the disk is broken")
	res := readAll(t, io.MultiReader(strings.NewReader("{}\n{"), failing{broken}), schemaOf(t, "a STRING"), DefaultOptions())
	require.ErrorIs(t, res.err, broken)
}
