// Package faultstore wraps any store for tests: rules fail, delay, block or observe single operations, a log records them,
// and a crash can be put before or after any one of them.
//
// Everything that a store has confirmed is durable, so what a crash leaves is (*store.Memory).Clone() of the store inside.
package faultstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"lakesql/store"
)

// Kind names an operation as the log spells it.
type Kind string

// The operations of a store.
const (
	Get            Kind = "get"
	GetRange       Kind = "get-range"
	Create         Kind = "create"
	Write          Kind = "write"            // of a writer
	Commit         Kind = "commit"           // of a writer, replacing
	CommitIfAbsent Kind = "commit-if-absent" // of a writer, which must find the key free
	Abort          Kind = "abort"            // of a writer
	PutIfAbsent    Kind = "put-if-absent"
	List           Kind = "list"
	Stat           Kind = "stat"
	Delete         Kind = "delete"
	DeleteAll      Kind = "delete-all"
	Map            Kind = "map"
	MakeRoot       Kind = "make-root"
	Rename         Kind = "rename"
)

// Durable are the kinds that change what a crash leaves.
var Durable = []Kind{Commit, CommitIfAbsent, PutIfAbsent, Delete, DeleteAll, MakeRoot, Rename}

// ErrCrashed is the result of every operation after a crash.
var ErrCrashed = errors.New("faultstore: the process has crashed")

// Op is one operation. Key is relative to the wrapped store's root, also in a Sub; for List it is the prefix, for Rename
// "from -> to".
type Op struct {
	Kind Kind
	Key  string
}

// Is returns a Match for operations of any of these kinds.
func Is(kinds ...Kind) func(Op) bool {
	return func(op Op) bool {
		for _, k := range kinds {
			if op.Kind == k {
				return true
			}
		}
		return false
	}
}

// On returns a Match for one kind of operation on keys that begin with prefix.
func On(kind Kind, prefix string) func(Op) bool {
	return func(op Op) bool { return op.Kind == kind && strings.HasPrefix(op.Key, prefix) }
}

// Rule changes what happens at the operations that match. It runs without a lock: it may use the store.
type Rule struct {
	Match  func(Op) bool                                     // nil: every operation
	Nth    int                                               // only the n-th match, from 1; 0: every match
	Before func(ctx context.Context, op Op) error            // an error is the result, and the operation is not done
	After  func(ctx context.Context, op Op, err error) error // sees the result and returns what the caller gets
}

// Fail is a Before: the operation is not done and has this result, such as syscall.ENOSPC.
func Fail(err error) func(context.Context, Op) error {
	return func(_ context.Context, op Op) error { return fmt.Errorf("%s %s: %w", op.Kind, op.Key, err) }
}

// Lose is a Before: the write is not done, and the caller gets store.ErrAmbiguous.
func Lose() func(context.Context, Op) error { return Fail(store.ErrAmbiguous) }

// Obscure is an After: the write is done, and the caller gets store.ErrAmbiguous.
func Obscure() func(context.Context, Op, error) error {
	return func(_ context.Context, op Op, err error) error {
		if err != nil {
			return err
		}
		return fmt.Errorf("%s %s: %w", op.Kind, op.Key, store.ErrAmbiguous)
	}
}

