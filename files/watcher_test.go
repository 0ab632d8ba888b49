package files

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"lakesql/store"

	"github.com/stretchr/testify/require"
)

// patience is how long a test waits for a hint that must come.
const patience = time.Minute

// watched is a set with a watcher; await lists at each hint until want files are ready.
type watched struct {
	t   *testing.T
	set *Set
	w   *Watcher
}

func watch(t *testing.T, dir string, opts ...string) *watched {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells when a file was closed")
	}
	s, err := NewSet(store.Open, nil, store.FileURI(dir), parse(t, opts...))
	require.NoError(t, err)
	w, err := s.Watch(nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	require.NoError(t, w.Problem())
	return &watched{t: t, set: s, w: w}
}

// list waits for a hint and lists.
func (w *watched) list() (ready, waiting []File) {
	w.t.Helper()
	select {
	case <-w.w.Events():
	case <-time.After(patience):
		require.FailNow(w.t, "no hint")
	}
	ready, waiting, err := w.set.List(w.t.Context())
	require.NoError(w.t, err)
	return ready, waiting
}

func (w *watched) await(want ...string) {
	w.t.Helper()
	for {
		ready, waiting := w.list()
		got := map[string]bool{}
		for _, f := range ready {
			got[filepath.Base(f.URI)] = true
		}
		if len(got) == len(want) && len(waiting) == 0 {
			for _, name := range want {
				require.True(w.t, got[name], "%s is missing in %v", name, got)
			}
			return
		}
	}
}

// stopClock makes time stand still for the set: what becomes ready from now on is whole for another reason than that it
// was left alone for long enough.
func (w *watched) stopClock() {
	now := time.Now()
	w.set.now = func() time.Time { return now }
}

// settle lists until no hint waits, so that the folders are watched.
func (w *watched) settle() {
	w.t.Helper()
	w.await()
	for {
		select {
		case <-w.w.Events():
			_, _, err := w.set.List(w.t.Context())
			require.NoError(w.t, err)
		default:
			return
		}
	}
}

func TestWatchRename(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watch(t, dir)
	w.settle()
	w.stopClock()
	tmp := filepath.Join(t.TempDir(), "x")
	put(t, tmp, "a\n1\n")
	require.NoError(t, os.Rename(tmp, filepath.Join(dir, "a.csv")))
	w.await("a.csv")
}

func TestWatchClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watch(t, dir)
	w.settle()
	w.stopClock()
	f, err := os.Create(filepath.Join(dir, "a.csv"))
	require.NoError(t, err)
	_, err = f.WriteString("a\n")
	require.NoError(t, err)
	for w.set.RecheckAfter() <= QuietPeriod { // until the watcher has told that the file was made
		ready, waiting := w.list()
		require.Empty(t, ready, "the writer has it open")
		require.LessOrEqual(t, len(waiting), 1)
	}
	_, err = f.WriteString("1\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	w.await("a.csv")
	require.Zero(t, w.set.RecheckAfter())
}

func TestWatchFolderThatIsMadeLater(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "in", "deep")
	w := watch(t, dir)
	w.settle()
	require.NoError(t, os.Mkdir(filepath.Join(root, "in"), 0o755))
	require.NoError(t, os.Mkdir(dir, 0o755))
	tmp := filepath.Join(root, "x")
	put(t, tmp, "a\n")
	require.NoError(t, os.Rename(tmp, filepath.Join(dir, "a.csv")))
	w.await("a.csv")
	require.NoError(t, os.RemoveAll(dir))
	w.await()
	put(t, filepath.Join(dir, "b.csv"), "b\n")
	w.await("b.csv")
}

func TestWatchSubfolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watch(t, dir)
	w.settle()
	for day := range 3 {
		put(t, filepath.Join(dir, "region=eu", fmt.Sprintf("day=%d", day), fmt.Sprintf("%d.csv", day)), "a\n")
	}
	w.await("0.csv", "1.csv", "2.csv")
	put(t, filepath.Join(dir, "region=eu", "day=1", "3.csv"), "a\n")
	w.await("0.csv", "1.csv", "2.csv", "3.csv")
}

// TestWatchBurst: many files while nobody listens are all found at the next hint.
func TestWatchBurst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := watch(t, dir)
	w.settle()
	var want []string
	for i := range 2000 {
		name := fmt.Sprintf("%04d.csv", i)
		put(t, filepath.Join(dir, name), "a\n")
		want = append(want, name)
	}
	w.await(want...)
}

// TestWatchWaitingFile: a file that nobody was seen writing becomes ready by the watcher's own hint.
func TestWatchWaitingFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.csv"), "a\n")
	w := watch(t, dir)
	w.await("a.csv")
}

func TestWatchCloseTwiceAndAgain(t *testing.T) {
	t.Parallel()
	s := newSet(t, store.FileURI(t.TempDir()), parse(t))
	w, err := s.Watch(nil)
	require.NoError(t, err)
	_, err = s.Watch(nil)
	require.Error(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	again, err := s.Watch(nil)
	require.NoError(t, err)
	require.NoError(t, again.Close())
}

func BenchmarkListKnown(b *testing.B) {
	dir := b.TempDir()
	for i := range 20_000 {
		put(b, filepath.Join(dir, fmt.Sprintf("%06d.csv", i)), "")
	}
	s := newSet(b, store.FileURI(dir), parse(b))
	all := func(string) bool { return true }
	b.Run("unchanged folder", func(b *testing.B) {
		for b.Loop() {
			_, _, err := s.ListNew(b.Context(), all)
			require.NoError(b, err)
		}
	})
	b.Run("changed folder", func(b *testing.B) {
		for b.Loop() {
			clear(s.folders)
			_, _, err := s.ListNew(b.Context(), all)
			require.NoError(b, err)
		}
	})
}
