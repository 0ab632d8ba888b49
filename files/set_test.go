package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lakesql/store"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// put writes a file that is old enough to be whole.
func put(t testing.TB, path, data string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
}

// later is a clock at which all that was written before is whole.
func later() time.Time { return time.Now().Add(time.Hour) }

func parse(t testing.TB, pairs ...string) *Options {
	t.Helper()
	args := map[string]string{"format": "csv"}
	for i := 0; i < len(pairs); i += 2 {
		args[pairs[i]] = pairs[i+1]
	}
	o, err := ParseOptions(args)
	require.NoError(t, err)
	return o
}

func newSet(t testing.TB, pattern string, opts *Options) *Set {
	t.Helper()
	s, err := NewSet(store.Open, nil, pattern, opts)
	require.NoError(t, err)
	s.now = later
	return s
}

// names are the files' paths below dir.
func names(t testing.TB, dir string, list []File) []string {
	t.Helper()
	out := []string{}
	for _, f := range list {
		path, err := store.ParseFileURI(f.URI)
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

func TestListPatterns(t *testing.T) {
	dir := t.TempDir()
	mtime := time.Now().Add(-time.Hour)
	for _, name := range []string{
		"a.csv", "b.csv", "c.txt", "_hidden.csv", ".hidden.csv", "x.csv._COPYING_", "a b#é.csv", "br[1].csv",
		"_odd=1.csv", "sub/d.csv", "sub/deep/e.csv", "region=eu/f.csv", "region=eu/day=1/g.csv", "_skip/h.csv", "_k=v/i.csv",
	} {
		put(t, filepath.Join(dir, name), "x")
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), mtime, mtime))
	}
	recursive := []string{"recursiveFileLookup", "true"}
	tests := []struct {
		pattern string
		opts    []string
		want    string
	}{
		{"", nil, "_k=v/i.csv _odd=1.csv a b#é.csv a.csv b.csv br[1].csv c.txt region=eu/day=1/g.csv region=eu/f.csv"},
		{"", recursive, "_k=v/i.csv _odd=1.csv a b#é.csv a.csv b.csv br[1].csv c.txt region=eu/day=1/g.csv region=eu/f.csv sub/d.csv sub/deep/e.csv"},
		{"", []string{"pathGlobFilter", "[ab].csv"}, "a.csv b.csv"},
		{"a.csv", nil, "a.csv"},
		{"_hidden.csv", nil, "_hidden.csv"},
		{"sub", nil, "sub/d.csv"},
		{"missing", nil, ""},
		{"missing/*.csv", nil, ""},
		{"*.csv", nil, "_odd=1.csv a b#é.csv a.csv b.csv br[1].csv"},
		{"?.csv", nil, "a.csv b.csv"},
		{"[!a].*", nil, "b.csv c.txt"},
		{"{a,c}.{csv,txt}", nil, "a.csv c.txt"},
		{"{a,a}.csv", nil, "a.csv"},
		{`br\[1\].csv`, nil, "br[1].csv"},
		{"s*/*.csv", nil, "sub/d.csv"},
		{"**/*.csv", nil, "_k=v/i.csv _odd=1.csv a b#é.csv a.csv b.csv br[1].csv region=eu/day=1/g.csv region=eu/f.csv sub/d.csv sub/deep/e.csv"},
		{"**", nil, "_k=v/i.csv _odd=1.csv a b#é.csv a.csv b.csv br[1].csv c.txt region=eu/day=1/g.csv region=eu/f.csv sub/d.csv sub/deep/e.csv"},
		{"sub/**/e.csv", nil, "sub/deep/e.csv"},
		{"_*.csv", nil, "_hidden.csv _odd=1.csv"},
	}
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	for _, tt := range tests {
		t.Run(tt.pattern+strings.Join(tt.opts, " "), func(t *testing.T) {
			uri, err := fence.Resolve(dir + "/" + tt.pattern)
			require.NoError(t, err)
			s, err := NewSet(store.Open, fence, uri, parse(t, tt.opts...))
			require.NoError(t, err)
			s.now = later
			ready, waiting, err := s.List(t.Context())
			require.NoError(t, err)
			require.Empty(t, waiting)
			require.Equal(t, tt.want, strings.Join(names(t, dir, ready), " "))
		})
	}
}

func TestNegation(t *testing.T) {
	for segment, names := range map[string][2]string{"[!a]x": {"bx", "ax"}, `\[!a]x`: {"[!a]x", "bx"}, `\\[!a]x`: {`\bx`, `\ax`}} {
		globs, err := parseGlobs(segment)
		require.NoError(t, err)
		require.True(t, matchName(globs[0][0], names[0]), segment)
		require.False(t, matchName(globs[0][0], names[1]), segment)
	}
}

