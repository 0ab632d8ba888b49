package files

import "sync"

// maxTurns bounds what waits for a folder whose disk hangs; beyond it, its watchers are told that events were missed.
const maxTurns = 1 << 12

// turns looks at what happened in folders, for each folder one thing after the other and for none of them behind another: a disk that hangs keeps only those who watch
// its own folders waiting. A folder costs a goroutine while there is something to look at.
type turns struct {
	done *sync.WaitGroup

	mu      sync.Mutex
	waiting map[string][]func() // guarded by mu; by folder, what waits for the look that is under way
}

// take lets look run in its folder's turn. It reports whether there was room.
func (t *turns) take(folder string, look func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	waiting, busy := t.waiting[folder]
	if len(waiting) >= maxTurns {
		return false
	}
	t.waiting[folder] = append(waiting, look)
	if !busy {
		t.done.Go(func() { t.run(folder) })
	}
	return true
}

func (t *turns) run(folder string) {
	for {
		t.mu.Lock()
		looks := t.waiting[folder]
		if len(looks) == 0 {
			delete(t.waiting, folder)
			t.mu.Unlock()
			return
		}
		t.waiting[folder] = nil
		t.mu.Unlock()
		for _, look := range looks {
			look()
		}
	}
}
