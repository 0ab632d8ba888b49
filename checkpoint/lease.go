package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"lakesql/store"
)

const (
	// LeaseTTL is how long the heartbeat of a holder may stand still before somebody else takes over.
	LeaseTTL = 10 * time.Second
	// LeaseHeartbeat is how often a holder calls Renew: three chances within the TTL.
	LeaseHeartbeat = 3 * time.Second
)

// Lease says which process works on a checkpoint, so that a second one waits instead of losing every batch. Correctness does not
// depend on it: the table's txn and the logs decide.
//
// Each holder has an epoch, an object lease/<epoch> that only it rewrites as heartbeat; the highest epoch holds.
//
//  1. Acquire finds no epoch, a released one, or one whose holder is dead: it puts the next epoch if absent, and of several only one wins.
//  2. A holder is dead when its heartbeat has not changed for LeaseTTL on this observer's monotonic clock (clocks are never compared),
//     or when it ran on this machine and its process has ended.
//  3. Renew that finds a higher epoch has lost.
type Lease struct {
	c     *Checkpoint
	owner string
	self  process
	clock func() time.Duration // monotonic
	ended func(process) bool   // whether a process of this machine is known to have ended

	mu        sync.Mutex
	epoch     int64         // guarded by mu; the one that is held, 0 when none is
	beat      int64         // guarded by mu; heartbeats so far
	lost      error         // guarded by mu; why the last one that was held is lost
	seen      leaseState    // guarded by mu; the holder as this observer last saw it
	seenSince time.Duration // guarded by mu; since when it has looked like that
}

// leaseState is the content of an epoch object.
type leaseState struct {
	Owner    string `json:"owner"` // for people: user, host, address
	process         // for the test whether it has ended
	Beat     int64  `json:"beat"`
	Released bool   `json:"released"`

	epoch int64
}

// process names an operating system's process beyond the reuse of its number.
type process struct {
	Machine string `json:"machine"` // boot and process namespace; empty where the system does not tell
	PID     int    `json:"pid"`
	Start   string `json:"start"` // start time in the machine's own unit
}

// Lease returns a handle for an owner, a text that people see: host, process, address. It takes nothing yet.
func (c *Checkpoint) Lease(owner string) *Lease {
	start := time.Now()
	return &Lease{c: c, owner: owner, self: thisProcess(), ended: processEnded, clock: func() time.Duration { return time.Since(start) }}
}

// Acquire takes the lease, or returns Kind Held naming the holder. The caller calls it again every LeaseHeartbeat on the same
// handle: that is how a dead holder is found out.
func (l *Lease) Acquire(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != 0 {
		return l.renew(ctx)
	}
	holder, older, err := l.holder(ctx)
	if err != nil {
		return err
	}
	if holder.epoch > 0 && !l.free(holder) {
		return l.held(Held, holder)
	}
	epoch := holder.epoch + 1
	err = l.c.putExtra(ctx, leaseKey(epoch), l.encode(0, false))
	if err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	// A slow caller may have put an epoch that others have passed and deleted: the highest holds.
	if now, _, findErr := l.holder(ctx); findErr != nil {
		return findErr
	} else if err != nil || now.epoch != epoch {
		return l.held(Held, now)
	}
	l.epoch, l.beat, l.lost = epoch, 0, nil
	for _, key := range older {
		if err := l.c.st.Delete(ctx, key); err != nil {
			return gone(l.c.st, err)
		}
	}
	return nil
}

// free tells whether a holder can be followed.
func (l *Lease) free(holder leaseState) bool {
	if holder.Released || l.self.Machine != "" && holder.Machine == l.self.Machine && l.ended(holder.process) {
		return true
	}
	if holder.process == l.self && holder.Owner == l.owner {
		return true // the same server, which has lost its handle
	}
	now := l.clock()
	if holder != l.seen {
		l.seen, l.seenSince = holder, now
	}
	return now-l.seenSince >= LeaseTTL
}

// Renew writes the next heartbeat: Kind LeaseLost when another owner took over, from then on until it is acquired again; Gone or Changed when
// the checkpoint is not the same any more.
func (l *Lease) Renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.epoch != 0:
		return l.renew(ctx)
	case l.lost != nil:
		return l.lost
	}
	return errors.New("renew a lease that is not held")
}

func (l *Lease) renew(ctx context.Context) error {
	if err := l.check(ctx); err != nil {
		return err
	}
	l.beat++
	return l.c.replaceExtra(ctx, leaseKey(l.epoch), l.encode(l.beat, false))
}

// check wants this epoch to be the highest.
func (l *Lease) check(ctx context.Context) error {
	if err := l.c.Verify(ctx); err != nil {
		return err
	}
	holder, _, err := l.holder(ctx)
	if err != nil {
		return err
	}
	if holder.epoch != l.epoch {
		l.epoch, l.lost = 0, l.held(LeaseLost, holder)
		return l.lost
	}
	return nil
}

// Release lets the next one take the lease at once. A lease that is lost or gone is no error.
func (l *Lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch == 0 {
		return nil
	}
	err := l.check(ctx)
	if err == nil {
		err = l.c.replaceExtra(ctx, leaseKey(l.epoch), l.encode(l.beat+1, true))
	}
	if err == nil || IsKind(err, LeaseLost) || IsKind(err, Gone) || IsKind(err, Changed) {
		l.epoch = 0
		return nil
	}
	return err
}

func leaseKey(epoch int64) string { return fmt.Sprintf("%s%020d.json", leaseDir, epoch) }

func (l *Lease) encode(beat int64, released bool) []byte {
	// Strings, integers and a bool always encode.
	data, _ := marshal(leaseState{Owner: l.owner, process: l.self, Beat: beat, Released: released})
	return data
}

// holder reads the highest epoch; its epoch is 0 when there is none. older are the keys of all found, which a new holder deletes.
func (l *Lease) holder(ctx context.Context) (holder leaseState, older []string, err error) {
	var key string
	for info, err := range l.c.st.List(ctx, leaseDir, "", "") {
		if err != nil {
			return leaseState{}, nil, gone(l.c.st, err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(info.Key, leaseDir), ".json")
		if epoch, err := strconv.ParseInt(name, 10, 64); err == nil && leaseKey(epoch) == info.Key {
			key, holder.epoch = info.Key, epoch
			older = append(older, key)
		}
	}
	if key == "" {
		return leaseState{}, nil, nil
	}
	data, ok, err := l.c.getExtra(ctx, key)
	if err != nil {
		return leaseState{}, nil, err
	}
	if ok && json.Unmarshal(data, &holder) != nil {
		holder.Owner = "an unreadable lease" // it never changes, so it is followed after the TTL
	}
	return holder, older, nil
}

func (l *Lease) held(kind Kind, by leaseState) error {
	found := "in use by " + by.Owner
	if by.epoch == 0 {
		found = "its lease has been deleted"
	}
	if kind == LeaseLost {
		found = "taken over: " + found
	}
	return &Error{Kind: kind, URI: l.c.URI(), Found: found,
		Hint: fmt.Sprintf("stop the stream there; should that server be dead, the checkpoint is free %v after its last sign of life", LeaseTTL)}
}
