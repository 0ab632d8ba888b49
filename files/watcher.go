package files

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// pollPeriod is the time between two hints when nothing happens: events may be lost, and not all file systems give them.
	pollPeriod = 5 * time.Second
	// blindPollPeriod takes its place when folders cannot be watched.
	blindPollPeriod = time.Second
	// createDelay holds back the hint for a new name, because the one that says that the file is whole mostly follows at once
	// and a listing in between would be for nothing.
	createDelay = 20 * time.Millisecond
)

// Watcher hints that a set's listing may have changed, and tells the set which files it saw being closed or renamed in.
//
// It watches the folders that the last listing came by, and while the set's base does not exist its nearest parent that
// does. A folder is first watched and then listed: when follow adds one, it gives a hint. So no file is missed, and what an
// event does not tell, the next poll finds.
type Watcher struct {
	set    *Set
	notify *fsnotify.Watcher
	closes *closeTracker // nil where the system does not tell, or has no more watches
	events chan struct{}
	stop   context.CancelFunc
	done   sync.WaitGroup
	again  *time.Timer // for a file that waits
	later  *time.Timer // for a new name

	unwatchable error // why the system gives no watches at all

	mu      sync.Mutex
	watched map[string]bool
	problem error // why a folder is not watched
}

// Watch begins to watch the set's folders. The set has one watcher at a time. The first hint comes at once.
func (s *Set) Watch(ctx context.Context) (*Watcher, error) {
	notify, err := fsnotify.NewWatcher()
	w := &Watcher{set: s, notify: notify, events: make(chan struct{}, 1), watched: map[string]bool{}}
	if err != nil {
		w.notify, w.unwatchable = nil, err
	}
	if w.closes, err = newCloseTracker(s.gate, w.hint); err != nil {
		w.unwatchable = err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher != nil {
		return nil, errors.Join(errors.New("the files are watched already"), w.release())
	}
	s.watcher = w
	w.again, w.later = stoppedTimer(w.hint), stoppedTimer(w.hint)
	ctx, w.stop = context.WithCancel(ctx)
	w.done.Go(func() { w.run(ctx) })
	if w.closes != nil {
		w.done.Go(w.closes.run)
	}
	w.hint()
	return w, nil
}

func stoppedTimer(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
}

// Events receives a value when a listing is worth while. Hints are coalesced: one waits at the most.
func (w *Watcher) Events() <-chan struct{} { return w.events }

// Problem is why folders cannot be watched, nil when all is well. New files are then found by polling, each second.
func (w *Watcher) Problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.problem, w.unwatchable)
}

// Close stops watching and waits for the watcher's goroutines. It may be called twice.
func (w *Watcher) Close() error {
	w.set.mu.Lock()
	if w.set.watcher != w {
		w.set.mu.Unlock()
		return nil
	}
	w.set.watcher = nil
	w.set.mu.Unlock()
	w.again.Stop()
	w.later.Stop()
	w.stop()
	err := w.release()
	w.done.Wait()
	w.set.gate.lost() // what is open now is not seen being closed
	return err
}

// release gives the system's watches back.
func (w *Watcher) release() error {
	var err error
	if w.notify != nil {
		err = w.notify.Close()
	}
	if w.closes != nil {
		err = errors.Join(err, w.closes.close())
	}
	return err
}

func (w *Watcher) hint() {
	select {
	case w.events <- struct{}{}:
	default: // one is waiting
	}
}

// recheck gives a hint after d; 0: no need.
func (w *Watcher) recheck(d time.Duration) {
	if d <= 0 {
		w.again.Stop()
		return
	}
	w.again.Reset(d)
}

func (w *Watcher) run(ctx context.Context) {
	var events chan fsnotify.Event
	var failures chan error
	if w.notify != nil {
		events, failures = w.notify.Events, w.notify.Errors
	}
	poll := time.NewTimer(pollPeriod)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok {
				return
			}
			w.event(e)
		case _, ok := <-failures:
			if !ok {
				return
			}
			w.set.gate.lost() // a queue overflow, as a rule: the listing tells what happened
			w.hint()
		case <-poll.C:
			w.hint()
			period := pollPeriod
			if w.Problem() != nil {
				period = blindPollPeriod
			}
			poll.Reset(period)
		}
	}
}

// event turns what fsnotify saw into a hint. Writes are none: the file is not whole, and its closing is another event.
func (w *Watcher) event(e fsnotify.Event) {
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		w.mu.Lock()
		gone := w.watched[e.Name]
		delete(w.watched, e.Name)
		w.mu.Unlock()
		if gone {
			w.hint()
		}
		return
	}
	if !e.Has(fsnotify.Create) {
		return
	}
	if info, err := os.Stat(e.Name); err == nil && info.IsDir() {
		w.hint()
		return
	}
	if w.closes == nil {
		w.hint()
		return
	}
	w.later.Reset(createDelay)
}

// follow watches the folders of the last listing, and no others. base is the set's own folder.
func (w *Watcher) follow(folders []string, base string) {
	if base == "" {
		return // not on the local disk
	}
	if len(folders) == 0 || !isDir(base) {
		folders = append(folders, nearestFolder(base))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	keep := make(map[string]bool, len(folders))
	w.problem = nil
	added := false
	for _, folder := range folders {
		keep[folder] = true
		if w.watched[folder] {
			continue
		}
		if err := w.watch(folder); err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				w.problem = err
			}
			continue
		}
		w.watched[folder] = true
		added = true
	}
	for folder := range w.watched {
		if !keep[folder] {
			delete(w.watched, folder)
			w.unwatch(folder)
		}
	}
	if added {
		w.hint()
	}
}

func (w *Watcher) watch(folder string) error {
	if w.notify == nil {
		return w.unwatchable
	}
	if w.closes != nil {
		if err := w.closes.add(folder); err != nil {
			return err
		}
	}
	return w.notify.Add(folder)
}

// unwatch ends a watch; that of a folder which is gone has ended by itself, so that errors say nothing.
func (w *Watcher) unwatch(folder string) {
	if w.notify != nil {
		_ = w.notify.Remove(folder)
	}
	if w.closes != nil {
		w.closes.remove(folder)
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// nearestFolder is the deepest folder on the way to path that exists.
func nearestFolder(path string) string {
	for !isDir(path) {
		parent := filepath.Dir(path)
		if parent == path {
			break
		}
		path = parent
	}
	return path
}
