package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store"
	"lakesql/store/faultstore"
)

// copyInto is COPY INTO sales FROM '/lake/landing' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true').
func copyInto(change ...func(*Copy)) Copy {
	c := Copy{AsTable: true, Definition: Definition{
		Database: "lake", Target: TargetRef{Database: "lake", Table: "sales"}, SelectSQL: "file:///lake/landing",
		OnError: OnError{Mode: Fail}, OnSchemaChange: SchemaFail,
	}}
	for _, f := range change {
		f(&c)
	}
	return c
}

// makeSales makes the table that COPY INTO writes.
func (l *lake) makeSales() *lake {
	l.t.Helper()
	st := store.Sub(l.mem, "tables/sales")
	require.NoError(l.t, st.(store.RootMaker).MakeRoot(l.t.Context()))
	meta, err := delta.NewMetadata(salesSchema, nil, nil)
	require.NoError(l.t, err)
	tx := delta.NewTable(st).Begin(nil)
	tx.SetMetadata(meta)
	_, err = tx.Commit(l.t.Context(), delta.Operation{Name: "CREATE TABLE"})
	require.NoError(l.t, err)
	return l
}

func (s *server) copyInto(change ...func(*Copy)) (Copied, error) {
	return s.Copy(s.lake.t.Context(), copyInto(change...))
}

// dataFiles are the data files in a table's folder.
func (l *lake) dataFiles(table string) (out []string) {
	for _, key := range l.keys("tables/" + table + "/") {
		if strings.HasSuffix(key, ".parquet") {
			out = append(out, key)
		}
	}
	return out
}

// copies puts a file of two rows into the lake before each of several COPY INTOs, and wants all rows behind each.
func copies(l *lake, n int, run func(i int) *lake) {
	var want []string
	for i := range n {
		l.put(fmt.Sprintf("f%d.csv", i), fmt.Sprintf("id,name\n%d,a\n%d,b\n", 2*i, 2*i+1))
		want = append(want, fmt.Sprintf("%d|a", 2*i), fmt.Sprintf("%d|b", 2*i+1))
		l = run(i)
		require.Equal(l.t, want, l.rows("sales"))
		require.Equal(l.t, int64(i+1), l.version("sales"), "one version a COPY INTO")
	}
}

// TestCopyAtEveryCrashPoint crashes before and after every durable operation of three COPY INTOs, types the one that was cut short again, and
// wants every row once.
func TestCopyAtEveryCrashPoint(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			for n, crashed := 1, true; crashed; n++ {
				l := newLake(t).makeSales()
				s := l.serve()
				if crashed = false; when == "before" {
					s.faults.CrashBefore(n)
				} else {
					s.faults.CrashAfter(n)
				}
				copies(l, 3, func(int) *lake {
					_, err := s.copyInto()
					if s.faults.Crashed() {
						crashed = true
						s = s.lake.crashed().serve()
						_, err = s.copyInto()
					}
					require.NoError(t, err, "%s operation %d", when, n)
					return s.lake
				})
				out, err := s.copyInto()
				require.NoError(t, err)
				require.Equal(t, Copied{Version: -1}, out, "%s operation %d", when, n)
				require.True(t, crashed || n > 9, "the operations of all three were crashed at")
			}
		})
	}
}

// TestCopyOnAFullDisk fails every durable operation once: the statement fails and leaves nothing, or succeeds.
func TestCopyOnAFullDisk(t *testing.T) {
	for n, hit := 1, true; hit; n++ {
		l := newLake(t).makeSales()
		s := l.serve()
		hit = false
		s.faults.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: func(_ ctx, op faultstore.Op) error {
			hit = true
			return fmt.Errorf("%s %s: %w", op.Kind, op.Key, syscall.ENOSPC)
		}})
		copies(l, 2, func(i int) *lake {
			if _, err := s.copyInto(); err != nil {
				require.ErrorIs(t, err, syscall.ENOSPC)
				require.Len(t, l.dataFiles("sales"), i, "operation %d", n)
				_, err = s.copyInto()
				require.NoError(t, err)
			}
			return l
		})
	}
}

// TestCopyOfUnknownOutcome loses the answer of every put once.
func TestCopyOfUnknownOutcome(t *testing.T) {
	for _, name := range []string{"lost", "done"} {
		for n, hit := 1, true; hit; n++ {
			l := newLake(t).makeSales()
			s := l.serve()
			hit = false
			rule := faultstore.Rule{Match: faultstore.Is(faultstore.PutIfAbsent), Nth: n}
			if lose, obscure := faultstore.Lose(), faultstore.Obscure(); name == "lost" {
				rule.Before = func(ctx ctx, op faultstore.Op) error { hit = true; return lose(ctx, op) }
			} else {
				rule.After = func(ctx ctx, op faultstore.Op, err error) error { hit = true; return obscure(ctx, op, err) }
			}
			s.faults.Add(rule)
			copies(l, 2, func(int) *lake {
				if _, err := s.copyInto(); err != nil {
					_, err = s.copyInto()
					require.NoError(t, err, "%s %d", name, n)
				}
				return l
			})
		}
	}
}

