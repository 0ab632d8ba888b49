// Package storetest is the conformance test of store.Store: every implementation runs it.
package storetest

import (
	"context"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// Run tests what store.go promises. open returns a store with nothing in it; where it is a RootMaker its root must not exist.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"Objects":      testObjects,
		"Ranges":       testRanges,
		"PutIfAbsent":  testPutIfAbsent,
		"Writer":       testWriter,
		"Keys":         testKeys,
		"List":         testList,
		"Folding":      testFolding,
		"Names":        testNames,
		"ETag":         testETag,
		"DeletePrefix": testDeletePrefix,
		"DeleteKeys":   testDeleteKeys,
		"Sub":          testSub,
		"Cancelled":    testCancelled,
		"Mapper":       testMapper,
		"Renamer":      testRenamer,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			if m, ok := s.(store.RootMaker); ok {
				require.NoError(t, m.MakeRoot(t.Context()))
				require.NoError(t, m.MakeRoot(t.Context()), "an existing root is no error")
			}
			test(t, s)
		})
	}
	t.Run("RootMissing", func(t *testing.T) { testRootMissing(t, open(t)) })
}

func put(t *testing.T, s store.Store, keys ...string) {
	t.Helper()
	for _, key := range keys {
		require.NoError(t, s.PutIfAbsent(t.Context(), key, []byte("content of "+key)))
	}
}

// keys lists; a folded prefix ends with the delimiter.
func keys(t *testing.T, s store.Store, prefix, startAfter, delimiter string) []string {
	t.Helper()
	all := []string{}
	for info, err := range s.List(t.Context(), prefix, startAfter, delimiter) {
		require.NoError(t, err)
		require.Equal(t, delimiter != "" && strings.HasSuffix(info.Key, delimiter), info.Prefix)
		all = append(all, info.Key)
	}
	return all
}

func testObjects(t *testing.T, s store.Store) {
	ctx := t.Context()
	require.False(t, strings.HasSuffix(s.URI(), "/"))
	_, err := s.Get(ctx, "a/b")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NotErrorIs(t, err, store.ErrRootMissing)
	require.ErrorContains(t, err, store.ObjectURI(s, "a/b"))
	_, err = s.Stat(ctx, "a/b")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, s.Delete(ctx, "a/b"), "deleting what is not there is no error")

	put(t, s, "a/b")
	data, err := s.Get(ctx, "a/b")
	require.NoError(t, err)
	require.Equal(t, "content of a/b", string(data))
	data[0] = 'X'
	again, err := s.Get(ctx, "a/b")
	require.NoError(t, err)
	require.Equal(t, "content of a/b", string(again), "the caller owns what Get returns")

	info, err := s.Stat(ctx, "a/b")
	require.NoError(t, err)
	require.Equal(t, "a/b", info.Key)
	require.EqualValues(t, 14, info.Size)
	require.False(t, info.ModTime.IsZero())
	_, err = s.Get(ctx, "a")
	require.ErrorIs(t, err, store.ErrNotFound, "a folder is no object")
	_, err = s.Stat(ctx, "a")
	require.ErrorIs(t, err, store.ErrNotFound, "a folder is no object")

	require.NoError(t, s.Delete(ctx, "a"), "a folder is no object")
	require.NoError(t, s.Delete(ctx, "a/b"))
	_, err = s.Get(ctx, "a/b")
	require.ErrorIs(t, err, store.ErrNotFound)
	put(t, s, "a/b")
	require.NoError(t, s.PutIfAbsent(ctx, "empty", nil))
	data, err = s.Get(ctx, "empty")
	require.NoError(t, err)
	require.Empty(t, data)
}

