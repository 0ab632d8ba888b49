package kafka

import (
	"context"
	"sync"
	"time"
)

const (
	watchWait  = time.Second // how long a broker may wait before it says that there is nothing
	watchBytes = 1           // a broker gives one batch of records at the least, and it is not looked at
	watchPause = 200 * time.Millisecond
)

// watch asks the brokers for what lies behind the ends of the last look, and hints when there is something. It asks no more until
// it is told the next ends.
type watch struct {
	cluster *cluster
	hints   chan struct{}
	next    chan watched // the newest only
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

// watched is where to look.
type watched struct {
	topology topology
	ends     offsets
}

func newWatch(c *cluster) *watch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &watch{cluster: c, hints: make(chan struct{}, 1), next: make(chan watched, 1), cancel: cancel}
	w.done.Go(func() { w.run(ctx) })
	return w
}

// from says what lies behind the ends is new.
func (w *watch) from(t topology, ends offsets) {
	if w == nil {
		return
	}
	select {
	case <-w.next:
	default:
	}
	w.next <- watched{t, ends} // only this goroutine fills it
}

// stop ends the watch and waits. It may be called twice.
func (w *watch) stop() {
	if w != nil {
		w.cancel()
		w.done.Wait()
	}
}

func (w *watch) run(ctx context.Context) {
	var at watched
	for {
		if at.ends == nil {
			select {
			case <-ctx.Done():
				return
			case at = <-w.next:
			}
		}
		found := w.look(ctx, at)
		select {
		case at = <-w.next: // the source has looked meanwhile
			continue
		default:
		}
		if found {
			at.ends = nil
			select {
			case w.hints <- struct{}{}:
			default:
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// look asks all brokers at once, and returns at the first that has something, or when all have waited in vain.
func (w *watch) look(ctx context.Context, at watched) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := byLeader(at.topology, at.ends)
	answers := make(chan bool, len(parts))
	for leader, ends := range parts {
		w.done.Go(func() { answers <- w.ask(ctx, leader, ends) })
	}
	if len(parts) == 0 {
		return w.pause(ctx)
	}
	for range parts {
		if <-answers {
			return true
		}
	}
	return false
}

// ask reports whether a broker has records behind the ends. One that cannot tell is asked again: what is wrong is met, and told, by the
// source's next look.
func (w *watch) ask(ctx context.Context, leader int32, ends offsets) bool {
	list, err := w.cluster.fetch(ctx, leader, ends, watchWait, watchBytes, watchBytes)
	if err != nil {
		return w.pause(ctx)
	}
	for _, f := range list {
		if f.err != nil {
			return w.pause(ctx)
		}
		if f.next > ends[f.partition] || f.hwm > ends[f.partition] && !w.cluster.committed {
			return true
		}
	}
	return false
}

// pause returns false, later.
func (w *watch) pause(ctx context.Context) bool {
	_ = sleep(ctx, watchPause) // that it was cut short is seen by the caller's loop
	return false
}

// byLeader groups partitions by the broker that has them. Those that no broker has now are under -1.
func byLeader(t topology, at offsets) map[int32]offsets {
	out := map[int32]offsets{}
	for p, n := range at {
		leader, ok := t[p]
		if !ok {
			leader = -1
		}
		if out[leader] == nil {
			out[leader] = offsets{}
		}
		out[leader][p] = n
	}
	return out
}
