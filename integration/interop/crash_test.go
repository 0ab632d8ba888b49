package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"

	"lakesql/store"
	"lakesql/store/faultstore"
)

// crashEnv makes the test binary a server in which each of many streams stops dead at a point of its own, so that one kill of the server is
// the kill of each of them at its point. It has the points by stream as JSON: "before|after kind end-of-the-URI".
const crashEnv = "LAKESQL_CRASHES"

// errDead is what every operation of a dead stream gets. A server tries again for ever what fails with it.
var errDead = fmt.Errorf("dead at its point: %w", syscall.EIO)

// crashes are streams that die. Below a folder with a dead stream's name nothing happens any more: that is its checkpoint and its table.
type crashes struct {
	points map[string]string // by stream

	mu   sync.Mutex
	dead map[string]bool
}

func newCrashes(points string) *crashes {
	c := &crashes{dead: map[string]bool{}}
	if err := json.Unmarshal([]byte(points), &c.points); err != nil {
		panic(err)
	}
	return c
}

// open opens local stores in which streams die.
func (c *crashes) open(uri string) (store.Store, error) {
	inner, err := store.Open(uri)
	if err != nil {
		return nil, err
	}
	st := faultstore.New(inner)
	st.Add(faultstore.Rule{
		Before: func(_ context.Context, op faultstore.Op) error { return c.pass("before", op.Kind, uri+"/"+op.Key) },
		After: func(_ context.Context, op faultstore.Op, err error) error {
			if dead := c.pass("after", op.Kind, uri+"/"+op.Key); dead != nil && err == nil {
				return dead
			}
			return err
		},
	})
	return st, nil
}

// pass lets an operation of a living stream pass, unless it is the point where that one dies.
func (c *crashes) pass(when string, kind faultstore.Kind, uri string) error {
	for stream, point := range c.points {
		if !strings.Contains(uri+"/", "/"+stream+"/") {
			continue
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if rest, ok := strings.CutPrefix(point, when+" "+string(kind)+" "); ok && strings.HasSuffix(uri, rest) {
			c.dead[stream] = true
		}
		if c.dead[stream] {
			return errDead
		}
		return nil
	}
	return nil
}
