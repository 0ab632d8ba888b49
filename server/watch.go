package server

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// watch ends a statement whose client leaves before it has the result, between begin and end. It looks at what the client sends without taking it: commands are read
// when the one that runs is over.
type watch struct {
	c     *frontConn
	leave func() // the client is gone

	mu   sync.Mutex
	stop func() // of the watching that goes on; nil: none
}

// begin watches, after a while: most statements are over sooner and cost nothing.
func (w *watch) begin() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	timer := time.AfterFunc(watchAfter, func() {
		defer close(done)
		if w.c.clientLeaves(ctx) {
			w.leave()
		}
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stop = func() {
		cancel()
		if !timer.Stop() {
			<-done
		}
	}
}

// end stops watching. It must be called before anything else reads from the client.
func (w *watch) end() {
	w.mu.Lock()
	stop := w.stop
	w.stop = nil
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// clientLeaves waits until the client closes its end, or says that it leaves, or ctx ends: then it is false. A client that sends its next command
// early waits for this one's result.
func (c *frontConn) clientLeaves(ctx context.Context) bool {
	c.socket.watch(true)
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		c.socket.wake()
		close(woken)
	})
	left := c.peekLeaving()
	if !stop() {
		<-woken
	}
	c.socket.watch(false)
	// A connection that was retired reads as ended, and its statement ends for that reason.
	return left && ctx.Err() == nil && !c.retired.Load()
}

// peekLeaving looks for the end of what the client sends, or a COM_QUIT.
func (c *frontConn) peekLeaving() bool {
	if c.packed != nil && c.packed.holds() {
		return false // the next command is there already
	}
	quit := frame([]byte{comQuit}, 0)
	if c.packed != nil {
		quit = packedPlain(quit)
	}
	for n := range quit {
		start, err := c.wire.Peek(n + 1)
		if err != nil {
			return true
		}
		if !bytes.HasPrefix(quit, start) {
			return false
		}
	}
	return true
}
