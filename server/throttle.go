package server

import (
	"sync"
	"time"
)

const (
	// freeFailures is how many failed logins from one address cost nothing but themselves: people mistype.
	freeFailures = 5
	// firstPause is the pause after the next one; each further one doubles it, up to longestPause.
	firstPause   = 1 * time.Second
	longestPause = 60 * time.Second
	// forgetAfter is how long a failure counts.
	forgetAfter = 10 * time.Minute
	// maxAddresses bounds what is remembered; when there are more, those whose pause is over are forgotten first.
	maxAddresses = 10_000
)

// throttle makes guessing passwords slow: addresses from which logins failed have to wait before the next one is looked at. A login that
// succeeds does not lift the pause: who has an account could go on guessing others' passwords with it.
type throttle struct {
	now func() time.Time

	mu    sync.Mutex
	tries map[string]*tries // by address
}

// tries are the failed logins from an address.
type tries struct {
	failures int
	last     time.Time
	until    time.Time // the next login is looked at from then on
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, tries: make(map[string]*tries)}
}

// wait returns how long an address has to wait; 0: its login is looked at.
func (t *throttle) wait(address string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pause(address, t.now())
}

// answer is called before a login is told whether it succeeded. It returns how long the address has to wait: then it is told nothing else,
// because others that were looked at beside it have failed. 0: it is told, and a failure is counted.
func (t *throttle) answer(address string, success bool) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	wait := t.pause(address, now)
	if wait == 0 && !success {
		t.failed(address, now)
	}
	return wait
}

// pause is what is left of an address's pause. The caller holds mu.
func (t *throttle) pause(address string, now time.Time) time.Duration {
	have := t.tries[address]
	if have == nil {
		return 0
	}
	return max(0, have.until.Sub(now))
}

// failed counts a failed login. The caller holds mu.
func (t *throttle) failed(address string, now time.Time) {
	have := t.tries[address]
	if have == nil || now.Sub(have.last) > forgetAfter {
		t.makeRoom(now)
		have = &tries{}
		t.tries[address] = have
	}
	have.failures++
	have.last = now
	if over := have.failures - freeFailures; over > 0 {
		have.until = now.Add(min(longestPause, firstPause<<min(over-1, 10)))
	}
}

// makeRoom forgets addresses when there are too many: all whose pause is over, or else any.
func (t *throttle) makeRoom(now time.Time) {
	if len(t.tries) < maxAddresses {
		return
	}
	for address, have := range t.tries {
		if have.until.Before(now) {
			delete(t.tries, address)
		}
	}
	for address := range t.tries {
		if len(t.tries) < maxAddresses {
			return
		}
		delete(t.tries, address)
	}
}
