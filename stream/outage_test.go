package stream

import (
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// TestOutages takes away what a stream with a trigger of 15 s needs, for as long as it takes: it is RETRYING with the reason within two triggers, STALLED once it
// has committed nothing for three of them, and goes on by itself when the cause is gone. In time that the test makes, over a store that makes the faults.
func TestOutages(t *testing.T) {
	const every = 15 * time.Second
	writes := faultstore.Is(append(faultstore.Durable, faultstore.Create, faultstore.Write)...)
	below := func(folder string) func(faultstore.Op) bool {
		return func(op faultstore.Op) bool { return writes(op) && strings.HasPrefix(op.Key, folder) }
	}
	for name, c := range map[string]struct {
		match func(faultstore.Op) bool
		err   error
	}{
		"the disk is full":              {writes, syscall.ENOSPC},
		"the checkpoint's disk is full": {below("checkpoints/"), syscall.ENOSPC},
		"the table's disk is full":      {below("tables/"), syscall.ENOSPC},
		"the quota is used up":          {below("tables/"), syscall.EDQUOT},
		"the table is read-only":        {below("tables/"), syscall.EROFS},
		"the checkpoint is read-only":   {below("checkpoints/"), syscall.EROFS},
		"nothing can be read":           {func(op faultstore.Op) bool { return !writes(op) }, syscall.EIO},
		"the source is away":            {nil, syscall.EHOSTDOWN},
	} {
		t.Run(name, func(t *testing.T) {
			onNumbers(t, 1, func(d *Definition) { d.Trigger = Trigger{Kind: Every, Every: every} }, func(s *server, src *numbers) {
				require.Equal(t, 1, s.batches())
				fail := faultstore.Fail(c.err)
				if c.match == nil {
					src.set(func() { src.fail = c.err })
				} else {
					s.faults.Add(faultstore.Rule{Match: c.match, Before: fail})
				}
				src.add(1)
				time.Sleep(2 * every)
				synctest.Wait()
				st := s.state()
				require.Equal(t, Retrying, st.State, "%+v", st)
				require.Contains(t, st.Reason, c.err.Error())
				require.Positive(t, time.Until(st.NextAttempt))

				time.Sleep(max(stallAfter, stallTriggers*every))
				synctest.Wait()
				st = s.state()
				require.Equal(t, Stalled, st.State, "%+v", st)
				require.Contains(t, st.Reason, c.err.Error())

				src.set(func() { src.fail = nil })
				s.faults.ClearRules()
				time.Sleep(maxBackoff + every)
				require.Equal(t, 1, s.batches())
				require.Equal(t, Idle, s.state().State)
				require.Equal(t, []string{"0", "1"}, s.lake.rows("sales"))
			})
		})
	}
}
