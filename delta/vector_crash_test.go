package delta

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta/dv"
	"lakesql/store"
	"lakesql/store/faultstore"
)

// raceForRows deletes rows of two files, through a handle that does not know yet that another has deleted rows of one of them. So its
// commit loses once, reads the winner's vector and writes another.
func raceForRows(st store.Store, memory *store.Memory) (Committed, error) {
	table := NewTable(st)
	s, err := table.Snapshot(ctx)
	if err != nil {
		return Committed{}, err
	}
	if err := deleteIn(memory, "a", 1); err != nil {
		return Committed{}, err
	}
	x := table.Begin(s)
	for f := range s.Files() {
		if f.Path != "c" {
			if err := x.DeleteRows(f, dv.Of(5)); err != nil {
				return Committed{}, err
			}
		}
	}
	x.Recheck(func(context.Context, []File) (bool, error) { return false, nil })
	x.Add(tenRows("d"))
	return x.Commit(ctx, Operation{Name: "UPDATE"})
}

func deleteIn(st store.Store, path string, row int64) error {
	table := NewTable(st)
	s, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	for f := range s.Files() {
		if f.Path != path {
			continue
		}
		x := table.Begin(s)
		if err := x.DeleteRows(f, dv.Of(row)); err != nil {
			return err
		}
		x.Recheck(func(context.Context, []File) (bool, error) { return false, nil })
		_, err := x.Commit(ctx, Operation{Name: "DELETE"})
		return err
	}
	return fmt.Errorf("no file %s", path)
}

func tableOfThree(t *testing.T) *store.Memory {
	table, _ := tableOfTens(t, vectorFeatures, vectorConfig, "a", "b", "c")
	return table.Store().(*store.Memory)
}

// TestEveryFaultOfACommitWithVectors fails every single operation of a commit in turn, in every way: an error, an unknown outcome whether it
// was done or not, and a crash. The table reads as before or as after, and a commit that says how it ended is right.
func TestEveryFaultOfACommitWithVectors(t *testing.T) {
	before := []string{"b", "c", "a-[1]"}
	after := []string{"c", "a-[1 5]", "b-[5]", "d"}
	memory := tableOfThree(t)
	whole := faultstore.New(memory)
	done, err := raceForRows(whole, memory)
	require.NoError(t, err)
	require.Equal(t, after, liveRows(t, NewTable(memory), done.Snapshot))
	require.Regexp(t, `^commit-if-absent deletion_vector_\S+\.bin ok
put-if-absent _delta_log/00000000000000000002.json exists
commit-if-absent deletion_vector_\S+\.bin ok
put-if-absent _delta_log/00000000000000000003.json ok
$`, whole.Log(faultstore.Durable...))

	faults := map[string]faultstore.Rule{
		"error":    {Before: faultstore.Fail(syscall.EIO)},
		"lost":     {Before: faultstore.Lose()},
		"obscured": {After: faultstore.Obscure()},
		"timeout":  {Before: faultstore.Fail(context.DeadlineExceeded)},
	}
	outcomes := map[string]int{}
	for name, fault := range faults {
		for n := 1; ; n++ {
			memory := tableOfThree(t)
			st := faultstore.New(memory)
			hit := false
			st.Add(faultstore.Rule{Nth: n, Before: func(context.Context, faultstore.Op) error { hit = true; return nil }})
			fault.Nth = n
			st.Add(fault)
			done, err := raceForRows(st, memory)
			requireEither(t, memory, done, err, before, after, outcomes, fmt.Sprintf("%s of operation %d", name, n))
			if !hit {
				break
			}
		}
	}
	for n := 1; n <= 4; n++ {
		for _, late := range []bool{false, true} {
			memory := tableOfThree(t)
			st := faultstore.New(memory)
			if late {
				st.CrashAfter(n)
			} else {
				st.CrashBefore(n)
			}
			_, err := raceForRows(st, memory)
			require.ErrorIs(t, err, faultstore.ErrCrashed)
			left := memory.Clone()
			s, err := NewTable(left).Snapshot(ctx)
			require.NoError(t, err)
			want := before
			if n == 4 && late {
				want = after
			}
			require.Equal(t, want, liveRows(t, NewTable(left), s), "crash at %d, late=%v", n, late)
			require.NoError(t, deleteIn(left, "c", 7), "the table goes on")
		}
	}
	t.Log(outcomes)
}

func requireEither(t *testing.T, memory *store.Memory, done Committed, err error, before, after []string, outcomes map[string]int, name string) {
	s, readErr := NewTable(memory).Snapshot(ctx)
	require.NoError(t, readErr, name)
	if s.Version() == 1 { // the fault came before the race
		require.Error(t, err, name)
		return
	}
	got := liveRows(t, NewTable(memory), s)
	switch {
	case err == nil:
		outcomes["committed"]++
		require.Equal(t, after, got, name)
		require.Equal(t, s.Version(), done.Version, name)
	case errors.Is(err, store.ErrAmbiguous):
		outcomes["unknown"]++
		require.Contains(t, [][]string{before, after}, got, name)
	default:
		outcomes["not committed"]++
		require.Equal(t, before, got, name)
	}
}
