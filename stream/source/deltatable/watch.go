package deltatable

import (
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"lakesql/store"
)

// pollEvery is how often the table is looked at without a hint: its log may lie where the system does not tell, or be made anew.
const pollEvery = time.Second

// watcher hints that the log of a table on the local disk has a new version. It is never needed: the next look finds what it did not see.
type watcher struct {
	notify *fsnotify.Watcher // nil: the system gives no watches
	folder string
	hints  chan struct{}
	done   sync.WaitGroup
	once   sync.Once
	err    error // of closing
}

// watch begins to watch. A table that is not on the local disk is not watched.
func watch(uri string) *watcher {
	w := &watcher{hints: make(chan struct{}, 1)}
	path, err := store.ParseFileURI(uri)
	if err != nil {
		return w
	}
	if w.notify, err = fsnotify.NewWatcher(); err != nil {
		w.notify = nil
		return w
	}
	w.folder = filepath.Join(path, "_delta_log")
	w.done.Go(w.run)
	w.follow()
	return w
}

// follow watches the log's folder once it is there.
func (w *watcher) follow() {
	if w.notify == nil || len(w.notify.WatchList()) > 0 {
		return
	}
	if w.notify.Add(w.folder) == nil {
		w.hint() // what came before the watch
	}
}

func (w *watcher) hint() {
	select {
	case w.hints <- struct{}{}:
	default: // one is waiting
	}
}

func (w *watcher) run() {
	for {
		select {
		case e, ok := <-w.notify.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) && isCommit(filepath.Base(e.Name)) {
				w.hint()
			}
		case _, ok := <-w.notify.Errors:
			if !ok {
				return
			}
			w.hint() // a queue overflow, as a rule
		}
	}
}

// isCommit says whether a name in the log is a version's.
func isCommit(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}

// Close stops watching and waits. It may be called twice.
func (w *watcher) Close() error {
	w.once.Do(func() {
		if w.notify != nil {
			w.err = w.notify.Close()
			w.done.Wait()
		}
	})
	return w.err
}
