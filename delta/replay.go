package delta

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"lakesql/store"
)

// Commits are read and parsed in rounds, by several goroutines; while one round is applied the next is read.
const (
	parallelReads = 8       // keeps every core busy behind system calls, and a remote store's latency at bay
	roundSteps    = 512     // makes waiting for a round's last file small beside the round
	roundBytes    = 8 << 20 // a round with more ends early: two of them are in memory at once
)

// readSteps hands the commits that files of the log hold to use, in order. Of a file that cannot be read, or of use, it
// returns the error.
func readSteps(ctx context.Context, st store.Store, steps []versionRange, use func(*commit) error) error {
	ctx, cancel := context.WithCancel(ctx)
	round := readRound(ctx, st, steps)
	defer func() { // nothing is left running
		cancel()
		<-round
	}()
	for len(steps) > 0 {
		files := <-round
		steps = steps[len(files):]
		round = readRound(ctx, st, steps)
		for _, f := range files {
			if f.err != nil {
				return f.err
			}
			for _, c := range f.commits {
				if err := use(c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// stepFile is what the file of a step holds.
type stepFile struct {
	commits []*commit
	err     error
}

// readRound reads the first of some files of the log, at least one of them, and sends them when all are read.
func readRound(ctx context.Context, st store.Store, steps []versionRange) <-chan []stepFile {
	files := make([]stepFile, min(len(steps), roundSteps))
	var taken, bytes atomic.Int64
	var readers sync.WaitGroup
	for range min(parallelReads, len(files)) {
		readers.Go(func() {
			for bytes.Load() < roundBytes {
				i := int(taken.Add(1)) - 1
				if i >= len(files) {
					return
				}
				bytes.Add(int64(files[i].read(ctx, st, steps[i])))
			}
		})
	}
	done := make(chan []stepFile, 1)
	go func() {
		readers.Wait()
		done <- files[:min(int(taken.Load()), len(files))]
		close(done)
	}()
	return done
}

// read fills f and returns the number of bytes read. A compaction that is gone or damaged is made good by the commits that it
// stands for. A panic must not take down more than the one who asked.
func (f *stepFile) read(ctx context.Context, st store.Store, r versionRange) (size int) {
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("%w: %s of %s: panic: %v", ErrCorrupt, logFileName(r.key()), st.URI(), p)
		}
	}()
	size = f.add(ctx, st, r)
	if r.first == r.last || !errors.Is(f.err, store.ErrNotFound) && !errors.Is(f.err, ErrCorrupt) {
		return size
	}
	f.err = nil
	for v := r.first; v <= r.last && f.err == nil; v++ {
		size += f.add(ctx, st, versionRange{v, v})
	}
	return size
}

func (f *stepFile) add(ctx context.Context, st store.Store, r versionRange) (size int) {
	c, size, err := readLogFile(ctx, st, r)
	if err != nil {
		f.err = err
		return size
	}
	f.commits = append(f.commits, c)
	return size
}

// readLogFile reads and parses a commit or a compaction; store.ErrNotFound when it is not there.
func readLogFile(ctx context.Context, st store.Store, r versionRange) (c *commit, size int, err error) {
	key := r.key()
	name := logFileName(key)
	data, err := st.Get(ctx, key)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s of %s: %w", name, st.URI(), err)
	}
	if c, err = parseCommit(name, r.last, data); err == nil && r.first < r.last {
		err = checkReconciled(c)
	}
	return c, len(data), err
}

// readCommit reads and parses one commit; store.ErrNotFound when there is no such version.
func readCommit(ctx context.Context, st store.Store, version int64) (*commit, error) {
	c, _, err := readLogFile(ctx, st, versionRange{version, version})
	return c, err
}
