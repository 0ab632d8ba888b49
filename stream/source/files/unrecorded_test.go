package files

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
)

// TestFilesThatCannotBeRecordedAreBacklog: while the disk is full there is work that is due, which is what makes a stream STALLED.
func TestFilesThatCannotBeRecordedAreBacklog(t *testing.T) {
	f := newFolder(t)
	st, err := store.Open(store.FileURI(f.checkpoint))
	require.NoError(t, err)
	disk := faultstore.New(st)
	f.change = func(env *source.Env) {
		env.Checkpoint, err = checkpoint.Open(t.Context(), disk)
		require.NoError(t, err)
	}
	src := f.Open(t)
	defer func() { require.NoError(t, src.Close()) }()
	f.Append(t)
	end := f.next(t, src, source.None)
	require.True(t, src.Backlog().Empty())

	disk.Add(faultstore.Rule{
		Match: func(op faultstore.Op) bool {
			return slices.Contains(faultstore.Durable, op.Kind) && strings.HasPrefix(op.Key, "sources/")
		},
		Before: faultstore.Fail(syscall.ENOSPC),
	})
	f.Append(t)
	for err = nil; err == nil; { // a look may come before the file
		_, _, err = src.Latest(t.Context(), end, source.Limit{})
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.EqualValues(t, 1, src.Backlog().Files)
}