// Delay is a Before: the operation waits that long, or until its context ends.
func Delay(d time.Duration) func(context.Context, Op) error {
	return func(ctx context.Context, _ Op) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Block is a Before: the operation waits until the channel is closed, or until its context ends.
func Block(until <-chan struct{}) func(context.Context, Op) error {
	return func(ctx context.Context, _ Op) error {
		select {
		case <-until:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Store is the wrapper. Subs of it share rules and log.
type Store struct {
	inner  store.Store
	prefix string // of a Sub: "" or ending with a slash
	s      *script
}

// script is what a Store and its Subs share.
type script struct {
	mu      sync.Mutex
	rules   []*armedRule // guarded by mu
	log     []logged     // guarded by mu
	durable int          // guarded by mu; durable operations so far
	crash   int          // guarded by mu; the durable operation at which to crash, 0: none
	after   bool         // guarded by mu; crash after it, not before
	crashed bool         // guarded by mu
}

type armedRule struct {
	Rule
	matched int
}

type logged struct {
	op     Op
	result string
}

var (
	_ store.Store     = (*Store)(nil)
	_ store.Mapper    = (*Store)(nil)
	_ store.RootMaker = (*Store)(nil)
	_ store.Renamer   = (*Store)(nil)
	_ store.Subber    = (*Store)(nil)
)

// New wraps inner.
func New(inner store.Store) *Store { return &Store{inner: inner, s: &script{}} }

// Add adds a rule. The Before of all that match run in the order in which they were added, until one fails.
func (s *Store) Add(r Rule) {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	s.s.rules = append(s.s.rules, &armedRule{Rule: r})
}

// ClearRules removes all rules.
func (s *Store) ClearRules() {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	s.s.rules = nil
}

// CrashBefore makes the n-th durable operation from now on (from 1) and everything after it fail with ErrCrashed, undone.
func (s *Store) CrashBefore(n int) { s.s.crashAt(n, false) }

// CrashAfter does the n-th durable operation from now on, but its caller, and everything after it, gets ErrCrashed.
func (s *Store) CrashAfter(n int) { s.s.crashAt(n, true) }

// Crashed tells whether the crash has happened.
func (s *Store) Crashed() bool {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	return s.s.crashed
}

// Log returns a line for each operation so far of the given kinds (none: of all kinds): kind, key, result. The result is "ok",
// the name of one of the store package's errors, or "error".
func (s *Store) Log(kinds ...Kind) string {
	wanted := Is(kinds...)
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	var b strings.Builder
	for _, l := range s.s.log {
		if len(kinds) == 0 || wanted(l.op) {
			fmt.Fprintf(&b, "%s %s %s\n", l.op.Kind, l.op.Key, l.result)
		}
	}
	return b.String()
}

// ClearLog forgets the operations so far.
func (s *Store) ClearLog() {
	s.s.mu.Lock()
	defer s.s.mu.Unlock()
	s.s.log = nil
}

func (sc *script) crashAt(n int, after bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.crash, sc.after = sc.durable+n, after
}

// do runs one operation under the rules.
func (sc *script) do(ctx context.Context, op Op, run func() error) error {
	rules, crashed, crashAfter := sc.arrive(op)
	if crashed {
		return fmt.Errorf("%s %s: %w", op.Kind, op.Key, ErrCrashed)
	}
	err := runRules(ctx, op, rules, run)
	if crashAfter {
		err = fmt.Errorf("%s %s: %w", op.Kind, op.Key, ErrCrashed)
	}
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.log = append(sc.log, logged{op, resultName(err)})
	return err
}

// arrive counts an operation and finds what applies to it.
func (sc *script) arrive(op Op) (rules []Rule, crashed, crashAfter bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if Is(Durable...)(op) {
		sc.durable++
		if sc.durable == sc.crash {
			crashAfter = sc.after && !sc.crashed
			crashed, sc.crashed = !sc.after, true
		}
	}
	if sc.crashed && !crashAfter {
		return nil, true, false
	}
	for _, r := range sc.rules {
		if r.Match != nil && !r.Match(op) {
			continue
		}
		r.matched++
		if r.Nth == 0 || r.Nth == r.matched {
			rules = append(rules, r.Rule)
		}
	}
	return rules, false, crashAfter
}

func runRules(ctx context.Context, op Op, rules []Rule, run func() error) error {
	for _, r := range rules {
		if r.Before == nil {
			continue
		}
		if err := r.Before(ctx, op); err != nil {
			return err
		}
	}
	err := run()
	for _, r := range rules {
		if r.After != nil {
			err = r.After(ctx, op, err)
		}
	}
	return err
}

func resultName(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrCrashed):
		return "crashed"
	case errors.Is(err, store.ErrExists):
		return "exists"
	case errors.Is(err, store.ErrRootMissing):
		return "root-missing"
	case errors.Is(err, store.ErrNotFound):
		return "not-found"
	case errors.Is(err, store.ErrAmbiguous):
		return "ambiguous"
	}
	return "error"
}

// result is do for operations that return a value.
func result[T any](s *Store, ctx context.Context, kind Kind, key string, run func() (T, error)) (T, error) {
	var value T
	err := s.s.do(ctx, Op{kind, s.prefix + key}, func() (err error) {
		value, err = run()
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return value, nil
}