func testRanges(t *testing.T, s store.Store) {
	require.NoError(t, s.PutIfAbsent(t.Context(), "k", []byte("0123456789")))
	for _, c := range []struct {
		off, n int64
		want   string
	}{{0, 10, "0123456789"}, {3, 4, "3456"}, {8, 100, "89"}, {10, 5, ""}, {99, 5, ""}, {4, 0, ""}, {2, 1 << 62, "23456789"}} {
		data, err := s.GetRange(t.Context(), "k", c.off, c.n)
		require.NoError(t, err)
		require.Equal(t, c.want, string(data), "%d bytes at %d", c.n, c.off)
		p := make([]byte, min(c.n, 100))
		n, err := store.ReadRange(t.Context(), s, "k", c.off, p)
		require.NoError(t, err)
		require.Equal(t, c.want, string(p[:n]), "%d bytes at %d", len(p), c.off)
	}
	_, err := s.GetRange(t.Context(), "k", -1, 1)
	require.ErrorIs(t, err, fs.ErrInvalid)
	_, err = store.ReadRange(t.Context(), s, "k", -1, make([]byte, 1))
	require.ErrorIs(t, err, fs.ErrInvalid)
	_, err = s.GetRange(t.Context(), "none", 0, 1)
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = store.ReadRange(t.Context(), s, "none", 0, make([]byte, 1))
	require.ErrorIs(t, err, store.ErrNotFound)
}

func testPutIfAbsent(t *testing.T, s store.Store) {
	put(t, s, "k")
	err := s.PutIfAbsent(t.Context(), "k", []byte("other"))
	require.ErrorIs(t, err, store.ErrExists)
	data, err := s.Get(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, "content of k", string(data))

	const writers, rounds = 8, 20
	var wins [rounds]atomic.Int32
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for r := range rounds {
				if s.PutIfAbsent(context.Background(), "race/"+strconv.Itoa(r), []byte(strconv.Itoa(w))) == nil {
					wins[r].Add(1)
				}
			}
		})
	}
	wg.Wait()
	for r := range rounds {
		require.EqualValues(t, 1, wins[r].Load(), "winners of key %d", r)
	}
}

func testWriter(t *testing.T, s store.Store) {
	ctx := t.Context()
	create := func(text string) store.Writer {
		w, err := s.Create(ctx, "d/k")
		require.NoError(t, err)
		for _, part := range strings.SplitAfter(text, " ") {
			_, err := w.Write([]byte(part))
			require.NoError(t, err)
		}
		return w
	}
	content := func() string {
		data, err := s.Get(ctx, "d/k")
		require.NoError(t, err)
		return string(data)
	}
	w := create("the first one")
	require.Empty(t, keys(t, s, "", "", ""), "invisible before Commit")
	_, err := s.Get(ctx, "d/k")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NoError(t, w.Commit(ctx, true))
	require.Equal(t, "the first one", content())
	require.NoError(t, w.Abort(), "after Commit it does nothing")
	require.Error(t, w.Commit(ctx, false))
	_, err = w.Write([]byte("x"))
	require.Error(t, err)

	require.ErrorIs(t, create("the second").Commit(ctx, true), store.ErrExists)
	require.Equal(t, "the first one", content())
	require.NoError(t, create("the third").Commit(ctx, false))
	require.Equal(t, "the third", content())
	require.NoError(t, create("the fourth").Abort())
	require.Equal(t, "the third", content())
	require.Equal(t, []string{"d/k"}, keys(t, s, "", "", ""))
}

