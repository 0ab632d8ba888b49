package server

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/sqlext"
)

// brokenReader gives a few bytes at a time, and now and then an error, as a connection with a deadline does.
type brokenReader struct {
	data  []byte
	steps []int // bytes of the next read; 0: an error. Starts over at its end
	at    int
}

var errDeadline = errors.New("deadline")

func (r *brokenReader) Read(p []byte) (int, error) {
	step := r.steps[r.at%len(r.steps)]
	r.at++
	switch {
	case len(r.data) == 0:
		return 0, io.EOF
	case step == 0:
		return 0, errDeadline
	}
	n := copy(p[:min(len(p), step)], r.data)
	r.data = r.data[n:]
	return n, nil
}

// readThrough reads all that a filter gives, in pieces of the sizes given, past every deadline.
func readThrough(f *filter, sizes []int) ([]byte, error) {
	var out []byte
	for i := 0; ; i++ {
		p := make([]byte, sizes[i%len(sizes)])
		n, err := f.Read(p)
		out = append(out, p[:n]...)
		if err != nil && !errors.Is(err, errDeadline) {
			return out, err
		}
	}
}

func newFilter(src io.Reader) *filter {
	return &filter{src: src}
}

// someCommands answers COM_STATISTICS and COM_STMT_FETCH, and knows the prepared statement 1.
type someCommands struct {
	answered [][]byte
	refusals []byte
	most     int
}

func (*someCommands) answers(command byte) bool {
	return command == comStatistics || command == comStmtFetch
}

func (c *someCommands) answer(payload []byte) error {
	c.answered = append(c.answered, payload)
	return nil
}

func (*someCommands) refuses(start []byte, _ int) *mysql.SQLError {
	if len(start) > 1 && start[1] == 1 {
		return nil
	}
	return unknownStatement("a test", 0)
}

func (c *someCommands) refused(command byte, _ *mysql.SQLError, sequence byte) error {
	c.refusals = append(c.refusals, command, sequence)
	return nil
}

func (c *someCommands) largest() int { return c.most }

func (c *someCommands) tooLarge(sequence byte) error {
	c.refusals = append(c.refusals, 0, sequence)
	return nil
}

// genCommand is one command's packets, and what becomes of them.
type genCommand struct{ sent, passed []byte }

var genCommands = rapid.Custom(func(t *rapid.T) genCommand {
	body := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "body")
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0: // another command
		command := rapid.SampledFrom([]byte{comInitDB, comQuery, comFieldList, comPing, comSetOption, 0x20}).Draw(t, "command")
		p := frame(append([]byte{command}, body...), 0)
		return genCommand{p, p}
	case 1: // no command: a packet of a login or of a file
		p := frame(body, rapid.ByteRange(1, 255).Draw(t, "sequence"))
		return genCommand{p, p}
	case 2:
		p := frame(append([]byte{comStmtExecute, 1}, body...), 0)
		passed := bytes.Clone(p)
		if len(passed) > headerBytes+cursorFlagsAt {
			passed[headerBytes+cursorFlagsAt] = 0
		}
		return genCommand{p, passed}
	case 3:
		return genCommand{sent: frame(append([]byte{comStatistics}, body...), 0)}
	default:
		text := rapid.StringN(0, 40, -1).Draw(t, "text")
		stand := append([]byte{comStmtPrepare}, standIn(countMarks(text), len(text))...)
		return genCommand{frame(append([]byte{comStmtPrepare}, text...), 0), frame(stand, 0)}
	}
})

func TestFilterChangesOnlyWhatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, want []byte
		for _, c := range rapid.SliceOf(genCommands).Draw(t, "commands") {
			sent, want = append(sent, c.sent...), append(want, c.passed...)
		}
		steps := append(rapid.SliceOfN(rapid.IntRange(0, 30), 0, 10).Draw(t, "steps"), 1)
		sizes := rapid.SliceOfN(rapid.IntRange(1, 50), 1, 5).Draw(t, "sizes")
		f := newFilter(&brokenReader{data: sent, steps: steps})
		f.commands = &someCommands{most: 1 << 20}
		got, err := readThrough(f, sizes)
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, string(want), string(got))
	})
}

