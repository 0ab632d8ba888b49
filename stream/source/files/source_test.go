package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a landing folder and a checkpoint on a real disk.
type folder struct {
	landing, checkpoint string
	n                   int
	change              func(*source.Env)
	options             map[string]string
}

func newFolder(t *testing.T) *folder {
	dir := t.TempDir()
	f := &folder{landing: filepath.Join(dir, "in"), checkpoint: filepath.Join(dir, "cp"), options: map[string]string{"format": "csv", "header": "true"}}
	require.NoError(t, os.Mkdir(f.landing, 0o755))
	st, err := store.Open(store.FileURI(f.checkpoint))
	require.NoError(t, err)
	_, err = checkpoint.Create(t.Context(), st)
	require.NoError(t, err)
	return f
}

func (f *folder) Open(t *testing.T) source.Source {
	st, err := store.Open(store.FileURI(f.checkpoint))
	require.NoError(t, err)
	cp, err := checkpoint.Open(t.Context(), st)
	require.NoError(t, err)
	env := source.Env{Open: store.Open, Checkpoint: cp, Now: time.Now}
	if f.change != nil {
		f.change(&env)
	}
	src, err := Open(t.Context(), source.Spec{Kind: "files", Path: store.FileURI(f.landing), Options: f.options}, env)
	require.NoError(t, err)
	return src
}

// Append renames a file in.
func (f *folder) Append(t *testing.T) []string {
	f.n++
	f.put(t, fmt.Sprintf("f%02d.csv", f.n), fmt.Sprintf("id,name\n%d,a b\n%d,c\n", f.n, -f.n))
	return []string{fmt.Sprintf("%d|a b", f.n), fmt.Sprintf("%d|c", -f.n)}
}

func (f *folder) put(t *testing.T, name, content string) {
	t.Helper()
	part := filepath.Join(f.landing, "."+name)
	require.NoError(t, os.WriteFile(part, []byte(content), 0o644))
	written := time.Now().Add(-time.Hour) // so that it is whole although no watcher saw it come
	require.NoError(t, os.Chtimes(part, written, written))
	require.NoError(t, os.Rename(part, filepath.Join(f.landing, name)))
}

// uri is what the file is known by.
func (f *folder) uri(name string) string { return store.FileURI(filepath.Join(f.landing, name)) }

// next waits for the range behind start.
func (f *folder) next(t *testing.T, src source.Source, start source.Offset) (end source.Offset) {
	t.Helper()
	_, err := src.Schema(t.Context())
	for errors.Is(err, source.ErrNoData) {
		time.Sleep(time.Millisecond)
		_, err = src.Schema(t.Context())
	}
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		end, _, err = src.Latest(t.Context(), start, source.Limit{})
		require.NoError(t, err)
		return end != start
	}, patience, time.Millisecond)
	return end
}

