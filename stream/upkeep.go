package stream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"lakesql/delta/maintain"
	"lakesql/stream/source"
)

// upkeep does what must be done now and then, and that no batch may wait for: the table's checkpoints, its small files, and what
// the sources can prepare. One piece of work runs at a time, upkeepAtOnce of all streams and those that go on for longer than upkeepTime; it may be lost at any moment.
type upkeep struct {
	ss     *session
	table  maintain.Keeper
	cancel context.CancelFunc
	wanted chan struct{}
	done   chan struct{}
	clear  bool // what crashes have left is cleared away
}

func newUpkeep(ss *session) *upkeep {
	ctx, cancel := context.WithCancel(context.Background())
	u := &upkeep{ss: ss, table: maintain.Keeper{Table: ss.target.Table, Compact: true}, cancel: cancel, wanted: make(chan struct{}, 1), done: make(chan struct{})}
	go u.loop(ctx)
	return u
}

// due says that a batch was committed.
func (u *upkeep) due() {
	select {
	case u.wanted <- struct{}{}:
	default:
	}
}

// stop ends the work and waits for it.
func (u *upkeep) stop() { u.cancel(); <-u.done }

func (u *upkeep) loop(ctx context.Context) {
	defer close(u.done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.wanted:
		}
		select {
		case <-ctx.Done():
			return
		case u.ss.s.m.upkeeps <- struct{}{}:
		}
		leave := sync.OnceFunc(func() { <-u.ss.s.m.upkeeps })
		late := time.AfterFunc(upkeepTime, leave)
		err := u.work(ctx)
		late.Stop()
		leave()
		if err != nil && ctx.Err() == nil {
			u.ss.s.m.log.Warn("a stream's upkeep failed; it is tried again after the next batch", "stream", u.ss.def.FullName(), "error", err)
		}
	}
}

// work does everything once. A panic in it, over a foreign table's log perhaps, must not take the server down.
func (u *upkeep) work(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	if !u.clear && u.ss.cp != nil {
		err = u.ss.cp.RemoveLeftovers(ctx, u.ss.s.m.now())
		u.clear = err == nil
	}
	err = errors.Join(err, u.table.Work(ctx))
	for _, src := range u.ss.sources {
		if k, ok := src.(source.Upkeeper); ok {
			err = errors.Join(err, k.Upkeep(ctx))
		}
	}
	return err
}
