package stream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// TestFailureMatrix has those points of the failure matrix at which something is damaged, lost or rewound between two processes, after three batches: the next one goes
// on with every row once, or is refused and says why. docs/failures.md says which tests have the others.
func TestFailureMatrix(t *testing.T) {
	const checkpoint, log = "checkpoints/sales/", "tables/sales/_delta_log/"
	remove := func(keys ...string) func(*lake) {
		return func(l *lake) {
			for _, key := range keys {
				require.NoError(l.t, l.mem.Delete(l.t.Context(), key))
			}
		}
	}
	for _, c := range []struct {
		name    string
		damage  func(l *lake)
		refused []string // parts of what the stream says; none: it goes on
	}{
		{"P0 nothing", func(*lake) {}, nil},
		{"P4 commits is behind the table", remove(checkpoint + "commits/2"), nil},
		{"P8 empty offsets", func(l *lake) { l.write(checkpoint+"offsets/2", "") }, []string{"offsets/2"}},
		{"P8 torn offsets", func(l *lake) { l.write(checkpoint+"offsets/2", "v1\n{\"batchWat") }, []string{"offsets/2"}},
		{"P8 empty commits", func(l *lake) { l.write(checkpoint+"commits/2", "") }, []string{"commits/2"}},
		{"P8 torn source log", func(l *lake) { l.write(checkpoint+"sources/0/2", "v1\n{\"pa") }, []string{"sources/0/2"}},
		{"P9 a hole in commits", remove(checkpoint + "commits/1"), []string{"commits/1", `printf 'v1\n{"nextBatchWatermarkMs":0}' > '/lake/checkpoints/sales/commits/1'`}},
		{"P9 a hole in commits that was mended so", func(l *lake) { l.write(checkpoint+"commits/1", "v1\n{\"nextBatchWatermarkMs\":0}") }, nil},
		{"P10 the batch before the last is lost, and the last is due", func(l *lake) {
			remove(checkpoint+"offsets/1", checkpoint+"commits/2", log+"00000000000000000002.json")(l)
		}, []string{"offsets/1"}},
		{"P11 offsets rewound by hand", remove(checkpoint+"offsets/2", checkpoint+"offsets/1"), []string{"commits"}},
		{"P13 the table is ahead", remove(checkpoint+"offsets/2", checkpoint+"commits/2"), []string{"older copy", "RESET"}},
		{"P15 the table has forgotten the txn, and a batch is due", func(l *lake) {
			remove(checkpoint + "commits/2")(l)
			l.forgetTxn(log)
		}, []string{"lost batches", "RESET"}},
		{"P16 metadata is lost", remove(checkpoint + "metadata"), []string{"metadata"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLake(t)
			want := l.input(3)
			s := l.serve()
			s.create(sales(availableNow, oneFileABatch))
			s.finished()
			require.NoError(t, s.Close())
			c.damage(l)
			l.put("more.csv", "id,name\n7,x\n")

			next := l.serve()
			require.NoError(t, next.Start(t.Context()))
			recorded, rows := l.keys("checkpoints/sales/sources/"), l.rows("sales")
			if c.refused == nil {
				next.restart()
				next.caughtUp()
				require.Equal(t, append(want, "7|x"), l.rows("sales"))
			} else {
				reason := ""
				if err := next.StartStream(t.Context(), "lake", "sales_in"); err != nil {
					reason = err.Error()
				} else {
					reason = next.failed() // what START does not look at, the stream meets
				}
				for _, part := range c.refused {
					require.Contains(t, reason, part)
				}
				require.Equal(t, recorded, l.keys("checkpoints/sales/sources/"), "nothing new is recorded")
				require.Equal(t, rows, l.rows("sales"))
			}
			require.NoError(t, next.Close())
		})
	}
}

// forgetTxn takes the txn actions out of a table's log, as its retention does.
func (l *lake) forgetTxn(log string) {
	require.NoError(l.t, store.DeletePrefix(l.t.Context(), l.mem, log+"_last_checkpoint"))
	for _, key := range l.keys(log) {
		if strings.HasSuffix(key, ".crc") {
			require.NoError(l.t, l.mem.Delete(l.t.Context(), log+key))
			continue
		}
		data, err := l.mem.Get(l.t.Context(), log+key)
		require.NoError(l.t, err)
		var kept []string
		for line := range strings.Lines(string(data)) {
			var action map[string]json.RawMessage
			require.NoError(l.t, json.Unmarshal([]byte(line), &action))
			if action["txn"] == nil {
				kept = append(kept, line)
			}
		}
		l.write(log+key, strings.Join(kept, ""))
	}
}