// FuzzFilter: whatever a client sends, no byte of a transfer is touched, and nothing panics.
func FuzzFilter(f *testing.F) {
	f.Add(frame([]byte("\x16SELECT ?"), 0), uint8(3), false)
	f.Add(frame([]byte("\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00"), 0), uint8(1), false)
	f.Add(frame([]byte("\x16data that looks like a command"), 0), uint8(200), true)
	f.Add([]byte{0xff, 0xff, 0xff, 0, 0x16}, uint8(9), false)
	f.Add([]byte{0, 0, 0, 0, 5, 0, 0, 0, 0x16, '?', ',', '\''}, uint8(2), false)
	f.Fuzz(func(t *testing.T, data []byte, step uint8, loading bool) {
		filter := newFilter(&brokenReader{data: data, steps: []int{int(step%7) + 1, 0}})
		filter.commands = &someCommands{most: 1 << 10}
		filter.loading.Store(loading)
		out, err := readThrough(filter, []int{int(step) + 1})
		require.Error(t, err)
		if loading {
			require.True(t, bytes.HasPrefix(data, out))
		}
	})
}

// FuzzMarks: the stand-in of any text has as many parameters as vitess counts when it parses the stand-in.
func FuzzMarks(f *testing.F) {
	f.Add("SELECT * FROM t WHERE a = ? AND b = '?' /* ? */ -- ?\n AND c = ?")
	f.Add("CREATE STREAM s INTO t WITH CHECKPOINT ? AS SELECT * FROM STREAM read_files(?, header => true)")
	f.Add("?")
	f.Add("WAIT FOR STREAM s TIMEOUT ? SECONDS")
	f.Add("CREATE STREAM a.`b?` INTO t WITH CHECKPOINT '?' TRIGGER EVERY ? SECONDS -- ?\n AS SELECT 1 FROM STREAM read_files(?, sep => '?')")
	f.Add("DESCRIBE HISTORY t LIMIT ?")
	f.Add("/*! ? */ ?")
	f.Fuzz(func(t *testing.T, text string) {
		marks := countMarks(text)
		if marks > 200 {
			t.Skip("slow to parse")
		}
		if _, rest, ok, err := sqlext.Parse(text); ok && err == nil && rest == "" {
			require.Equal(t, sqlext.Params(text), marks, "a statement of ours")
		}
		stmt, err := sqlparser.Parse(string(standIn(marks, len(text))))
		require.NoError(t, err)
		found := 0
		require.NoError(t, sqlparser.Walk(func(node sqlparser.SQLNode) (bool, error) {
			if v, ok := node.(*sqlparser.SQLVal); ok && strings.HasPrefix(string(v.Val), ":v") {
				found++
			}
			return true, nil
		}, stmt))
		require.Equal(t, marks, found)
	})
}

func TestCommandsOfSeveralPackets(t *testing.T) {
	query := frame(append([]byte{3}, bytes.Repeat([]byte("x"), 2*maxPayload-1)...), 0) // two full packets and an empty one
	text := "SELECT ?, '" + strings.Repeat("\x16", maxPayload) + "'"
	prepare := frame(append([]byte{comStmtPrepare}, text...), 0)
	after := frame([]byte("\x03SELECT 1"), 0)
	f := newFilter(bytes.NewReader(append(append(bytes.Clone(query), prepare...), after...)))
	got, err := readThrough(f, []int{1 << 20})
	require.ErrorIs(t, err, io.EOF)
	require.True(t, bytes.HasPrefix(got, query), "a command in pieces passes as it is")
	stand := got[len(query) : len(got)-len(after)]
	require.Len(t, stand, len(prepare), "the stand-in has as many packets, or the sequence of the answer is wrong")
	require.Equal(t, "SELECT ? ", string(stand[5:14]))
	require.Equal(t, byte(1), stand[headerBytes+maxPayload+3])
	require.Equal(t, preparedText{text: text, marks: 1}, f.takePrepared())
	require.Equal(t, string(after), string(got[len(got)-len(after):]))
}