// TestCopiesAtOnce lets several COPY INTOs of several servers run over the same files, and others commit in between: each row is there once.
func TestCopiesAtOnce(t *testing.T) {
	l := newLake(t).makeSales()
	want := l.input(20)
	servers := []*server{l.serve(), l.serve()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	rows := int64(0)
	for i := range 6 {
		wg.Go(func() {
			out, err := servers[i%2].copyInto(func(c *Copy) {
				c.Definition.SelectSQL = fmt.Sprintf("file:///lake/landing/f0{%d,%d,1%d}*.csv", i%2, 1-i%2, i)
			})
			mu.Lock()
			defer mu.Unlock()
			assert.NoError(t, err)
			rows += out.Rows
		})
	}
	wg.Wait()
	require.Equal(t, want, l.rows("sales"))
	require.Equal(t, int64(len(want)), rows)
	require.Len(t, l.dataFiles("sales"), int(l.version("sales")), "those that lost left nothing")
}

// TestCopyThatSleeps holds a COPY INTO right before its commit until another server has copied the files.
func TestCopyThatSleeps(t *testing.T) {
	l := newLake(t).makeSales()
	want := l.input(2)
	slow, fast := l.serve(), l.serve()
	once := sync.Once{}
	slow.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "tables/sales/_delta_log/"), Nth: 1, Before: func(ctx, faultstore.Op) error {
		once.Do(func() {
			out, err := fast.copyInto()
			require.NoError(t, err)
			require.Equal(t, int64(4), out.Rows)
			l.put("late.csv", "id,name\n77,late\n")
			_, err = fast.copyInto() // merges and deletes the entry that the slow one has read, and its own
			require.NoError(t, err)
		})
		return nil
	}})
	out, err := slow.copyInto()
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Version)
	require.Equal(t, append(want, "77|late"), l.rows("sales"))
	require.Len(t, l.dataFiles("sales"), 2)
}

// TestCopyIsStopped cancels a COPY INTO at each durable operation: either it is finished, or nothing of it is there.
func TestCopyIsStopped(t *testing.T) {
	for n, hit := 1, true; hit; n++ {
		l := newLake(t).makeSales()
		want := l.input(2)
		s := l.serve()
		stopped, cancel := context.WithCancel(t.Context())
		hit = false
		s.faults.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: func(ctx, faultstore.Op) error {
			hit = true
			cancel()
			return nil
		}})
		if _, err := s.Copy(stopped, copyInto()); err != nil {
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, l.rows("sales"))
			require.Empty(t, l.dataFiles("sales"))
			_, err = s.copyInto()
			require.NoError(t, err)
		}
		cancel()
		require.Equal(t, want, l.rows("sales"))
	}
}

// TestCopyOfNewColumns meets a column that the files which the columns are told from do not have.
func TestCopyOfNewColumns(t *testing.T) {
	l := newLake(t).makeSales()
	want := l.input(1001)
	l.put("z.csv", "id,name,more\n1000000,z,7\n")
	s := l.serve()
	_, err := s.copyInto()
	require.Equal(t, KindSchema, KindOf(err), "%v", err)
	require.ErrorContains(t, err, "COPY INTO lake.sales: [DELTA_METADATA_MISMATCH]")
	require.ErrorContains(t, err, "'mergeSchema' = 'true'")
	require.Empty(t, l.rows("sales"))
	out, err := s.copyInto(func(c *Copy) { c.Definition.OnSchemaChange = SchemaAddColumns })
	require.NoError(t, err)
	require.Equal(t, Copied{Version: 1, Rows: 2003}, out)
	for i := range want {
		want[i] += "|NULL"
	}
	want = append(want, "1000000|z|7")
	slices.Sort(want)
	require.Equal(t, want, l.rows("sales"))
}

// TestCopyWithoutItsLog says what to type where the record of the files is gone.
func TestCopyWithoutItsLog(t *testing.T) {
	l := newLake(t).makeSales()
	want := l.input(1)
	s := l.serve()
	_, err := s.copyInto()
	require.NoError(t, err)
	require.NoError(t, store.DeletePrefix(t.Context(), l.mem, "tables/sales/_lakesql/"))
	_, err = s.copyInto()
	require.Equal(t, KindCheckpoint, KindOf(err), "%v", err)
	require.ErrorContains(t, err, "'force' = 'true'")
	out, err := s.copyInto(func(c *Copy) { c.Force = true })
	require.NoError(t, err)
	require.Equal(t, int64(len(want)), out.Rows)
	out, err = s.copyInto()
	require.NoError(t, err)
	require.Equal(t, int64(-1), out.Version)
}

// TestDurableOperationsOfACopy writes down what one COPY INTO makes durable, in order.
func TestDurableOperationsOfACopy(t *testing.T) {
	l := newLake(t).makeSales()
	l.input(1)
	s := l.serve()
	_, err := s.copyInto()
	require.NoError(t, err)
	l.put("more.csv", "id,name\n7,x\n")
	s.faults.ClearLog()
	_, err = s.copyInto()
	require.NoError(t, err)
	golden(t, "one_copy.txt", anonymous(s.faults.Log(faultstore.Durable...)))
}

// Globs hide in the encoding of URIs.
func TestEncodedGlobs(t *testing.T) {
	l := newLake(t).makeSales()
	l.input(1)
	_, err := l.serve().copyInto(func(c *Copy) { c.Definition.SelectSQL = "file:///lake/%7Btables,landing%7D/sales" })
	require.ErrorContains(t, err, "in one another")
}
