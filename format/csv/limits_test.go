package csv

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

// TestEndlessRecord: a file without line ends, or whose quote never closes, is refused before it fills the memory.
func TestEndlessRecord(t *testing.T) {
	schema := schemaOf(t, "a STRING")
	for _, opts := range []Options{DefaultOptions(), func() Options {
		o := DefaultOptions()
		o.MultiLine = true
		return o
	}()} {
		res := readAll(t, io.MultiReader(strings.NewReader("x\n\""), endless("x, ")), schema, opts)
		var malformed *format.Error
		require.ErrorAs(t, res.err, &malformed)
		require.EqualValues(t, 2, malformed.Line)
		require.Contains(t, malformed.Message, "longer than 32 MiB")
		require.Empty(t, res.errors)
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	require.Less(t, mem.HeapSys, uint64(16*format.MaxRecordBytes))
}

// TestManyBatches: rows are neither lost nor doubled where blocks, batches and buffers end.
func TestManyBatches(t *testing.T) {
	const n = 3*batch.MaxRows + 17
	for _, mode := range []format.Mode{format.Permissive, format.DropMalformed} {
		for _, multiLine := range []bool{false, true} {
			opts := DefaultOptions()
			opts.Header, opts.Mode, opts.MultiLine = true, mode, multiLine
			var in strings.Builder
			in.WriteString("id,text\n")
			var want []string
			for i := range n {
				text := strings.Repeat("y", i%50)
				switch {
				case i%1000 == 999:
					fmt.Fprintf(&in, "x%d,%s\n", i, text)
					if mode == format.Permissive {
						want = append(want, "NULL|"+orNull(text))
					}
				default:
					fmt.Fprintf(&in, "%d,\"%s\"\n", i, text)
					want = append(want, fmt.Sprintf("%d|%s", i, orNull(text)))
				}
			}
			opts.SizeHint = int64(in.Len())
			schema := schemaOf(t, "id INT, text STRING")
			got := readAll(t, strings.NewReader(in.String()), schema, opts)
			require.NoError(t, got.err)
			require.Equal(t, want, got.rows)
			require.Len(t, got.errors, n/1000)
			require.True(t, strings.HasPrefix(got.errors[1], `2001 id "x1999" is no integer`), got.errors[1])
			require.Equal(t, "x1999,"+strings.Repeat("y", 1999%50), got.raws[1])
		}
	}
}

func orNull(text string) string {
	if text == "" {
		return "NULL"
	}
	return text
}

// TestLongTexts: batches end early where texts are long; the raw text of an error is whole.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("z", 1<<20)
	var in strings.Builder
	for range 40 {
		in.WriteString(long + "\n")
	}
	in.WriteString(long + ",too,many\n")
	var raw []byte
	opts := DefaultOptions()
	opts.OnError = func(e format.RowError) { raw = e.Raw }
	r, err := NewReader(strings.NewReader(in.String()), schemaOf(t, "a STRING"), opts)
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
	opts := DefaultOptions()
	opts.Mode = format.FailFast
	opts.OnError = func(format.RowError) { require.Fail(t, "FAILFAST returns the error") }
	r, err := NewReader(strings.NewReader("1\nx\n3\n"), schemaOf(t, "a INT"), opts)
	require.NoError(t, err)
	_, err = r.Next()
	var bad *format.RecordError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, format.RowError{Line: 2, Column: "a", Raw: []byte("x"), Message: `"x" is no integer`}, bad.Row)
	require.ErrorContains(t, err, "[MALFORMED_RECORD_IN_PARSING] line 2, column \"a\"")
	_, again := r.Next()
	require.Equal(t, err, again)
}

func TestRejected(t *testing.T) {
	opts := DefaultOptions()
	opts.Mode = format.DropMalformed
	r, err := NewReader(strings.NewReader("1,2\nx,y\n3,4\n5\n"), schemaOf(t, "a INT, b INT"), opts)
	require.NoError(t, err)
	b, err := r.Next()
	require.NoError(t, err)
	require.Equal(t, 2, b.Rows())
	require.EqualValues(t, 2, r.Rejected(), "rows, not fields")
}

func TestExtraColumns(t *testing.T) {
	opts := DefaultOptions()
	opts.Header = true
	res := readAll(t, strings.NewReader("id,New,name\n1,2,3\n"), schemaOf(t, "NAME STRING, id INT"), opts)
	require.NoError(t, res.err)
	require.Equal(t, []string{"New"}, res.extra)
	require.Equal(t, []string{"3|1"}, res.rows)
	opts.EnforceSchema = true
	res = readAll(t, strings.NewReader("id,New,name\n1,2,3\n"), schemaOf(t, "a STRING, b INT"), opts)
	require.Equal(t, []string{"name"}, res.extra)
	require.Equal(t, []string{"1|2"}, res.rows)
	require.Equal(t, []string{"2  the record has 3 fields and the schema has 2"}, res.errors)
}

// TestNoColumns: rows are counted where no column is wanted.
func TestNoColumns(t *testing.T) {
	for _, header := range []bool{true, false} {
		opts := DefaultOptions()
		opts.Header = header
		r, err := NewReader(strings.NewReader("a,b\n1,2\n3,4\n"), &batch.Schema{}, opts)
		require.NoError(t, err)
		b, err := r.Next()
		require.NoError(t, err)
		require.Equal(t, map[bool]int{true: 2, false: 3}[header], b.Rows())
	}
}

func TestFormatErrors(t *testing.T) {
	change := func(f func(*Options)) Options {
		o := DefaultOptions()
		f(&o)
		return o
	}
	schema := schemaOf(t, "a STRING")
	for _, tt := range []struct {
		opts     Options
		in, want string
	}{
		{change(func(o *Options) { o.Sep = "" }), "", "option sep is empty"},
		{change(func(o *Options) { o.Sep = "\n" }), "", "a line end cannot separate"},
		{change(func(o *Options) { o.Quote = ',' }), "", "they must differ"},
		{change(func(o *Options) { o.MultiLine, o.LineSep = true, ";" }), "", "multiLine and lineSep together"},
		{change(func(o *Options) { o.MaxColumns = 0 }), "", "maxColumns is 0"},
		{change(func(o *Options) { o.MaxColumns = 2 }), "\na,b,c\n", "line 2: the record has 3 fields and maxColumns is 2"},
		{change(func(o *Options) { o.MaxCharsPerColumn = 3 }), "äöü\näöüß\n", "line 2: a field has 4 characters and maxCharsPerColumn is 3"},
		{DefaultOptions(), "\xff\xfea\x00", "UTF-16"},
		{DefaultOptions(), "\xfe\xff\x00a", "UTF-16"},
	} {
		res := readAll(t, strings.NewReader(tt.in), schema, tt.opts)
		var malformed *format.Error
		require.ErrorAs(t, res.err, &malformed, tt.want)
		require.ErrorContains(t, res.err, tt.want)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestReadErrorsComeThrough(t *testing.T) {
	broken := errors.New("the disk is broken")
	schema := schemaOf(t, "a STRING")
	res := readAll(t, io.MultiReader(strings.NewReader("x\ny"), failing{broken}), schema, DefaultOptions())
	require.ErrorIs(t, res.err, broken)
	res = readAll(t, failing{nil}, schema, DefaultOptions())
	require.ErrorIs(t, res.err, io.ErrNoProgress)
}
