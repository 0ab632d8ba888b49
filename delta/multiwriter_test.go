package delta

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lakesql/store"
)

const (
	writersPerProcess = 8
	commitsPerWriter  = 10
	childEnv          = "LAKESQL_DELTA_TEST_CHILD" // the folder of the table that a child process writes to
)

// appendByMany commits from several goroutines at once through one handle, and maintains the table beside it.
func appendByMany(dir, process string) error {
	st, err := store.NewLocal(dir)
	if err != nil {
		return err
	}
	table := NewTable(st)
	var writers errgroup.Group
	for w := range writersPerProcess {
		writers.Go(func() error {
			for i := range commitsPerWriter {
				s, err := table.Snapshot(ctx)
				if err != nil {
					return err
				}
				x := table.Begin(s)
				x.Add(addOf(fmt.Sprintf("%s-%d-%d", process, w, i)))
				x.SetTxn(fmt.Sprintf("%s-%d", process, w), int64(i))
				if _, err := x.Commit(ctx, Operation{Name: "STREAMING UPDATE"}); err != nil {
					return err
				}
				if w == 0 {
					if _, err := table.Maintain(ctx); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	return writers.Wait()
}

// TestManyWriters: goroutines of two processes append to one table. Nothing is lost, nothing is twice, no version is missing.
func TestManyWriters(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		require.NoError(t, appendByMany(dir, "child"))
		return
	}
	dir := t.TempDir()
	st, err := store.NewLocal(dir)
	require.NoError(t, err)
	createTable(t, st, testSchema, nil, nil)
	child := exec.Command(os.Args[0], "-test.run=^TestManyWriters$")
	child.Env = append(os.Environ(), childEnv+"="+dir)
	require.NoError(t, child.Start())
	require.NoError(t, appendByMany(dir, "parent"))
	require.NoError(t, child.Wait())

	const commits = 2 * writersPerProcess * commitsPerWriter
	s, err := NewTable(st).Snapshot(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(commits), s.Version())
	require.Equal(t, commits, s.NumFiles())
	seen := map[string]bool{}
	for f := range s.Files() {
		require.False(t, seen[f.Path])
		seen[f.Path] = true
	}
	for _, process := range []string{"parent", "child"} {
		for w := range writersPerProcess {
			version, ok := s.Txn(fmt.Sprintf("%s-%d", process, w))
			require.True(t, ok)
			require.Equal(t, int64(commitsPerWriter-1), version)
		}
	}
	for v := range int64(commits + 1) {
		_, err := st.Stat(ctx, commitKey(v))
		require.NoError(t, err)
	}
}
