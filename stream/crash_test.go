package stream

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// TestEveryCrashPoint crashes before and after every durable operation of each subject, then starts again, and wants the table to equal the input, every row
// once, without any refusal.
func TestEveryCrashPoint(t *testing.T) {
	for _, sub := range append(subjects(t, 2), ofFiles("many files", 11)) { // the tenth is where the source log compacts
		for _, when := range []string{"before", "after"} {
			t.Run(sub.name+" "+when, func(t *testing.T) {
				for n := 1; ; n++ {
					l := newLake(t)
					want := sub.begin(l)
					crashed := crashAt(l, when, n, sub.d, sub.needs)
					after := l.crashed()
					if sub.later != nil {
						want = append(want, sub.later(after)...)
						slices.Sort(want)
					}
					s := after.serve(sub.needs)
					require.NoError(t, s.Start(t.Context()))
					_, err := s.Create(t.Context(), sub.d, CreateOptions{IfNotExists: true})
					require.NoError(t, err, "operation %d", n)
					if s.state().State == Finished {
						s.restart()
					}
					require.NoError(t, s.WaitFor(t.Context(), "lake", "sales_in", Until{}, patience), "operation %d", n)
					sub.require(after, want, n)
					require.NoError(t, s.Close())
					if !crashed {
						require.Greater(t, n, 5*sub.batches)
						return
					}
				}
			})
		}
	}
}

// crashAt creates a stream on a server that crashes at the n-th durable operation. It returns false when the stream finished before that.
func crashAt(l *lake, when string, n int, d Definition, change ...func(*Config)) bool {
	return crash(l, when, n, func(s *server) error {
		if err := s.Start(l.t.Context()); err != nil {
			return err
		}
		_, err := s.Create(l.t.Context(), d, CreateOptions{})
		return err
	}, change...)
}

// crash starts something on a server that crashes at the n-th durable operation.
func crash(l *lake, when string, n int, start func(*server) error, change ...func(*Config)) bool {
	s := l.serve(change...)
	if when == "before" {
		s.faults.CrashBefore(n)
	} else {
		s.faults.CrashAfter(n)
	}
	runUntilCrash(s, start(s))
	require.NoError(l.t, s.Close())
	return s.faults.Crashed()
}

// runUntilCrash waits until the server has crashed, or its stream has nothing more to do. err is what starting it gave.
func runUntilCrash(s *server, err error) {
	for err == nil && !s.faults.Crashed() && s.state().State != Finished && !s.rested() {
		select {
		case <-s.done:
		case <-time.After(time.Millisecond):
		}
	}
}

// rested says whether a stream that does not end by itself has caught up.
func (s *server) rested() bool {
	st := s.state()
	return st.State == Idle && st.Reason == "caught up"
}

// TestEveryOperationFails fails every operation of each subject once, reads among them, writes as a full disk does: CREATE says so or the stream retries, and goes
// on by itself, every row once.
func TestEveryOperationFails(t *testing.T) {
	for _, sub := range subjects(t, 2) {
		t.Run(sub.name, func(t *testing.T) {
			for n := 1; ; n++ {
				l := newLake(t)
				want := sub.begin(l)
				s := l.serve(sub.needs)
				var fault error
				s.faults.Add(faultstore.Rule{Nth: n, Before: func(_ ctx, op faultstore.Op) error {
					errno := syscall.EIO
					if faultstore.Is(append(faultstore.Durable, faultstore.Create, faultstore.Write)...)(op) {
						errno = syscall.ENOSPC
					}
					fault = fmt.Errorf("%s %s: %w", op.Kind, op.Key, errno)
					return fault
				}})
				_, err := s.Create(t.Context(), sub.d, CreateOptions{})
				if err != nil {
					require.ErrorIs(t, err, fault, "operation %d", n)
					s.create(sub.d)
				}
				s.caughtUp()
				s.finished()
				sub.require(l, want, n)
				if st := s.state(); st.LastError != "" {
					require.Contains(t, st.LastError, fault.Error(), "operation %d", n)
					require.Zero(t, st.Attempts, "a success clears the count")
				}
				require.NoError(t, s.Close())
				if fault == nil {
					require.Greater(t, n, 15*sub.batches)
					return
				}
			}
		})
	}
}

// TestUnknownOutcome loses the answer of every put once: the write is there, or it is not, and the caller cannot tell.
func TestUnknownOutcome(t *testing.T) {
	for _, name := range []string{"lost", "done"} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				l := newLake(t)
				want := l.input(2)
				s := l.serve()
				s.create(sales(availableNow, oneFileABatch, func(d *Definition) { d.Paused = true }))
				hit := false
				rule := faultstore.Rule{Match: faultstore.Is(faultstore.PutIfAbsent), Nth: n}
				if name == "lost" {
					lose := faultstore.Lose()
					rule.Before = func(ctx ctx, op faultstore.Op) error { hit = true; return lose(ctx, op) }
				} else {
					obscure := faultstore.Obscure()
					rule.After = func(ctx ctx, op faultstore.Op, err error) error { hit = true; return obscure(ctx, op, err) }
				}
				s.faults.Add(rule)
				s.restart()
				s.caughtUp()
				require.Equal(t, want, l.rows("sales"), "operation %d", n)
				require.NoError(t, s.Close())
				if !hit {
					require.Greater(t, n, 8)
					return
				}
			}
		})
	}
}

// TestDurableOperations writes down what one batch makes durable, in order. In time that the test makes: on a busy machine a heartbeat of the lease would come between.
func TestDurableOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLake(t)
		l.input(1)
		s := l.serve()
		s.create(sales(availableNow))
		s.finished()
		l.put("more.csv", "id,name\n7,x\n")
		s.faults.ClearLog()
		s.restart()
		s.finished()
		require.NoError(t, s.Close())
		upkeep := regexp.MustCompile(`put-if-absent \S+\.crc \S+\n`) // a checksum, which comes when it comes, or is cut off by the stream's end
		golden(t, "one_batch.txt", anonymous(upkeep.ReplaceAllString(s.faults.Log(faultstore.Durable...), "")))
	})
}

// anonymous replaces what differs from run to run.
func anonymous(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for i, line := range lines {
		if at := strings.Index(line, "part-"); at >= 0 {
			lines[i] = line[:at] + "part-00000-<uuid>.snappy.parquet" + line[strings.LastIndexByte(line, ' '):]
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
