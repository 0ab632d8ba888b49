package files

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Notifier tells watchers what happens in their folders. All watchers of a process share one: the system gives a user few instances to be notified
// by, 128 on Linux. It begins with the first folder that is watched.
type Notifier struct {
	done  sync.WaitGroup
	stat  func(path string) (os.FileInfo, error) // os.Stat
	turns turns                                  // for what looks at a disk, which may hang

	mu      sync.Mutex
	closed  bool                         // guarded by mu
	notify  *fsnotify.Watcher            // guarded by mu; nil where the system gives none
	closes  *closeTracker                // guarded by mu; nil where the system does not tell, or has no more
	err     error                        // guarded by mu; why either is nil that should not be
	folders map[string]map[*Watcher]bool // guarded by mu; who watches a folder
}

// NewNotifier makes a notifier. It starts nothing.
func NewNotifier() *Notifier {
	n := &Notifier{stat: os.Stat, folders: map[string]map[*Watcher]bool{}}
	n.turns = turns{done: &n.done, waiting: map[string][]func(){}}
	return n
}

// Close ends all watches and waits. It may be called twice. Watchers that are open then only poll.
func (n *Notifier) Close() error {
	n.mu.Lock()
	var err error
	if n.notify != nil && !n.closed {
		err = n.notify.Close()
	}
	if n.closes != nil && !n.closed {
		err = errors.Join(err, n.closes.close())
	}
	n.closed = true
	n.mu.Unlock()
	n.done.Wait()
	return err
}

// openLocked asks the system for its instances. A program that has used them all up has watchers that poll.
func (n *Notifier) openLocked() {
	var err error
	if n.notify, err = fsnotify.NewWatcher(); err != nil {
		n.notify, n.err = nil, err
		return
	}
	notify := n.notify
	n.done.Go(func() { n.run(notify) })
	n.err = nil
	if n.closes, err = newCloseTracker(n); err != nil {
		n.closes, n.err = nil, err
	}
	if closes := n.closes; closes != nil {
		n.done.Go(closes.run)
	}
}

// problem is why nothing, or not all, can be told.
func (n *Notifier) problem() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.err
}

// tellsCloses reports whether the closing of a file is told.
func (n *Notifier) tellsCloses() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closes != nil
}

// add watches a folder for w, which has looked at it before: all that are told of files wait meanwhile.
func (n *Notifier) add(folder string, w *Watcher) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errors.New("the files are no longer watched: the server is stopping")
	}
	if n.notify == nil {
		n.openLocked()
	}
	if n.notify == nil {
		return n.err
	}
	if n.folders[folder] == nil {
		if n.closes != nil {
			if err := n.closes.add(folder); err != nil {
				return err
			}
		}
		if err := n.notify.Add(folder); err != nil {
			return err
		}
		n.folders[folder] = map[*Watcher]bool{}
	}
	n.folders[folder][w] = true
	return nil
}

// remove ends w's watch of a folder. That of a folder which is gone has ended by itself, so that errors say nothing.
func (n *Notifier) remove(folder string, w *Watcher) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.folders[folder][w] {
		return
	}
	delete(n.folders[folder], w)
	if len(n.folders[folder]) > 0 || n.closed {
		return
	}
	delete(n.folders, folder)
	_ = n.notify.Remove(folder)
	if n.closes != nil {
		n.closes.remove(folder)
	}
}

// of returns who watches a folder; with forget the watch has ended by itself.
func (n *Notifier) of(folder string, forget bool) []*Watcher {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]*Watcher, 0, len(n.folders[folder]))
	for w := range n.folders[folder] {
		out = append(out, w)
	}
	if forget {
		delete(n.folders, folder)
	}
	return out
}

// lost tells everybody that events may have been missed.
func (n *Notifier) lost() {
	n.mu.Lock()
	all := map[*Watcher]bool{}
	for _, watchers := range n.folders {
		for w := range watchers {
			all[w] = true
		}
	}
	n.mu.Unlock()
	for w := range all {
		w.set.gate.lost()
		w.hint()
	}
}

// inTurn lets look run when those before it that look at the folder are done. Of a folder whose turn does not come, its watchers are told that events were missed.
func (n *Notifier) inTurn(folder string, look func()) {
	if n.turns.take(folder, look) {
		return
	}
	for _, w := range n.of(folder, false) {
		w.set.gate.lost()
		w.hint()
	}
}

// saw notes what was seen of a file, for those who watch its folder, and returns them.
func (n *Notifier) saw(folder, path string, note note) []*Watcher {
	watchers := n.of(folder, false)
	for _, w := range watchers {
		w.set.gate.saw(path, note)
	}
	return watchers
}

func (n *Notifier) run(notify *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-notify.Events:
			if !ok {
				return
			}
			n.event(e)
		case _, ok := <-notify.Errors:
			if !ok {
				return
			}
			n.lost() // a queue overflow, as a rule: the listing tells what happened
		}
	}
}

// event turns what fsnotify saw into hints. Writes are none: the file is not whole, and its closing is another event.
func (n *Notifier) event(e fsnotify.Event) {
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		for _, w := range n.of(e.Name, true) {
			w.gone(e.Name)
		}
		return
	}
	if !e.Has(fsnotify.Create) {
		return
	}
	folder := filepath.Dir(e.Name)
	n.inTurn(folder, func() {
		info, err := n.stat(e.Name)
		atOnce := err == nil && info.IsDir() || !n.tellsCloses()
		for _, w := range n.of(folder, false) {
			w.made(atOnce)
		}
	})
}
