package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/format"
)

// texts takes a file apart as texts only.
func texts(r io.Reader, opts Options) ([][]string, error) {
	d, err := opts.compile()
	if err != nil {
		return nil, err
	}
	s := newScanner(r, d)
	s.width = 64
	var out [][]string
	for {
		err := s.next(7)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		for i, rec := range s.recs {
			row := make([]string, min(int(rec.fields), s.width))
			for c := range row {
				row[c] = string(s.text(s.fields[i*s.width+c]))
			}
			out = append(out, row)
		}
	}
}

// rfc is the dialect in which this package and encoding/csv agree, but for carriage returns.
func rfc(multiLine bool) Options {
	o := DefaultOptions()
	o.Escape, o.MultiLine = '"', multiLine
	return o
}

// FuzzScanner: no panic, however the bytes are cut into reads the same records, and encoding/csv's records where it finds
// nothing to object to.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "\"a\",\"b\"\n", "\"a\"\"b\",c\n", "\"a\nb\",c\n\n", "a\r\nb\rc\n", "\"a\\\"b\",c", "\"", "\"\"", "a,\"b\" c,d\n",
		"\xEF\xBB\xBFa\n", "#x\na\n", "\"a\\\\\",b\n", " \"a\" , b \n", ",,\n,\n", "\"a\"\"\",b\n", "a\x00b,\xff\n",
	} {
		f.Add([]byte(seed), byte(0))
		f.Add([]byte(seed), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, flags byte) {
		opts := DefaultOptions()
		opts.MultiLine = flags&1 != 0
		if flags&2 != 0 {
			opts.Escape = '"'
		}
		if flags&4 != 0 {
			opts.Sep = "::"
		}
		if flags&8 != 0 {
			opts.Comment = '#'
		}
		opts.IgnoreLeadingWhiteSpace, opts.IgnoreTrailingWhiteSpace = flags&16 != 0, flags&32 != 0
		if flags&64 != 0 && !opts.MultiLine {
			opts.LineSep = ";"
		}
		whole, err := texts(bytes.NewReader(data), opts)
		cut, errCut := texts(iotest.OneByteReader(bytes.NewReader(data)), opts)
		require.Equal(t, err, errCut)
		require.Equal(t, whole, cut)
		if bytes.ContainsAny(data, "\r") || bytes.HasPrefix(data, []byte(format.ByteOrderMark)) || bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
			return
		}
		std := stdcsv.NewReader(bytes.NewReader(data))
		std.FieldsPerRecord = -1
		want, err := std.ReadAll()
		if err != nil {
			return
		}
		got, err := texts(bytes.NewReader(data), rfc(true))
		require.NoError(t, err)
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i][:min(len(want[i]), 64)], got[i])
		}
	})
}

// FuzzReader: no panic and no unbounded memory with types, patterns and modes.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a,b,c,d,e\n1,2.5,2024-01-02,true,x\n"), byte(0))
	f.Add([]byte("e,d\n\"x\",TRUE\n,\n1,2,3\n"), byte(1))
	schema := schemaOf(f, "a INT, b DOUBLE, c DATE, d BOOLEAN, e STRING, t TIMESTAMP, p DECIMAL(10,2), _corrupt_record STRING")
	f.Fuzz(func(t *testing.T, data []byte, flags byte) {
		opts := DefaultOptions()
		opts.Header = flags&1 == 0
		opts.MultiLine = flags&2 != 0
		opts.Mode = format.Mode((flags >> 2) % 3)
		if flags&32 != 0 {
			opts.TimestampFormat = "yyyy[-MM[-dd]][ HH:mm[:ss[.SSSSSS]]][ XXX]"
		}
		res := readAll(t, bytes.NewReader(data), schema, opts)
		var in Inference
		if Infer(bytes.NewReader(data), opts, &in) == nil && res.err == nil && opts.Header && len(in.Schema().Fields) > 0 {
			// What was inferred from the whole of a file reads it without errors of type.
			again := readAll(t, bytes.NewReader(data), in.Schema(), Options{
				Sep: ",", Quote: '"', Escape: '\\', Header: true, MaxColumns: DefaultMaxColumns, NaNValue: "NaN",
				PositiveInf: "Inf", NegativeInf: "-Inf",
				TextOptions: format.TextOptions{MultiLine: opts.MultiLine, TimestampFormat: opts.TimestampFormat},
			})
			for _, e := range again.errors {
				require.NotContains(t, e, "is no integer")
				require.NotContains(t, e, "is no long")
				require.NotContains(t, e, "is no double")
				require.NotContains(t, e, "is no boolean")
			}
		}
	})
}

// TestAgainstEncodingCSV writes random records with encoding/csv and reads them back.
func TestAgainstEncodingCSV(t *testing.T) {
	cell := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9," \n;]{0,20}`))
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOfN(rapid.SliceOfN(cell, 1, 8), 0, 20).Draw(t, "records")
		var want [][]string
		var b bytes.Buffer
		w := stdcsv.NewWriter(&b)
		for _, rec := range records {
			for i := range rec {
				rec[i] = strings.ReplaceAll(rec[i], "\r", "")
			}
			if len(rec) == 1 && rec[0] == "" {
				continue // a blank line
			}
			if err := w.Write(rec); err != nil {
				t.Fatal(err)
			}
			want = append(want, rec)
		}
		w.Flush()
		if bytes.HasPrefix(b.Bytes(), []byte(format.ByteOrderMark)) {
			t.Skip("begins with a byte-order mark")
		}
		got, err := texts(&b, rfc(true))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
		for i := range want {
			if strings.Join(got[i], "\x00") != strings.Join(want[i], "\x00") {
				t.Fatalf("record %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}
