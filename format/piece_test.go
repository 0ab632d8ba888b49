package format

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPiecesBehindALongRecord: they are as short as those before it, and the longest record is as long as it is for a reader that cuts nothing off.
func TestPiecesBehindALongRecord(t *testing.T) {
	lines := func(bytes int) io.Reader { return strings.NewReader(strings.Repeat("short\n", bytes/len("short\n"))) }
	long := func(bytes int) io.Reader { return strings.NewReader(strings.Repeat("x", bytes) + "\n") }
	in := NewInput(io.MultiReader(long(20<<20), lines(20<<20), long(MaxRecordBytes+1)), 0, "is it text?")
	var spare []byte
	line, given := int64(1), 0
	for {
		p, err := in.Cut(spare, line, func(text []byte) int { return LastLineEnd(text, "") })
		if err != nil {
			require.ErrorContains(t, err, "longer than 32 MiB: is it text?")
			require.EqualValues(t, 2+20<<20/len("short\n"), line)
			break
		}
		text := p.Buf[p.Pos:p.End]
		require.Equal(t, line, p.Line)
		require.True(t, bytes.HasSuffix(text, []byte("\n")))
		if given > 0 {
			require.LessOrEqual(t, len(p.Buf), PieceBytes+Slack, "piece %d", given)
		}
		line += CountLines(text, "")
		spare = p.Buf
		given++
	}
	require.Greater(t, given, 4)
}