func TestBeforeTheLoginPacketsAreSmall(t *testing.T) {
	for name, sent := range map[string][]byte{
		"a command":                frame([]byte{comStmtPrepare, 'x'}, 0),
		"a command in pieces":      {0xff, 0xff, 0xff, 0, comStmtPrepare},
		"a large packet":           frame(make([]byte, maxLoginBytes+1), 1),
		"one that will not end":    {0xff, 0xff, 0xff, 1},
		"an empty one, sequence 0": {0, 0, 0, 0},
	} {
		f := newFilter(bytes.NewReader(sent))
		f.security = &security{}
		got, err := readThrough(f, []int{10})
		require.NotErrorIs(t, err, io.EOF, name)
		require.NotErrorIs(t, err, io.ErrUnexpectedEOF, name)
		require.Empty(t, got, name)
	}
	login, command := frame(make([]byte, maxLoginBytes), 1), frame([]byte{3, 'x'}, 0)
	f := newFilter(bytes.NewReader(append(bytes.Clone(login), command...)))
	f.security = &security{}
	got := make([]byte, len(login))
	_, err := io.ReadFull(f, got)
	require.NoError(t, err)
	require.Equal(t, login, got)
	f.security.admitted = true
	got, err = readThrough(f, []int{10})
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, command, got)
}

func TestStandInOfTooManyParametersHasNone(t *testing.T) {
	require.Equal(t, "SELECT 1", string(standIn(maxMarks+1, 0)))
	require.Len(t, standIn(maxMarks, 0), len("SELECT ")+2*maxMarks-1)
	require.EqualValues(t, maxMarks/8, (uint16(maxMarks)+7)/8, "as vitess reckons")
}

func TestBlankTexts(t *testing.T) {
	for text, want := range map[string]bool{"": true, " ;; -- x\n # y\n /* z */ ": true, "x": false, "; SELECT 1": false, "'": false} {
		require.Equal(t, want, isBlank(text), text)
	}
}

func TestFilterRefusesWhatVitessWouldTakeBadly(t *testing.T) {
	long := frame(append([]byte{comStmtExecute, 2}, make([]byte, maxPayload)...), 0) // of a statement that there is not
	after := frame([]byte{comStmtExecute, 1, 0, 0, 0, cursorReadOnly}, 0)
	c := &someCommands{most: 1 << 25}
	f := newFilter(bytes.NewReader(append(long, after...)))
	f.commands = c
	got, err := readThrough(f, []int{10})
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, []byte{comStmtExecute, 2}, c.refusals, "answered behind two packets")
	require.Equal(t, frame([]byte{comStmtExecute, 1, 0, 0, 0, 0}, 0), got)
	require.True(t, f.takeCursor())
	require.False(t, f.takeCursor())

	c = &someCommands{most: 100}
	f = newFilter(bytes.NewReader(frame(make([]byte, 2*maxPayload), 0)))
	f.commands = c
	got, err = readThrough(f, []int{10})
	require.ErrorIs(t, err, errTooLarge)
	require.Equal(t, []byte{0, 3}, c.refusals)
	require.Empty(t, got)
}

func TestFilterTellsAPacketThatIsCutOff(t *testing.T) {
	for _, data := range [][]byte{{1}, {9, 0, 0, 0}, frame([]byte{comStmtPrepare, 'x'}, 0)[:5]} {
		_, err := readThrough(newFilter(bytes.NewReader(data)), []int{10})
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
}