func testKeys(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, key := range []string{"", "/a", "a/", "a//b", "..", "../a", "a/../../b", ".", "./a", "a\x00b", ".a.tmp", "d/.1.x.tmp"} {
		require.ErrorIs(t, s.PutIfAbsent(ctx, key, nil), fs.ErrInvalid, "%q", key)
		_, err := s.Create(ctx, key)
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", key)
		_, err = s.Get(ctx, key)
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", key)
		_, err = s.Stat(ctx, key)
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", key)
		require.ErrorIs(t, s.Delete(ctx, key), fs.ErrInvalid, "%q", key)
	}
	for _, prefix := range []string{"/", "../", "a/../", "a//", "./", "..\x00"} {
		for _, err := range s.List(ctx, prefix, "", "") {
			require.ErrorIs(t, err, fs.ErrInvalid, "%q", prefix)
		}
		require.ErrorIs(t, store.DeletePrefix(ctx, s, prefix), fs.ErrInvalid, "%q", prefix)
	}
	odd := []string{"%41 b", ".hidden", "a=b/c d", "café/日本", "x?y#z", strings.Repeat("n", 250)}
	put(t, s, odd...)
	for _, key := range odd {
		data, err := s.Get(ctx, key)
		require.NoError(t, err)
		require.Equal(t, "content of "+key, string(data))
	}
	require.ElementsMatch(t, odd, keys(t, s, "", "", ""))
	require.Equal(t, []string{".hidden"}, keys(t, s, ".", "", ""))
}

func testList(t *testing.T, s store.Store) {
	require.Empty(t, keys(t, s, "", "", ""))
	all := []string{"a", "a-b/1", "a.b/1", "a/1", "a/10", "a/2", "a/b/c", "aa", "b/1"} // not put in "a": a name is a file or a folder
	all = all[1:]
	put(t, s, "b/1", "a/b/c", "aa", "a/10", "a-b/1", "a/2", "a.b/1", "a/1")
	for _, c := range []struct {
		prefix, after string
		want          []string
	}{
		{"", "", all},
		{"a/", "", []string{"a/1", "a/10", "a/2", "a/b/c"}},
		{"a/1", "", []string{"a/1", "a/10"}},
		{"a/", "a/1", []string{"a/10", "a/2", "a/b/c"}},
		{"", "a/b/c", []string{"aa", "b/1"}},
		{"", "a/b", []string{"a/b/c", "aa", "b/1"}},
		{"a", "a/zz", []string{"aa"}},
		{"", "zz", []string{}},
		{"none/", "", []string{}},
		{"a/1/", "", []string{}},
	} {
		if diff := cmp.Diff(c.want, keys(t, s, c.prefix, c.after, "")); diff != "" {
			t.Errorf("list %q after %q: %s", c.prefix, c.after, diff)
		}
	}
	for info, err := range s.List(t.Context(), "a/10", "", "") {
		require.NoError(t, err)
		stat, err := s.Stat(t.Context(), "a/10")
		require.NoError(t, err)
		require.True(t, stat.ModTime.Equal(info.ModTime))
		stat.ModTime = info.ModTime
		require.Equal(t, stat, info, "a listing says what Stat says")
	}
	for range s.List(t.Context(), "", "", "") {
		break // the caller may stop
	}
}

func testFolding(t *testing.T, s store.Store) {
	put(t, s, "b/1", "a/b/c", "aa", "a/10", "a-b/1", "a/2", "a/1")
	for _, c := range []struct {
		prefix, after, delimiter string
		want                     []string
	}{
		{"", "", "/", []string{"a-b/", "a/", "aa", "b/"}},
		{"a/", "", "/", []string{"a/1", "a/10", "a/2", "a/b/"}},
		{"a", "", "/", []string{"a-b/", "a/", "aa"}},
		{"a/", "a/2", "/", []string{"a/b/"}},
		{"", "a/2", "/", []string{"a/", "aa", "b/"}}, // a/b/c is greater than a/2
		{"", "a/b/c", "/", []string{"aa", "b/"}},
		{"", "", "-", []string{"a-", "a/1", "a/10", "a/2", "a/b/c", "aa", "b/1"}},
	} {
		if diff := cmp.Diff(c.want, keys(t, s, c.prefix, c.after, c.delimiter)); diff != "" {
			t.Errorf("list %q after %q by %q: %s", c.prefix, c.after, c.delimiter, diff)
		}
	}
	require.NoError(t, s.Delete(t.Context(), "b/1"))
	require.Equal(t, []string{"a-b/", "a/", "aa"}, keys(t, s, "", "", "/"), "a folder without objects is not listed")
}

