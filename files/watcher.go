package files

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
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
	notify *Notifier
	own    bool // notify is for this watcher alone
	events chan struct{}
	poll   *time.Timer // now and then
	again  *time.Timer // for a file that waits
	later  *time.Timer // for a new name

	mu      sync.Mutex
	closed  bool
	watched map[string]bool
	problem error // why a folder is not watched
}

// Watch begins to watch the set's folders by a notifier; nil: by one of its own. The set has one watcher at a time. The first hint comes at once.
func (s *Set) Watch(notify *Notifier) (*Watcher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watcher != nil {
		return nil, errors.New("the files are watched already")
	}
	w := &Watcher{set: s, notify: notify, events: make(chan struct{}, 1), watched: map[string]bool{}}
	if notify == nil {
		w.notify, w.own = NewNotifier(), true
	}
	s.watcher = w
	w.again, w.later = stoppedTimer(w.hint), stoppedTimer(w.hint)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.poll = time.AfterFunc(pollPeriod, w.pollNow)
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
	return cmp.Or(w.problem, w.notify.problem())
}

// Close stops watching. It may be called twice.
func (w *Watcher) Close() error {
	w.set.mu.Lock()
	if w.set.watcher != w {
		w.set.mu.Unlock()
		return nil
	}
	w.set.watcher = nil
	w.set.mu.Unlock()
	w.mu.Lock()
	w.closed = true
	folders := w.watched
	w.watched = nil
	w.mu.Unlock()
	for folder := range folders {
		w.notify.remove(folder, w)
	}
	for _, timer := range []*time.Timer{w.poll, w.again, w.later} {
		timer.Stop()
	}
	w.set.gate.lost() // what is open now is not seen being closed
	if w.own {
		return w.notify.Close()
	}
	return nil
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

// pollNow gives the hint that needs no event, and sets the time of the next one.
func (w *Watcher) pollNow() {
	w.hint()
	period := pollPeriod
	if w.Problem() != nil {
		period = blindPollPeriod
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.poll.Reset(period)
	}
}

// gone says that a folder was removed or renamed, which ends its watch.
func (w *Watcher) gone(folder string) {
	w.mu.Lock()
	watched := w.watched[folder]
	delete(w.watched, folder)
	w.mu.Unlock()
	if watched {
		w.hint()
	}
}

// made says that a name is new. Where closing is told, too, the hint may come later.
func (w *Watcher) made(atOnce bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
	case atOnce:
		w.hint()
	default:
		w.later.Reset(createDelay)
	}
}

// follow watches the folders of the last listing, and no others. base is the set's own folder.
func (w *Watcher) follow(folders []string, base string) {
	if base == "" {
		return // not on the local disk
	}
	if len(folders) == 0 || !isDir(base) {
		folders = append(folders, nearestFolder(base))
	}
	w.lookUp(folders)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	keep := make(map[string]bool, len(folders))
	w.problem = nil
	added := false
	for _, folder := range folders {
		keep[folder] = true
		if w.watched[folder] {
			continue
		}
		if err := w.notify.add(folder, w); err != nil {
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
			w.notify.remove(folder, w)
		}
	}
	if added {
		w.hint()
	}
}

// lookUp looks at the folders that are to be watched, before anything is locked that others wait for: the system looks at them, too, when it is asked to watch them, and on
// a disk that hangs this is where a watcher waits, alone. What is wrong with a folder the watch says.
func (w *Watcher) lookUp(folders []string) {
	w.mu.Lock()
	added := slices.DeleteFunc(slices.Clone(folders), func(folder string) bool { return w.watched[folder] })
	w.mu.Unlock()
	for _, folder := range added {
		_, _ = w.notify.stat(folder)
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
