package files

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// instances counts this process's inotify instances.
func instances(t *testing.T) (n int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, fd := range open {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.Contains(to, "inotify") {
			n++
		}
	}
	return n
}

// TestNotifierIsShared: a hundred watchers by one notifier cost two instances of the system's few, one of several watchers of a folder may end, and
// a folder that is made again is watched again by all.
func TestNotifierIsShared(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux counts instances")
	}
	before := instances(t)
	n := NewNotifier()
	root := t.TempDir()
	var all []*watched
	for i := range 100 {
		dir := filepath.Join(root, fmt.Sprint(i/2)) // two of each folder
		require.NoError(t, os.MkdirAll(dir, 0o755))
		s, err := NewSet(store.Open, nil, store.FileURI(dir), parse(t))
		require.NoError(t, err)
		w, err := s.Watch(n)
		require.NoError(t, err)
		all = append(all, &watched{t: t, set: s, w: w})
	}
	for _, w := range all {
		w.settle()
		w.stopClock()
		require.NoError(t, w.w.Problem())
	}
	require.LessOrEqual(t, instances(t)-before, 2)

	renameIn := func(folder int, name string) {
		tmp := filepath.Join(root, "x")
		put(t, tmp, "a\n")
		require.NoError(t, os.Rename(tmp, filepath.Join(root, fmt.Sprint(folder), name)))
	}
	renameIn(3, "a.csv")
	all[6].await("a.csv")
	all[7].await("a.csv")
	require.NoError(t, all[6].w.Close())
	renameIn(3, "b.csv")
	all[7].await("a.csv", "b.csv")

	all[8].set.now, all[9].set.now = time.Now, time.Now // the file may come before the folder is watched
	require.NoError(t, os.RemoveAll(filepath.Join(root, "4")))
	all[8].await()
	all[9].await()
	require.NoError(t, os.Mkdir(filepath.Join(root, "4"), 0o755))
	renameIn(4, "c.csv")
	all[8].await("c.csv")
	all[9].await("c.csv")

	require.NoError(t, n.Close())
	require.NoError(t, n.Close())
	for _, w := range all {
		require.NoError(t, w.w.Close())
	}
	require.Equal(t, before, instances(t))
}

// TestFolderThatHangs: a watcher that waits for its disk keeps no other one waiting.
func TestFolderThatHangs(t *testing.T) {
	root := t.TempDir()
	n := NewNotifier()
	asked, mended := make(chan struct{}, 1), make(chan struct{})
	hanging := filepath.Join(root, "hanging")
	n.stat = func(folder string) (os.FileInfo, error) {
		if folder == hanging {
			asked <- struct{}{}
			<-mended
		}
		return os.Stat(folder)
	}
	watch := func(dir string) *watched {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		s, err := NewSet(store.Open, nil, store.FileURI(dir), parse(t))
		require.NoError(t, err)
		w, err := s.Watch(n)
		require.NoError(t, err)
		return &watched{t: t, set: s, w: w}
	}
	stuck, fine := watch(hanging), watch(filepath.Join(root, "fine"))
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		stuck.w.follow([]string{hanging}, hanging)
	}()
	<-asked
	fine.settle()
	fine.stopClock()
	tmp := filepath.Join(root, "x")
	put(t, tmp, "a\n")
	require.NoError(t, os.Rename(tmp, filepath.Join(root, "fine", "a.csv")))
	fine.await("a.csv")
	stuck.w.made(true) // as an event of a folder that it watches
	require.NoError(t, stuck.w.Problem())
	close(mended)
	<-followed
	require.True(t, stuck.w.watched[hanging])
	require.NoError(t, stuck.w.Close())
	require.NoError(t, fine.w.Close())
	require.NoError(t, n.Close())
}

// TestFilesOnADiskThatHangs: events of a folder whose files cannot be looked at keep those of no other one waiting, and are told when the disk is back.
func TestFilesOnADiskThatHangs(t *testing.T) {
	root := t.TempDir()
	n := NewNotifier()
	asked, mended := make(chan struct{}, 100), make(chan struct{})
	hanging := filepath.Join(root, "hanging")
	n.stat = func(path string) (os.FileInfo, error) {
		if filepath.Dir(path) == hanging {
			asked <- struct{}{}
			<-mended
		}
		return os.Stat(path)
	}
	watch := func(dir string) *watched {
		require.NoError(t, os.MkdirAll(dir, 0o755))
		s, err := NewSet(store.Open, nil, store.FileURI(dir), parse(t))
		require.NoError(t, err)
		w, err := s.Watch(n)
		require.NoError(t, err)
		watched := &watched{t: t, set: s, w: w}
		watched.settle()
		watched.stopClock()
		return watched
	}
	stuck, fine := watch(hanging), watch(filepath.Join(root, "fine"))
	renameIn := func(dir, name string) {
		tmp := filepath.Join(root, "x")
		put(t, tmp, "a\n")
		require.NoError(t, os.Rename(tmp, filepath.Join(root, dir, name)))
	}
	for i := range 3 {
		renameIn("hanging", fmt.Sprintf("%d.csv", i))
	}
	<-asked
	renameIn("fine", "a.csv")
	fine.await("a.csv")
	close(mended)
	stuck.await("0.csv", "1.csv", "2.csv")
	require.NoError(t, stuck.w.Close())
	require.NoError(t, fine.w.Close())
	require.NoError(t, n.Close())
	require.Empty(t, n.turns.waiting)
}

// TestTurnsAreBounded: a folder that hangs keeps so many events, and its watchers look for themselves when it is back.
func TestTurnsAreBounded(t *testing.T) {
	n := NewNotifier()
	mended, began, ran := make(chan struct{}), make(chan struct{}), 0
	require.True(t, n.turns.take("a", func() { close(began); <-mended }))
	<-began
	for range maxTurns {
		require.True(t, n.turns.take("a", func() { ran++ }))
	}
	require.False(t, n.turns.take("a", func() { ran++ }))
	done := make(chan struct{})
	require.True(t, n.turns.take("b", func() { close(done) }))
	<-done
	close(mended)
	require.NoError(t, n.Close())
	require.Equal(t, maxTurns, ran)
}