func testNames(t *testing.T, s store.Store) {
	put(t, s, "b/1", "a/b/c", "aa", "a/10", "a/2", "a/1", "c")
	for _, c := range []struct {
		folder, after string
		want          []string
	}{
		{"", "", []string{"aa", "c"}},
		{"", "aa", []string{"c"}},
		{"a/", "", []string{"a/1", "a/10", "a/2"}},
		{"a/", "a/1", []string{"a/10", "a/2"}},
		{"a/", "a/2", []string{}},
		{"none/", "", []string{}},
	} {
		names := []string{}
		for name, err := range store.ListNames(t.Context(), s, c.folder, c.after) {
			require.NoError(t, err)
			names = append(names, name)
		}
		require.Equal(t, c.want, names, "names in %q after %q", c.folder, c.after)
	}
	for range store.ListNames(t.Context(), s, "", "") {
		break // the caller may stop
	}
}

func testETag(t *testing.T, s store.Store) {
	put(t, s, "k")
	before, err := s.Stat(t.Context(), "k")
	require.NoError(t, err)
	again, err := s.Stat(t.Context(), "k")
	require.NoError(t, err)
	require.Equal(t, before.ETag, again.ETag)
	w, err := s.Create(t.Context(), "k")
	require.NoError(t, err)
	_, err = w.Write([]byte("content of l")) // the same size
	require.NoError(t, err)
	require.NoError(t, w.Commit(t.Context(), false))
	after, err := s.Stat(t.Context(), "k")
	require.NoError(t, err)
	if before.ETag != "" {
		require.NotEqual(t, before.ETag, after.ETag)
	}
}

func testDeletePrefix(t *testing.T, s store.Store) {
	ctx := t.Context()
	put(t, s, "a/1", "a/b/2", "ab/3", "abc", "b")
	require.NoError(t, store.DeletePrefix(ctx, s, "a/"))
	require.Equal(t, []string{"ab/3", "abc", "b"}, keys(t, s, "", "", ""))
	require.NoError(t, store.DeletePrefix(ctx, s, "ab"))
	require.Equal(t, []string{"b"}, keys(t, s, "", "", ""))
	require.NoError(t, store.DeletePrefix(ctx, s, "none/"))
	require.NoError(t, store.DeletePrefix(ctx, s, ""))
	require.NoError(t, store.DeletePrefix(ctx, s, ""))
	if m, ok := s.(store.RootMaker); ok {
		require.ErrorIs(t, s.PutIfAbsent(ctx, "b", nil), store.ErrRootMissing)
		require.NoError(t, m.MakeRoot(ctx))
	}
	require.Empty(t, keys(t, s, "", "", ""))
}

func testDeleteKeys(t *testing.T, s store.Store) {
	ctx := t.Context()
	put(t, s, "a/1", "a/2", "b", "c/d/3")
	require.NoError(t, store.DeleteKeys(ctx, s, []string{"a/1", "a/none", "none/1", "c/d/3", "a/1"}))
	require.Equal(t, []string{"a/2", "b"}, keys(t, s, "", "", ""))
	require.NoError(t, store.DeleteKeys(ctx, s, nil))
	require.ErrorIs(t, store.DeleteKeys(ctx, s, []string{"../x", "b"}), fs.ErrInvalid)
	require.Equal(t, []string{"a/2", "b"}, keys(t, s, "", "", ""))
}

