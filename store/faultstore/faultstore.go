// Package faultstore wraps any store with failures, delays, callbacks and a log of operations, for tests.
package faultstore

import (
	"context"

	"lakesql/store"
)

// Kind names an operation as the log spells it.
type Kind string

// The operations of a store.
const (
	Get            Kind = "get"
	GetRange       Kind = "get-range"
	Create         Kind = "create"
	Write          Kind = "write"
	Commit         Kind = "commit"           // a writer's commit that replaces
	CommitIfAbsent Kind = "commit-if-absent" // a writer's commit that must find the key free
	Abort          Kind = "abort"
	PutIfAbsent    Kind = "put-if-absent"
	List           Kind = "list"
	Stat           Kind = "stat"
	Delete         Kind = "delete"
	Map            Kind = "map"
	MakeRoot       Kind = "make-root"
	Rename         Kind = "rename"
)

// Op is one operation on one key (for List the prefix, for Rename "from -> to").
type Op struct {
	Kind Kind
	Key  string
}

// Rule changes what happens at operations that match.
type Rule struct {
	Match  func(Op) bool                                     // nil: every operation
	Nth    int                                               // only the n-th match, from 1; 0: every match
	Before func(ctx context.Context, op Op) error            // an error is the result, and the operation is not done
	After  func(ctx context.Context, op Op, err error) error // sees the result and returns what the caller sees
}

// Store is the wrapper.
type Store struct{ store.Store }

// New wraps inner.
func New(inner store.Store) *Store { return &Store{inner} }

// Add adds a rule.
func (s *Store) Add(r Rule) {}

// Log returns one line an operation of the kinds given (none: of all kinds): kind, key, result.
func (s *Store) Log(kinds ...Kind) string { return "" }
