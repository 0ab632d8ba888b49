package maintain

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store"
	"lakesql/store/faultstore"
)

// work is a piece of maintenance that may be interrupted anywhere.
var works = map[string]func(st store.Store) error{
	"optimize": func(st store.Store) error {
		_, err := Optimize(ctx, delta.NewTable(st), OptimizeOptions{})
		return err
	},
	"zorder": func(st store.Store) error {
		_, err := Optimize(ctx, delta.NewTable(st), OptimizeOptions{ZOrderBy: []string{"x"}})
		return err
	},
	"vacuum": func(st store.Store) error {
		_, err := Vacuum(ctx, delta.NewTable(st), VacuumOptions{Retention: -1, Now: later()})
		return err
	},
	"restore": func(st store.Store) error {
		_, err := Restore(ctx, delta.NewTable(st), RestoreTarget{Version: 2})
		return err
	},
}

// worked is a table with small files, deletion vectors and removed files.
func worked(t *testing.T) (*store.Memory, []row) {
	st := memory(t)
	table := newTable(t, st, []string{"part"}, map[string]string{"delta.enableDeletionVectors": "true"})
	insert(t, table, numbered(0, 10, 2)...)
	insert(t, table, numbered(10, 10, 2)...)
	deleteRow(t, table, 0, 1)
	deleteRow(t, table, 0, 2)
	require.NoError(t, st.PutIfAbsent(ctx, "part=p0/left-over.parquet", []byte("of a writer that died")))
	return st, rowsAt(t, table, 2)
}

// TestEveryFault fails every operation of every work once: with an error, with an outcome that is unknown (done and not done), and with a
// crash before and after it. The rows are those of before or, for a restore, those of the version restored; and the work succeeds when it is done again.
func TestEveryFault(t *testing.T) {
	for name, run := range works {
		t.Run(name, func(t *testing.T) {
			clean, _ := worked(t)
			whole := faultstore.New(clean)
			require.NoError(t, run(whole))
			operations := strings.Count(whole.Log(), "\n")
			durable := strings.Count(whole.Log(faultstore.Durable...), "\n")
			require.Positive(t, durable)
			for n := 1; n <= operations; n++ {
				faultOnce(t, run, faultstore.Rule{Nth: n, Before: faultstore.Fail(syscall.EIO)})
			}
			for n := 1; n <= durable; n++ {
				puts := faultstore.Is(faultstore.Commit, faultstore.CommitIfAbsent, faultstore.PutIfAbsent)
				faultOnce(t, run, faultstore.Rule{Match: puts, Nth: n, Before: faultstore.Lose()})
				faultOnce(t, run, faultstore.Rule{Match: puts, Nth: n, After: faultstore.Obscure()})
				for _, after := range []bool{false, true} {
					st, _ := worked(t)
					faulty := faultstore.New(st)
					if after {
						faulty.CrashAfter(n)
					} else {
						faulty.CrashBefore(n)
					}
					_ = run(faulty) // it crashed
					requireWhole(t, run, st.Clone(), fmt.Sprintf("crash %d after=%v", n, after))
				}
			}
		})
	}
}

func faultOnce(t *testing.T, run func(store.Store) error, rule faultstore.Rule) {
	t.Helper()
	st, _ := worked(t)
	faulty := faultstore.New(st)
	faulty.Add(rule)
	if err := run(faulty); err != nil {
		require.True(t, errors.Is(err, syscall.EIO) || errors.Is(err, store.ErrAmbiguous), "%v", err)
	}
	requireWhole(t, run, st, fmt.Sprintf("fault %d", rule.Nth))
}

// requireWhole wants the rows of before or of version 2, which are 18 or 20, and again after the work is done once more.
func requireWhole(t *testing.T, run func(store.Store) error, st *store.Memory, what string) {
	t.Helper()
	rows := rowsAt(t, delta.NewTable(st), -1)
	require.Contains(t, []int{18, 20}, len(rows), what)
	require.NoError(t, run(st), what)
	require.Contains(t, []int{18, 20}, len(rowsAt(t, delta.NewTable(st), -1)), what)
}