func testSub(t *testing.T, s store.Store) {
	ctx := t.Context()
	put(t, s, "a b/c/1", "a b/2", "x")
	sub := store.Sub(s, "a b/")
	require.Equal(t, store.ObjectURI(s, "a b"), sub.URI())
	require.Equal(t, []string{"2", "c/1"}, keys(t, sub, "", "", ""))
	require.Equal(t, []string{"c/1"}, keys(t, sub, "", "2", ""))
	require.Equal(t, []string{"1"}, keys(t, store.Sub(sub, "c"), "", "", ""))
	put(t, sub, "3")
	data, err := s.Get(ctx, "a b/3")
	require.NoError(t, err)
	require.Equal(t, "content of 3", string(data))
	_, err = sub.Get(ctx, "../x")
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.Equal(t, []string{"2", "3", "c/1"}, keys(t, store.Sub(s, "x/../../a b"), "", "", ""), ".. never leads above the root")
	require.Equal(t, s.URI(), store.Sub(s, "").URI())
	_, mapper := s.(store.Mapper)
	_, subMapper := sub.(store.Mapper)
	require.Equal(t, mapper, subMapper, "a Sub keeps the powers")
}

func testCancelled(t *testing.T, s store.Store) {
	put(t, s, "k")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Get(ctx, "k")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, s.PutIfAbsent(ctx, "l", nil), context.Canceled)
	for _, err := range s.List(ctx, "", "", "") {
		require.ErrorIs(t, err, context.Canceled)
	}
	w, err := s.Create(t.Context(), "l")
	require.NoError(t, err)
	require.ErrorIs(t, w.Commit(ctx, false), context.Canceled)
	require.Equal(t, []string{"k"}, keys(t, s, "", "", ""))
}

func testMapper(t *testing.T, s store.Store) {
	m, ok := s.(store.Mapper)
	if !ok {
		t.Skip("the store does not map")
	}
	put(t, s, "k")
	require.NoError(t, s.PutIfAbsent(t.Context(), "empty", nil))
	data, release, err := m.Map(t.Context(), "k")
	require.NoError(t, err)
	require.NoError(t, s.Delete(t.Context(), "k"))
	require.Equal(t, "content of k", string(data), "it outlives the object")
	release()
	release()
	data, release, err = m.Map(t.Context(), "empty")
	require.NoError(t, err)
	require.Empty(t, data)
	release()
	_, _, err = m.Map(t.Context(), "k")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func testRenamer(t *testing.T, s store.Store) {
	r, ok := s.(store.Renamer)
	if !ok {
		t.Skip("the store does not rename")
	}
	ctx := t.Context()
	put(t, s, "a/1", "a/b/2", "ab", "c/3")
	require.ErrorIs(t, r.Rename(ctx, "a", "c"), store.ErrExists)
	require.ErrorIs(t, r.Rename(ctx, "none", "d"), store.ErrNotFound)
	require.ErrorIs(t, r.Rename(ctx, "a", "../d"), fs.ErrInvalid)
	require.NoError(t, r.Rename(ctx, "a/", "d/e/"))
	require.Equal(t, []string{"ab", "c/3", "d/e/1", "d/e/b/2"}, keys(t, s, "", "", ""))
	_, err := s.Get(ctx, "a/1")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func testRootMissing(t *testing.T, s store.Store) {
	if _, ok := s.(store.RootMaker); !ok {
		t.Skip("the store has no root of its own")
	}
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, store.ErrRootMissing)
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	for range 2 { // the second time shows that the first made nothing
		_, err := s.Get(ctx, "k")
		check(err)
		_, err = s.Stat(ctx, "a/k")
		check(err)
		check(s.PutIfAbsent(ctx, "k", nil))
		check(s.PutIfAbsent(ctx, "a/b/k", nil))
		_, err = s.Create(ctx, "k")
		check(err)
		n := 0
		for _, err := range s.List(ctx, "a/", "", "") {
			check(err)
			n++
		}
		for _, err := range store.ListNames(ctx, s, "a/", "") {
			check(err)
			n++
		}
		require.Equal(t, 2, n)
		require.NoError(t, s.Delete(ctx, "k"))
	}
	require.NoError(t, s.(store.RootMaker).MakeRoot(ctx))
	w, err := s.Create(ctx, "a/k")
	require.NoError(t, err)
	require.NoError(t, store.DeletePrefix(ctx, s, ""))
	check(w.Commit(ctx, true))
	check(s.PutIfAbsent(ctx, "a/k", nil))
}
