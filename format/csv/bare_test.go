package csv

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/format"
)

// TestBareTextsAreReadAlike: what is found by LF and separators alone is what the general way finds, and lies in the same lines.
func TestBareTextsAreReadAlike(t *testing.T) {
	type found struct {
		texts   []string
		line    int64
		raw     string
		records int32
	}
	all := func(text string, bare bool, maxRows int) (out []found, err error) {
		opts := rfc(false)
		opts.MaxColumns = 20
		d, err := opts.compile()
		require.NoError(t, err)
		require.True(t, d.bare)
		d.bare = bare
		s := newScanner(iotest.OneByteReader(strings.NewReader(text)), d)
		s.in.Buf = make([]byte, 24+format.Slack) // it moves and grows
		s.width = 3
		for {
			if err := s.next(maxRows); err != nil {
				if err == io.EOF {
					err = nil
				}
				return out, err
			}
			for i, rec := range s.recs {
				f := found{line: s.lineOf(rec), raw: string(s.raw(rec)), records: rec.fields}
				for c := range min(int(rec.fields), s.width) {
					f.texts = append(f.texts, string(s.text(s.fields[i*s.width+c])))
				}
				out = append(out, f)
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([a,\n \x80-\x{ff}#]{0,40}[,\n]{0,3}("|\r\n)?){0,8}`).Draw(rt, "text")
		maxRows := rapid.IntRange(1, 9).Draw(rt, "rows")
		want, wantErr := all(text, false, maxRows)
		got, err := all(text, true, maxRows)
		require.Equal(rt, wantErr, err)
		require.Equal(rt, want, got)
	})
}

func TestZerosAreFoundInEveryByte(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x, want := uint64(0), uint64(0)
		for i := range 8 {
			b := rapid.SampledFrom([]byte{0, 0, 1, 0x7f, 0x80, 0xff}).Draw(rt, "byte")
			x |= uint64(b) << (8 * i)
			if b == 0 {
				want |= 0x80 << (8 * i)
			}
		}
		require.Equal(rt, want, zeros(x))
	})
}
