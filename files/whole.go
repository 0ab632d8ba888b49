package files

import (
	"sync"
	"time"
)

const (
	// QuietPeriod is how long a file must be unchanged before it counts as whole when nothing better is known: longer than
	// the pause of a program that copies or downloads, short enough for a person who waits.
	// The change time of the inode counts, not the modification time, which copying programs set as they like.
	QuietPeriod = 2 * time.Second
	// OpenPeriod takes QuietPeriod's place for a file whose making was seen and whose closing was not: some program has it
	// open and may go on after a pause. It is an end at all because a link(2) looks the same.
	OpenPeriod = 30 * time.Second
	// SettlePeriod is the least time between the two listings that must find a file alike whose inode changed after its last
	// write, as a rename does.
	SettlePeriod = 200 * time.Millisecond
	// openCheckAge is how long after its last write a file may still be found open for writing and wait: asking costs some
	// microseconds a file, and a folder may hold a million old ones.
	openCheckAge = time.Hour
	// maxNotes bounds what is remembered between two listings; beyond it, files wait as if nothing had been seen.
	maxNotes = 1 << 17
)

// note is what the watcher saw of a file since the last listing.
type note struct {
	closed  bool // closed after writing, or renamed in; false: made, and so far not closed
	size    int64
	modTime time.Time
	round   int // of the listing that it came before or during
}

// candidate is a file that was not whole, or was so for a reason that a later look cannot see.
type candidate struct {
	stat    stat
	since   time.Time // found like this for the first time
	closed  bool
	open    bool
	visited bool // by the listing under way
}

// gate decides which files are whole. What it remembers is bounded by the files of the last OpenPeriod.
//
// A file is whole when one of these holds:
//
//  1. it was seen being closed after writing, or renamed in, and is still as it was then;
//  2. its inode changed after its last write, and two listings SettlePeriod apart found it alike;
//  3. nothing of it changed for QuietPeriod (OpenPeriod while some program has it open).
//
// Whatever the rules say, a file that some program has open for writing is not whole, where the system tells. An empty file
// is not looked at: it has no rows, and may get some.
type gate struct {
	mu    sync.Mutex
	round int             // listings begun
	notes map[string]note // by path
	files map[string]*candidate
}

func newGate() *gate { return &gate{notes: map[string]note{}, files: map[string]*candidate{}} }

// saw records what the watcher saw.
func (g *gate) saw(path string, n note) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.notes) >= maxNotes {
		clear(g.notes)
	}
	n.round = g.round
	g.notes[path] = n
}

// begin starts a listing.
func (g *gate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.round++
}

// lost says that the watcher may have missed events: a file that looks open may be closed.
func (g *gate) lost() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, n := range g.notes {
		if !n.closed {
			delete(g.notes, path)
		}
	}
	for _, c := range g.files {
		c.open = false
	}
}

// judge says whether the file is whole, and if not, after what time it may be.
func (g *gate) judge(path string, st stat, now time.Time) (whole bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.files[path]
	if c == nil {
		if _, noted := g.notes[path]; !noted && !st.changed.IsZero() && now.Sub(st.changed) >= QuietPeriod {
			return true, 0 // the third rule, with nothing to remember
		}
		c = &candidate{stat: st, since: now}
		g.files[path] = c
	}
	c.visited = true
	if !c.stat.same(st) {
		c.stat, c.since, c.closed = st, now, false
	}
	if n, ok := g.notes[path]; ok {
		delete(g.notes, path)
		c.open = !n.closed
		c.closed = n.closed && n.size == st.size && n.modTime.Equal(st.modTime)
	}
	return c.judge(now)
}

// same says whether nothing of the file changed. A rename changes nothing of it.
func (s stat) same(o stat) bool { return s.size == o.size && s.modTime.Equal(o.modTime) }

func (c *candidate) judge(now time.Time) (whole bool, wait time.Duration) {
	if c.closed {
		return true, 0
	}
	quiet := QuietPeriod
	if c.open {
		quiet = OpenPeriod
	}
	// Where the clock of the file's system is ahead of ours, or it has no change times, only what we saw counts.
	last := c.since
	if changed := c.stat.changed; !changed.IsZero() && changed.Before(last) {
		last = changed
	}
	wait = quiet - now.Sub(last)
	if c.stat.changed.After(c.stat.modTime) {
		wait = min(wait, SettlePeriod-now.Sub(c.since))
	}
	return wait <= 0, max(wait, 0)
}

// forget ends a listing: it drops what the listing did not come by, files that are gone, known, or of no interest. It returns
// those of them that were closed.
func (g *gate) forget() (closed []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, c := range g.files {
		if !c.visited {
			delete(g.files, path)
		}
		c.visited = false
	}
	for path, n := range g.notes {
		if n.round < g.round {
			delete(g.notes, path)
			if n.closed {
				closed = append(closed, path)
			}
		}
	}
	return closed
}