// read returns the rows of a range.
func (f *folder) read(t *testing.T, src source.Source, start, end source.Offset) (rows []string) {
	t.Helper()
	op, err := src.Read(t.Context(), start, end, source.Observer{})
	require.NoError(t, err)
	for {
		b, err := op.Next(t.Context())
		if errors.Is(err, io.EOF) {
			require.NoError(t, op.Close())
			return rows
		}
		require.NoError(t, err)
		for i := range b.Rows() {
			cells := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				if cells[c] = "NULL"; !v.IsNull(b.Row(i)) {
					cells[c] = v.Format(b.Row(i))
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
}

// patience is how long a test waits for what must come, on a machine that is busy with other tests.
const patience = time.Minute

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Subject { return newFolder(t) })
}

// TestOldAndLateFilesAreTaken has files that come late with an old time and a small name: no high-water mark may hide them.
func TestOldAndLateFilesAreTaken(t *testing.T) {
	f := newFolder(t)
	f.put(t, "m.csv", "id\n1\n")
	src := f.Open(t)
	defer src.Close()
	require.Eventually(t, func() bool {
		_, err := src.Schema(t.Context())
		return err == nil
	}, patience, 10*time.Millisecond)
	end, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	f.put(t, "a.csv", "id\n2\n")
	require.NoError(t, os.Chtimes(filepath.Join(f.landing, "a.csv"), time.Unix(0, 0), time.Unix(86400, 0)))
	require.Eventually(t, func() bool {
		next, _, err := src.Latest(t.Context(), end, source.Limit{})
		require.NoError(t, err)
		return next != end
	}, patience, 10*time.Millisecond)
}

func TestLimits(t *testing.T) {
	f := newFolder(t)
	for range 5 {
		f.Append(t)
	}
	src := f.Open(t).(*Source)
	defer src.Close()
	require.Eventually(t, func() bool {
		require.NoError(t, src.look(t.Context()))
		return len(src.ready) == 5
	}, patience, 10*time.Millisecond)
	size := src.ready[0].Size
	require.Equal(t, 5, src.count(source.Limit{}))
	require.Equal(t, 2, src.count(source.Limit{Files: 2}))
	require.Equal(t, 1, src.count(source.Limit{Bytes: 1}), "one at the least")
	require.Equal(t, 3, src.count(source.Limit{Bytes: 3 * size}))
	src.opts.MaxFilesPerTrigger = 4
	require.Equal(t, 4, src.count(source.Limit{}))
	require.Equal(t, 5, src.count(source.Limit{All: true}))
}

func TestSpecialNames(t *testing.T) {
	f := newFolder(t)
	names := []string{"a b.csv", "c%20d.csv", "e#f.csv", "é日.csv", "g+h=i,j;k.csv", "l[1].csv", "m{2}.csv"}
	for i, name := range names {
		f.put(t, name, fmt.Sprintf("id\n%d\n", i))
	}
	src := f.Open(t).(*Source)
	defer src.Close()
	require.Eventually(t, func() bool {
		require.NoError(t, src.look(t.Context()))
		return len(src.ready) == len(names)
	}, patience, 10*time.Millisecond)
	end, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	entries, err := src.log.Entries(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Len(t, entries, len(names))
	for _, e := range entries {
		got, err := src.unpinned(t.Context(), e)
		require.NoError(t, err)
		require.NoError(t, got.err, e.Path)
		require.Positive(t, got.Size)
	}
	require.Equal(t, source.Offset(`{"logOffset":0}`), end)
}

// TestNotices tells once of a recorded file that was written to since, and of none that was not.
func TestNotices(t *testing.T) {
	f := newFolder(t)
	f.put(t, "a.csv", "id\n1\n")
	f.put(t, "b.csv", "id\n2\n")
	src := f.Open(t).(*Source)
	defer src.Close()
	require.Eventually(t, func() bool {
		require.NoError(t, src.look(t.Context()))
		return len(src.ready) == 2
	}, patience, 10*time.Millisecond)
	_, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	for _, name := range []string{"a.csv", "b.csv"} {
		require.NoError(t, src.notice(t.Context(), []string{store.FileURI(filepath.Join(f.landing, name))}))
	}
	require.Empty(t, src.Notices())

	path := filepath.Join(f.landing, "a.csv")
	require.NoError(t, os.WriteFile(path, []byte("id\n1\n2\n"), 0o644))
	for range 2 {
		require.NoError(t, src.notice(t.Context(), []string{store.FileURI(path)}))
	}
	notices := src.Notices()
	require.Len(t, notices, 1)
	require.Contains(t, notices[0].Message, "recorded with 5 bytes, and has 7 now")
	require.Empty(t, src.Notices())
	require.NoError(t, os.Remove(filepath.Join(f.landing, "b.csv")))
	require.NoError(t, src.notice(t.Context(), []string{store.FileURI(filepath.Join(f.landing, "b.csv"))}), "gone is not changed")
}

// TestRescueColumns: what the first files did not have goes into a column of its own, also with a schema that was kept before there was one.
func TestRescueColumns(t *testing.T) {
	f := newFolder(t)
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	end := f.next(t, src, source.None)
	require.NoError(t, src.Close())

	f.change = func(e *source.Env) { e.NewColumns = source.RescueColumns }
	src = f.Open(t)
	defer src.Close()
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "id integer, _rescued_data string", schema.String())
	f.put(t, "b.csv", "id,more\nx,y\n")
	rows := f.read(t, src, end, f.next(t, src, end))
	require.Equal(t, []string{`NULL|{"id":"x","more":"y","_file_path":"` + f.uri("b.csv") + `"}`}, rows)
}

func TestOffsets(t *testing.T) {
	for text, want := range map[source.Offset]int64{source.None: -1, `{"logOffset":12}`: 12, "7": 7, ` {"logOffset": 3}`: 3} {
		got, err := parseOffset(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []source.Offset{"{}", "x", `{"sourceVersion":1}`} {
		_, err := parseOffset(text)
		require.ErrorIs(t, err, source.ErrChanged)
	}
	require.Equal(t, source.None, formatOffset(-1))
}

// TestFolderThatGoesAway: a folder that files were read of, and that is not there, is a fault that passes, also for a file of a range; a folder that is to
// come is none.
func TestFolderThatGoesAway(t *testing.T) {
	f := newFolder(t)
	away := f.landing + ".away"
	require.NoError(t, os.Rename(f.landing, away))
	src := f.Open(t)
	defer src.Close()
	end, _, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err, "nothing was read of it")
	require.Equal(t, source.None, end)
	require.NoError(t, os.Rename(away, f.landing))

	want := f.Append(t)
	require.Eventually(t, func() bool {
		end, _, err = src.Latest(t.Context(), source.None, source.Limit{})
		return err == nil && end != source.None
	}, patience, 10*time.Millisecond)
	_, err = src.Schema(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Rename(f.landing, away))
	_, _, err = src.Latest(t.Context(), end, source.Limit{})
	requireAway(t, err, f.landing)
	op, err := src.Read(t.Context(), source.None, end, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	requireAway(t, err, f.landing)
	require.NoError(t, op.Close())

	require.NoError(t, os.Rename(away, f.landing))
	op, err = src.Read(t.Context(), source.None, end, source.Observer{})
	require.NoError(t, err)
	b, err := op.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(want), b.Rows())
	require.NoError(t, op.Close())
	require.NoError(t, os.Remove(filepath.Join(f.landing, "f01.csv")))
	op, err = src.Read(t.Context(), source.None, end, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	var gone *source.FileError
	require.ErrorAs(t, err, &gone, "a file alone")
	require.NoError(t, op.Close())
}

func requireAway(t *testing.T, err error, folder string) {
	t.Helper()
	require.ErrorContains(t, err, "the folder "+store.FileURI(folder)+" is not there, and 1 files of it were read")
	var file *source.FileError
	require.False(t, errors.As(err, &file), "it passes: %v", err)
}
