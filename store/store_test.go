package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
	"lakesql/store/storetest"
)

func newLocal(t *testing.T) *store.Local {
	t.Helper()
	s, err := store.NewLocal(t.TempDir() + "/sp ace/root")
	require.NoError(t, err)
	return s
}

// onlyStore hides the powers of a store.
type onlyStore struct{ store.Store }

func TestConformance(t *testing.T) {
	memory := func() *store.Memory { return store.NewMemory("memory:///m") }
	for name, open := range map[string]func(*testing.T) store.Store{
		"Local":     func(t *testing.T) store.Store { return newLocal(t) },
		"LocalSub":  func(t *testing.T) store.Store { return store.Sub(newLocal(t), "x/y") },
		"Memory":    func(t *testing.T) store.Store { return memory() },
		"MemorySub": func(t *testing.T) store.Store { return store.Sub(memory(), "x/y") },
		"Fault":     func(t *testing.T) store.Store { return faultstore.New(memory()) },
		"FaultSub":  func(t *testing.T) store.Store { return store.Sub(faultstore.New(newLocal(t)), "x/y") },
		"View": func(t *testing.T) store.Store {
			m := memory()
			require.NoError(t, m.MakeRoot(t.Context()))
			return store.Sub(onlyStore{m}, "x/y")
		},
	} {
		t.Run(name, func(t *testing.T) { storetest.Run(t, open) })
	}
}
