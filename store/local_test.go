package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// raceDirEnv makes the test binary a contender of TestProcessRace.
const raceDirEnv = "LAKESQL_STORE_RACE_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(raceDirEnv); dir != "" {
		if err := contend(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const raceKeys = 150

// contend waits for a line on stdin, then tries to put every key, and prints those that it won.
func contend(dir string) error {
	s, err := store.NewLocal(dir)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	for i := range raceKeys {
		key := fmt.Sprintf("log/%d/%020d.json", i%3, i)
		switch err := s.PutIfAbsent(context.Background(), key, fmt.Appendf(nil, "%d", os.Getpid())); {
		case err == nil:
			fmt.Println(key)
		case !errors.Is(err, store.ErrExists):
			return err
		}
	}
	return nil
}

// TestProcessRace lets several processes put the same keys: each key has exactly one winner, whose bytes are there.
func TestProcessRace(t *testing.T) {
	s := newLocal(t)
	require.NoError(t, s.MakeRoot(t.Context()))
	dir, err := store.ParseFileURI(s.URI())
	require.NoError(t, err)
	type contender struct {
		cmd *exec.Cmd
		in  *bufio.Writer
		out *bufio.Scanner
	}
	var all []contender
	for range 4 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), raceDirEnv+"="+dir)
		cmd.Stderr = os.Stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill() }) // has ended already unless the test failed
		c := contender{cmd, bufio.NewWriter(in), bufio.NewScanner(out)}
		require.True(t, c.out.Scan())
		all = append(all, c)
	}
	for _, c := range all {
		_, err := c.in.WriteString("go\n")
		require.NoError(t, err)
		require.NoError(t, c.in.Flush())
	}
	winners := map[string]int{}
	for _, c := range all {
		for c.out.Scan() {
			key := c.out.Text()
			require.NotContains(t, winners, key, "two winners")
			winners[key] = c.cmd.Process.Pid
		}
		require.NoError(t, c.cmd.Wait())
	}
	require.Len(t, winners, raceKeys)
	for key, pid := range winners {
		data, err := s.Get(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint(pid), string(data))
	}
	require.Equal(t, raceKeys, countFiles(t, dir), "no temporary file is left")
}

func countFiles(t *testing.T, dir string) (n int) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// rooted returns a local store whose root is there.
func rooted(t *testing.T) (s *store.Local, dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := store.NewLocal(dir)
	require.NoError(t, err)
	return s, dir
}

func TestLocalLeftovers(t *testing.T) {
	s, dir := rooted(t)
	ctx := t.Context()
	require.NoError(t, s.PutIfAbsent(ctx, "d/7", []byte("x")))
	for _, name := range []string{".8.0f9c.tmp", ".8.0f9c.TID12.tmp", ".8.crc"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "d", name), nil, 0o644))
	}
	var keys []string
	for info, err := range s.List(ctx, "", "", "") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	require.Equal(t, []string{"d/.8.crc", "d/7"}, keys)
	require.NoError(t, store.DeletePrefix(ctx, s, "d/"))
	_, err := os.Stat(filepath.Join(dir, "d"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestLocalFailedWrites wants an error of the system to name operation and URI, and to leave nothing.
func TestLocalFailedWrites(t *testing.T) {
	s, dir := rooted(t)
	ctx := t.Context()
	require.NoError(t, s.PutIfAbsent(ctx, "file", nil))
	err := s.PutIfAbsent(ctx, "file/below", nil)
	require.ErrorContains(t, err, "create "+s.URI()+"/file/below")
	require.ErrorContains(t, err, "is a file, a folder is needed")
	require.ErrorIs(t, s.PutIfAbsent(ctx, strings.Repeat("n", 300), nil), syscall.ENAMETOOLONG)

	w, err := s.Create(ctx, "taken")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755))
	err = w.Commit(ctx, false)
	require.ErrorContains(t, err, "commit "+s.URI()+"/taken")
	require.NotErrorIs(t, err, store.ErrNotFound, "a folder has the name")
	require.Equal(t, 1, countFiles(t, dir))

	if runtime.GOOS == "linux" && os.Getuid() != 0 {
		require.NoError(t, os.Chmod(dir, 0o555))
		require.ErrorIs(t, s.PutIfAbsent(ctx, "new", nil), fs.ErrPermission)
		require.NoError(t, os.Chmod(dir, 0o755))
	}
}

