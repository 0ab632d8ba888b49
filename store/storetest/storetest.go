// Package storetest is the conformance test that every store runs.
package storetest

import (
	"testing"

	"lakesql/store"
)

// Run tests the promises of store.Store. open returns a fresh, empty store.
func Run(t *testing.T, open func(t *testing.T) store.Store) {}