func TestListPatternErrors(t *testing.T) {
	for _, pattern := range []string{"relative/*.csv", "file:///a/[.csv", "file:///a/{b", "file:///a%zz"} {
		_, err := NewSet(store.Open, nil, pattern, parse(t))
		require.Error(t, err, pattern)
		require.Contains(t, err.Error(), pattern)
	}
}

func TestListOrder(t *testing.T) {
	dir := t.TempDir()
	base := time.Now().Add(-time.Hour)
	for i, name := range []string{"c.csv", "b.csv", "a.csv"} {
		put(t, filepath.Join(dir, name), "x")
		at := base.Add(time.Duration(min(i, 1)) * time.Second)
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	ready, _, err := newSet(t, store.FileURI(dir), parse(t)).List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"c.csv", "a.csv", "b.csv"}, names(t, dir, ready))
	require.NotEmpty(t, ready[0].ETag)
	require.EqualValues(t, 1, ready[0].Size)
}

func TestListNewSkipsKnownFiles(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.csv"), "x")
	s := newSet(t, store.FileURI(dir), parse(t))
	known := map[string]bool{}
	asked := 0
	list := func() []string {
		asked = 0
		ready, _, err := s.ListNew(t.Context(), func(uri string) bool { asked++; return known[uri] })
		require.NoError(t, err)
		for _, f := range ready {
			known[f.URI] = true
		}
		return names(t, dir, ready)
	}
	require.Equal(t, []string{"a.csv"}, list())
	require.Empty(t, list())
	require.Equal(t, 1, asked)
	require.Empty(t, list())
	require.Zero(t, asked, "an unchanged folder is not read again")
	for version, sure := folderVersion(dir); ; { // clocks of file systems are coarse, and this set takes what was changed just now for old
		put(t, filepath.Join(dir, "b.csv"), "x")
		if now, _ := folderVersion(dir); !sure || now.After(version) {
			break
		}
		require.NoError(t, os.Remove(filepath.Join(dir, "b.csv")))
	}
	require.Equal(t, []string{"b.csv"}, list())
}

// TestFreshFolderIsAlwaysRead: a folder whose change time is as new as the listing may change within the same tick.
func TestFreshFolderIsAlwaysRead(t *testing.T) {
	dir := t.TempDir()
	s := newSet(t, store.FileURI(dir), parse(t))
	listed, _ := folderVersion(dir)
	s.now = func() time.Time { return listed }
	all := func(string) bool { return true }
	for range 3 {
		_, _, err := s.ListNew(t.Context(), all)
		require.NoError(t, err)
		require.False(t, s.folders[""].sure)
	}
}

func TestListOutsideOfTheFence(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, "secret.csv"), "x")
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	_, err = NewSet(store.Open, fence, store.FileURI(outside), parse(t))
	var out *store.OutsideError
	require.ErrorAs(t, err, &out)

	s, err := NewSet(store.Open, fence, store.FileURI(dir), parse(t))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.csv"), filepath.Join(dir, "link.csv")))
	_, _, err = s.List(t.Context())
	require.ErrorAs(t, err, &out)
}

func TestListFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "in", "a.csv"), "x")
	put(t, filepath.Join(dir, "other", "b.csv"), "x")
	require.NoError(t, os.Symlink("../other/b.csv", filepath.Join(dir, "in", "b.csv")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "in", "c.csv")))
	ready, _, err := newSet(t, store.FileURI(filepath.Join(dir, "in")), parse(t)).List(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"in/a.csv", "in/b.csv"}, names(t, dir, ready))
}

// TestListLinkLoops: a file has one name in a listing, however links lead in circles.
func TestListLinkLoops(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "in", "a", "x.csv"), "x")
	put(t, filepath.Join(dir, "in", "b", "y.csv"), "x")
	for link, target := range map[string]string{"a/self": ".", "a/up": "..", "a/b": "../../b2", "b/a": "../a"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, "in", link)))
	}
	put(t, filepath.Join(dir, "b2", "z.csv"), "x")
	require.NoError(t, os.Symlink("../in/a", filepath.Join(dir, "b2", "back")))
	ready, _, err := newSet(t, store.FileURI(filepath.Join(dir, "in")), parse(t, "recursiveFileLookup", "true")).List(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"in/a/x.csv", "in/a/b/z.csv", "in/b/y.csv", "in/b/a/x.csv", "in/b/a/b/z.csv"}, names(t, dir, ready))
}

func TestListCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.csv"), "x")
	_, _, err := newSet(t, store.FileURI(dir), parse(t)).List(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

// TestListStore lists a store that is not the local disk: what it shows is whole.
func TestListStore(t *testing.T) {
	mem := store.NewMemory("memory:///in")
	require.NoError(t, mem.MakeRoot(t.Context()))
	open := func(uri string) (store.Store, error) {
		require.Equal(t, "memory:///in", uri)
		return mem, nil
	}
	for _, key := range []string{"a.csv", "_x.csv", "k=1/b.csv", "sub/c.csv"} {
		require.NoError(t, mem.PutIfAbsent(t.Context(), key, []byte("x")))
	}
	s, err := NewSet(open, nil, "memory:///in", parse(t))
	require.NoError(t, err)
	ready, waiting, err := s.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, waiting)
	require.Len(t, ready, 2)
	require.Equal(t, "memory:///in/a.csv", ready[0].URI)
	require.Equal(t, "memory:///in/k=1/b.csv", ready[1].URI)
}

func TestModifiedBetween(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"a.csv", "b.csv", "c.csv"} {
		path := filepath.Join(dir, name)
		put(t, path, "id\n1\n")
		at := time.Date(2026, 1, 1+i, 12, 0, 0, 0, time.UTC)
		require.NoError(t, os.Chtimes(path, at, at))
	}
	for _, tt := range []struct {
		options []string
		want    []string
	}{
		{[]string{"modifiedAfter", "2026-01-01 12:00:00"}, []string{"b.csv", "c.csv"}},
		{[]string{"modifiedBefore", "2026-01-02T12:00:00"}, []string{"a.csv"}},
		{[]string{"cloudFiles.modifiedAfter", "2026-01-01", "modifiedBefore", "2026-01-03 12:00:00"}, []string{"a.csv", "b.csv"}},
		{[]string{"modifiedAfter", "2026-01-02 13:30:00", "timeZone", "Europe/Berlin"}, []string{"c.csv"}},
		{[]string{"modifiedAfter", "2026-01-02 12:30:00", "timeZone", "Europe/Berlin"}, []string{"b.csv", "c.csv"}},
	} {
		ready, _, err := newSet(t, store.FileURI(dir), parse(t, tt.options...)).List(t.Context())
		require.NoError(t, err)
		require.Equal(t, tt.want, names(t, dir, ready), tt.options)
	}
}

func TestNamesAreFiltered(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "b.tsv", "c.txt", "d=1/e.csv"} {
		put(t, filepath.Join(dir, name), "id\n1\n")
	}
	for option, want := range map[string][]string{
		"*.csv": {"a.csv", "d=1/e.csv"}, "*.{csv,tsv}": {"a.csv", "b.tsv", "d=1/e.csv"}, "[!a-c]*": {"d=1/e.csv"}, "?.t*": {"b.tsv", "c.txt"},
	} {
		for _, name := range []string{"pathGlobFilter", "fileNamePattern"} {
			ready, _, err := newSet(t, store.FileURI(dir), parse(t, name, option)).List(t.Context())
			require.NoError(t, err)
			require.ElementsMatch(t, want, names(t, dir, ready), option)
		}
	}
}

func TestListingsPassOverWhatTheServerKeeps(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.csv", "data/users", "data/secrets/s", "in/b.csv", "in/key.pem"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
	}
	fence, err := store.NewFence(dir, dir)
	require.NoError(t, err)
	require.NoError(t, fence.KeepOut(filepath.Join(dir, "data"), filepath.Join(dir, "in", "key.pem")))
	opts, err := ParseOptions(map[string]string{"format": "text", "recursiveFileLookup": "true"})
	require.NoError(t, err)
	for _, pattern := range []string{"", "/**", "/{a.csv,data,in}", "/*/*", "/in/*", "/*/secrets/*"} {
		set, err := NewSet(store.Open, fence, store.FileURI(dir)+pattern, opts)
		require.NoError(t, err)
		ready, waiting, err := set.List(t.Context())
		require.NoError(t, err, pattern)
		for _, f := range append(ready, waiting...) {
			require.Regexp(t, `[ab]\.csv$`, f.URI, pattern)
		}
	}
	_, err = NewSet(store.Open, fence, store.FileURI(dir)+"/data/*", opts)
	require.ErrorContains(t, err, "keeps for itself")
}