// TestLocalDiskFull runs where /dev/full stands for a full disk.
func TestLocalDiskFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("the system has no /dev/full")
	}
	s, _ := rooted(t)
	w, err := s.Create(t.Context(), "k")
	require.NoError(t, err)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	store.ReplaceFile(w, full)
	_, err = w.Write([]byte("x"))
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.ErrorContains(t, err, "write "+s.URI()+"/k")
	require.ErrorIs(t, w.Commit(t.Context(), true), syscall.ENOSPC, "an object without those bytes is not committed")
	_, err = s.Stat(t.Context(), "k")
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestLocalETag(t *testing.T) {
	s, dir := rooted(t)
	ctx := t.Context()
	path := filepath.Join(dir, "k")
	tag := func() string {
		info, err := s.Stat(ctx, "k")
		require.NoError(t, err)
		return info.ETag
	}
	seen := map[string]bool{}
	mod := time.Unix(1700000000, 1)
	for step, change := range []func() error{
		func() error { return os.WriteFile(path, []byte("a"), 0o644) },
		func() error { return os.Chtimes(path, mod, mod) },
		func() error { return os.Chtimes(path, mod, mod.Add(1)) },
		func() error { // another inode, the rest as before
			if err := os.WriteFile(path+"2", []byte("b"), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(path+"2", mod, mod.Add(1)); err != nil {
				return err
			}
			return os.Rename(path+"2", path)
		},
	} {
		require.NoError(t, change())
		require.NotContains(t, seen, tag(), "step %d", step)
		seen[tag()] = true
	}
}

// TestLocalLinks: links are followed when listing, except in circles and to nothing, and deleting removes the link alone.
func TestLocalLinks(t *testing.T) {
	s, dir := rooted(t)
	ctx := t.Context()
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "f"), []byte("kept"), 0o644))
	require.NoError(t, s.PutIfAbsent(ctx, "d/1", nil))
	for link, target := range map[string]string{"d/file": outside + "/f", "d/folder": outside, "d/circle": "..", "d/nothing": "nowhere"} {
		require.NoError(t, os.Symlink(target, filepath.Join(dir, link)))
	}
	var keys []string
	for info, err := range s.List(ctx, "", "", "") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	require.Equal(t, []string{"d/1", "d/file", "d/folder/f"}, keys)
	for folder, link := range map[string]string{"circles": "..", "links": "nowhere", "linked": outside} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, folder, "deep"), 0o755))
		require.NoError(t, os.Symlink(link, filepath.Join(dir, folder, "deep", "link")))
	}
	require.NoError(t, s.PutIfAbsent(ctx, "deep/er/1", nil))
	keys = nil
	for info, err := range s.List(ctx, "", "", "/") {
		require.NoError(t, err)
		keys = append(keys, info.Key)
	}
	require.Equal(t, []string{"d/", "deep/", "linked/"}, keys, "folders that hold an object")
	require.NoError(t, store.DeletePrefix(ctx, s, "d/"))
	data, err := os.ReadFile(filepath.Join(outside, "f"))
	require.NoError(t, err)
	require.Equal(t, "kept", string(data))
}

func TestNewLocal(t *testing.T) {
	for _, dir := range []string{"", "relative", "./x", "/a\x00b"} {
		_, err := store.NewLocal(dir)
		require.Error(t, err, "%q", dir)
	}
	s, err := store.NewLocal("/")
	require.NoError(t, err)
	require.Equal(t, "file:///etc/x", store.ObjectURI(s, "etc/x"))
	require.ErrorContains(t, store.DeletePrefix(context.Background(), s, ""), "is not deleted")
}
