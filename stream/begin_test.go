package stream

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCreateKeepsWhatIsThere crashes before and after each durable operation of CREATE STREAM with includeExistingFiles => false, and then a file comes. Where the statement has
// made the stream, that file is read whenever the stream starts; what was there before is read never.
func TestCreateKeepsWhatIsThere(t *testing.T) {
	paused := func(d *Definition) { d.Paused, d.SelectSQL = true, d.SelectSQL+" new" }
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			l := newLake(t)
			l.put("old.csv", "id,name\n1,old\n")
			crashed := crash(l, when, n, func(s *server) error {
				_, err := s.Create(t.Context(), sales(paused), CreateOptions{})
				if err == nil {
					return errors.New("nothing runs")
				}
				return err
			})
			after := l.crashed()
			made := len(after.keys("catalog/")) > 0
			after.put("new.csv", "id,name\n2,new\n")
			next := after.serve()
			require.NoError(t, next.Start(t.Context()))
			_, err := next.Create(t.Context(), sales(paused), CreateOptions{IfNotExists: true})
			require.NoError(t, err, "operation %d", n)
			after.put("last.csv", "id,name\n3,last\n")
			next.restart()
			next.caughtUp()
			want := []string{"2|new", "3|last"}
			if rows := after.rows("sales"); made || len(rows) == 2 { // else the second statement is the one that counts, if the first one has not kept the moment
				require.Equal(t, want, rows, "operation %d", n)
			} else {
				require.Equal(t, want[1:], rows, "operation %d", n)
			}
			require.NoError(t, next.Close())
			if !crashed {
				require.True(t, made)
				require.Greater(t, n, 3, "the checkpoint, begin.json, the entry, its pin, the definition")
				break
			}
		}
	}
}
