package text

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format"
)

var schema = batch.NewSchema(batch.Field{Name: "line", Type: batch.Type{Kind: batch.String}, Nullable: true})

func read(t *testing.T, r io.Reader, opts Options) (rows, faults []string) {
	opts.OnError = func(e format.RowError) { faults = append(faults, fmt.Sprintf("%d %s", e.Line, e.Message)) }
	rd, err := NewReader(r, schema, opts)
	require.NoError(t, err)
	for {
		b, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return rows, faults
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			rows = append(rows, b.Cols[0].Format(b.Row(i)))
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		in   string
		opts Options
		want []string
	}{
		{"", Options{}, nil},
		{"\n", Options{}, []string{""}},
		{"a\nb", Options{}, []string{"a", "b"}},
		{"a\r\nb\rc\n\nd\r", Options{}, []string{"a", "b", "c", "", "d"}},
		{"\xEF\xBB\xBFa\n", Options{}, []string{"a"}},
		{"a;b\n;;c", Options{TextOptions: format.TextOptions{LineSep: ";"}}, []string{"a", "b\n", "", "c"}},
		{"a||b|c||", Options{TextOptions: format.TextOptions{LineSep: "||"}}, []string{"a", "b|c"}},
		{"a\r\nb\n", Options{WholeText: true}, []string{"a\r\nb\n"}},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.in), "by bytes": iotest.OneByteReader(strings.NewReader(c.in))} {
			rows, faults := read(t, r, c.opts)
			require.Equal(t, c.want, rows, "%q %s", c.in, name)
			require.Empty(t, faults)
		}
	}
}

func TestManyAndLongLines(t *testing.T) {
	long := strings.Repeat("x", 3*format.BufferBytes)
	rows, _ := read(t, strings.NewReader(strings.Repeat("line\r\n", 20000)+long), Options{})
	require.Len(t, rows, 20001)
	require.Equal(t, long, rows[20000])
}

func TestNoUTF8(t *testing.T) {
	rows, faults := read(t, strings.NewReader("a\nb\xff\nc\n"), Options{})
	require.Equal(t, []string{"a", "b\uFFFD", "c"}, rows)
	require.Equal(t, []string{`2 "b\xff" is no UTF-8; such bytes are read as U+FFFD`}, faults)
	rows, _ = read(t, strings.NewReader("a\nb\xff\nc\n"), Options{TextOptions: format.TextOptions{Mode: format.DropMalformed}})
	require.Equal(t, []string{"a", "c"}, rows)
}

func TestOtherSchemasAreRefused(t *testing.T) {
	for _, fields := range []string{"a STRING, b STRING", "a INT"} {
		parsed, err := batch.ParseFields(fields)
		require.NoError(t, err)
		_, err = NewReader(strings.NewReader(""), batch.NewSchema(parsed...), Options{})
		require.ErrorContains(t, err, "one column")
	}
}
