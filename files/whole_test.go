package files

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestWhole plays what programs do with files against the rule that says when a file is whole, with a clock of its own.
func TestWhole(t *testing.T) {
	g := newGate()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	disk := map[string]stat{}
	datadriven.RunTest(t, "testdata/whole", func(t *testing.T, d *datadriven.TestData) string {
		name := ""
		if len(d.CmdArgs) > 0 {
			name = d.CmdArgs[0].Key
		}
		st := disk[name]
		switch d.Cmd {
		case "at":
			offset, err := time.ParseDuration(name)
			require.NoError(t, err)
			now = start.Add(offset)
			return ""
		case "write":
			d.ScanArgs(t, "size", &st.size)
			st.modTime = now
			if arg, ok := d.Arg("clock"); ok {
				ahead, err := time.ParseDuration(arg.Vals[0])
				require.NoError(t, err)
				st.modTime = now.Add(ahead)
			}
			st.changed = st.modTime
			if d.HasArg("nochange") {
				st.changed = time.Time{}
			}
			disk[name] = st
		case "change":
			st.changed = now
			disk[name] = st
		case "old-mtime":
			st.modTime, st.changed = start, now
			disk[name] = st
		case "remove":
			for _, arg := range d.CmdArgs {
				delete(disk, arg.Key)
			}
		case "made":
			g.saw(name, note{})
		case "closed":
			g.saw(name, note{closed: true, size: st.size, modTime: st.modTime})
		case "overflow":
			g.lost()
		case "list":
			return listGate(g, disk, now)
		default:
			d.Fatalf(t, "unknown command")
		}
		return ""
	})
}

func listGate(g *gate, disk map[string]stat, now time.Time) string {
	var out strings.Builder
	g.begin()
	for _, name := range slices.Sorted(maps.Keys(disk)) {
		if whole, wait := g.judge(name, disk[name], now); whole {
			fmt.Fprintf(&out, "%s: whole\n", name)
		} else {
			fmt.Fprintf(&out, "%s: waits %v\n", name, wait)
		}
	}
	g.forget()
	return out.String()
}

// TestNotesAreBounded: what nobody lists is not remembered for ever.
func TestNotesAreBounded(t *testing.T) {
	g := newGate()
	for i := range maxNotes + 10 {
		g.saw(fmt.Sprint(i), note{closed: true})
	}
	require.LessOrEqual(t, len(g.notes), maxNotes)
	g.begin()
	g.forget()
	require.Empty(t, g.notes)

	g.begin()
	g.saw("during", note{closed: true})
	g.forget()
	require.Len(t, g.notes, 1, "what comes during a listing is for the next one")
}
