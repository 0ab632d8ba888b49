package stream

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// crashFiles is how many batches of one file the crash tests run: the tenth is where the source log compacts.
const crashFiles = 11

// TestEveryCrashPoint crashes before and after every durable operation of eleven batches, then starts again, and wants the
// table to equal the input, every row once, without any refusal.
func TestEveryCrashPoint(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			for n := 1; ; n++ {
				l := newLake(t)
				want := l.input(crashFiles)
				if !crashAt(l, when, n, sales(availableNow, oneFileABatch)) {
					require.Greater(t, n, 5*crashFiles, "the operations of all batches were crashed at")
					return
				}
				after := l.crashed()
				s := after.serve()
				require.NoError(t, s.Start(t.Context()))
				_, err := s.Create(t.Context(), sales(availableNow, oneFileABatch), CreateOptions{IfNotExists: true})
				require.NoError(t, err, "%s operation %d", when, n)
				require.NoError(t, s.WaitFor(t.Context(), "lake", "sales_in", Until{}, patience), "%s operation %d", when, n)
				require.Equal(t, want, after.rows("sales"), "%s operation %d", when, n)
				require.Equal(t, int64(crashFiles-1), after.version("sales"), "one version a batch; %s operation %d", when, n)
				require.NoError(t, s.Close())
			}
		})
	}
}

// crashAt runs a stream that crashes at the n-th durable operation. It returns false when the stream finished before that.
func crashAt(l *lake, when string, n int, d Definition) bool {
	s := l.serve()
	if when == "before" {
		s.faults.CrashBefore(n)
	} else {
		s.faults.CrashAfter(n)
	}
	err := s.Start(l.t.Context())
	if err == nil {
		_, err = s.Create(l.t.Context(), d, CreateOptions{})
	}
	for err == nil && !s.faults.Crashed() && s.state().State != Finished {
		select {
		case <-s.done:
		case <-time.After(time.Millisecond):
		}
	}
	require.NoError(l.t, s.Close())
	return s.faults.Crashed()
}

// TestFullDisk fails every durable operation once with ENOSPC: the stream retries and ends with the input, every row once.
func TestFullDisk(t *testing.T) {
	for n := 1; ; n++ {
		l := newLake(t)
		want := l.input(2)
		s := l.serve()
		hit := false
		s.faults.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: func(ctx ctx, op faultstore.Op) error {
			hit = true
			return fmt.Errorf("%s %s: %w", op.Kind, op.Key, syscall.ENOSPC)
		}})
		_, err := s.Create(t.Context(), sales(availableNow, oneFileABatch), CreateOptions{})
		if err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			s.create(sales(availableNow, oneFileABatch))
		}
		s.caughtUp()
		s.finished()
		require.Equal(t, want, l.rows("sales"), "operation %d", n)
		if st := s.state(); st.LastError != "" {
			require.Contains(t, st.LastError, "no space left on device", "operation %d", n)
			require.Zero(t, st.Attempts, "a success clears the count")
		}
		require.NoError(t, s.Close())
		if !hit {
			require.Greater(t, n, 15)
			return
		}
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

// TestDurableOperations writes down what one batch makes durable, in order.
func TestDurableOperations(t *testing.T) {
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
	upkeep := regexp.MustCompile(`put-if-absent \S+\.crc ok\n`) // a checksum, which comes when it comes
	golden(t, "one_batch.txt", anonymous(upkeep.ReplaceAllString(s.faults.Log(faultstore.Durable...), "")))
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
