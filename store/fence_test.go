package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// newFence allows <dir>/base and <dir>/lake; <dir>/secret lies beside them.
func newFence(t *testing.T) (f *store.Fence, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"base/in", "lake/db", "secret"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	for link, target := range map[string]string{
		"base/out":      "../secret",
		"base/abs":      filepath.Join(dir, "secret"),
		"base/dangling": "../secret/new",
		"base/inner":    "in",
		"base/loop":     "loop",
		"base/tolake":   "../lake/db",
		"linked":        "lake",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	f, err = store.NewFence(filepath.Join(dir, "base"), ".", filepath.Join(dir, "linked"))
	require.NoError(t, err)
	return f, dir
}

func TestFenceAllows(t *testing.T) {
	f, dir := newFence(t)
	require.Equal(t, []string{dir + "/base", dir + "/linked"}, f.Roots())
	for path, want := range map[string]string{
		"in":                      "/base/in",
		"./in/":                   "/base/in",
		".":                       "/base",
		"in/../in/new/x.csv":      "/base/in/new/x.csv",
		"../lake/db":              "/lake/db",
		"../linked/db":            "/linked/db",
		"inner/x":                 "/base/inner/x", // spelled as given, not as resolved
		"tolake":                  "/base/tolake",
		dir + "/lake":             "/lake",
		"file:" + dir + "/lake":   "/lake",
		"file://" + dir + "/lake": "/lake",
		"in/*.csv":                "/base/in/*.csv",
		"in/{a,b}/[0-9]?.csv":     "/base/in/{a,b}/[0-9]?.csv",
		"in/a b:c":                "/base/in/a b:c",
		"a%2e":                    "/base/a%2e", // a path is no URI
		"..x/y":                   "/base/..x/y",
	} {
		uri, err := f.Resolve(path)
		require.NoError(t, err, path)
		require.Equal(t, store.FileURI(dir+want), uri, path)
		require.NoError(t, f.Check(uri))
	}
}

func TestFenceRefuses(t *testing.T) {
	f, dir := newFence(t)
	for _, path := range []string{
		"..", "../secret", "../secret/x", dir, "/", "/etc/passwd", dir + "/lakes", dir + "/base/../secret",
		"out", "out/x", "abs/new/x", "dangling", "inner/../../secret", "tolake/../..",
		"file:" + dir + "/base/%2e%2e/secret", "file:///etc", "file:" + dir + "/base/%2E%2e%2fsecret",
		"../*", "../secret/*.csv", "out/*", dir + "/*/x", "/*", "../{secret,lake}/x",
	} {
		uri, err := f.Resolve(path)
		outside := (*store.OutsideError)(nil)
		require.ErrorAs(t, err, &outside, "%s -> %s", path, uri)
		require.Equal(t, f.Roots(), outside.Roots)
		require.ErrorContains(t, err, "--allow-path")
	}
	outside := (*store.OutsideError)(nil)
	require.ErrorAs(t, f.Check(store.FileURI(dir+"/base/out/x")), &outside)
	require.Equal(t, dir+"/base/out/x", outside.Path)
	require.Equal(t, dir+"/secret/x", outside.Real)
	require.Equal(t, dir+"/base/out/x (which leads to "+dir+"/secret/x) is outside of the folders that statements may reach ("+
		dir+"/base, "+dir+"/linked); start the server with --allow-path "+dir+"/secret to allow it", outside.Error())
	for _, path := range []string{"../secret", "../secret/*.csv", "out"} {
		_, err := f.Resolve(path)
		require.ErrorContains(t, err, "--allow-path "+dir+"/secret to", "no more than what was asked for: %s", path)
	}

	for path, text := range map[string]string{
		"":                 "empty",
		"a\x00b":           "NUL",
		"s3://bucket/x":    "s3: is not supported yet",
		"http://h/x":       "is not supported yet",
		"file://data/x":    "names the host",
		"file:x":           "relative",
		"file:///%00":      "NUL",
		"in/*/../../../..": "behind the wildcard",
		"loop/x":           "too many levels",
	} {
		_, err := f.Resolve(path)
		require.ErrorContains(t, err, text, path)
		require.False(t, errors.As(err, &outside))
	}
}

func FuzzFence(f *testing.F) {
	fence, err := store.NewFence("/nowhere/base", "/nowhere/base")
	require.NoError(f, err)
	for _, seed := range []string{"a", "../x", "a/../../b", "file:///nowhere/base/%2e%2e/x", "*/..", "/nowhere/base/{a", "file:/x", "a\\..\\.."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		uri, err := fence.Resolve(path)
		if err != nil {
			return
		}
		got, err := store.ParseFileURI(uri)
		require.NoError(t, err)
		require.True(t, got == "/nowhere/base" || strings.HasPrefix(got, "/nowhere/base/"), "%q -> %q", path, got)
		for name := range strings.SplitSeq(got, "/") {
			require.NotEqual(t, "..", name)
		}
		require.NoError(t, fence.Check(uri))
	})
}

// What the server keeps for itself is out of reach in an allowed folder too, by whatever name; an allowed folder in it is not.
func TestFenceKeepsOutOfTheServersOwn(t *testing.T) {
	f, dir := newFence(t)
	for _, name := range []string{"base/data/secrets", "base/data/lake", "base/keys"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	require.NoError(t, os.Symlink("data", filepath.Join(dir, "base", "byname")))
	f, err := store.NewFence(filepath.Join(dir, "base"), append(f.Roots(), filepath.Join(dir, "base", "data", "lake"))...)
	require.NoError(t, err)
	require.NoError(t, f.KeepOut(filepath.Join(dir, "base", "byname"), filepath.Join(dir, "base", "keys", "key.pem")))
	for _, path := range []string{"data", "data/users", "byname/users", "in/../data/secrets/a", "data/*", "keys/key.pem", "file:" + dir + "/base/data/users"} {
		_, err := f.Resolve(path)
		var outside *store.OutsideError
		require.ErrorAs(t, err, &outside, path)
		require.NotEmpty(t, outside.Own)
		require.Contains(t, err.Error(), "which the server keeps for itself")
	}
	require.Error(t, f.Check(store.FileURI(filepath.Join(dir, "base", "data", "users"))))
	for _, path := range []string{".", "*/users", "data2", "keys", "data/lake/t", "byname/lake"} {
		_, err := f.Resolve(path)
		require.NoError(t, err, path)
	}
}
