package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/store/faultstore"
	"lakesql/stream/source"
)

// cleaning is a stream over one source, as far as the source can tell: batches of one file each, whose rows and ends outlast a crash.
type cleaning struct {
	*folder
	recorded  source.Offset // the end of a batch that is to be run
	committed source.Offset
	batch     int64
	rows      []string
	skip      bool // ON ERROR SKIP FILE
}

// run is one process: it opens the source over the disk and runs batches until nothing is left.
func (c *cleaning) run(ctx context.Context, t *testing.T, disk store.Store) (err error) {
	open := func(uri string) (store.Store, error) {
		path, err := store.ParseFileURI(uri)
		return store.Sub(disk, path), err
	}
	st, err := open(store.FileURI(c.checkpoint))
	require.NoError(t, err)
	cp, err := checkpoint.Open(ctx, st)
	if err != nil {
		return err
	}
	src, err := Open(ctx, source.Spec{Kind: "files", Path: store.FileURI(c.landing), Options: c.options}, source.Env{Open: open, Checkpoint: cp, Now: time.Now, SkipUnreadable: c.skip})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	for {
		if c.recorded == c.committed {
			if c.recorded, _, err = src.Latest(ctx, c.committed, source.Limit{Files: 1}); err != nil {
				c.recorded = c.committed
				return err
			}
			if c.recorded == c.committed {
				return nil
			}
		}
		rows, err := c.readAgain(ctx, t, src)
		if err != nil {
			return err
		}
		start := c.committed
		if err := src.(source.Preparer).Prepare(ctx, c.batch, start, c.recorded); err != nil {
			return err
		}
		c.rows, c.committed = append(c.rows, rows...), c.recorded
		if err := src.Committed(ctx, c.batch, start, c.committed); err != nil {
			return err
		}
		c.batch++
	}
}

// readAgain returns the rows of the range that is recorded: those of the run that leaves out no more files.
func (c *cleaning) readAgain(ctx context.Context, t *testing.T, src source.Source) (rows []string, err error) {
	for {
		op, err := src.Read(ctx, c.committed, c.recorded, source.Observer{})
		if err != nil {
			return nil, err
		}
		rows = nil
		for err == nil {
			var b *batch.Batch
			if b, err = op.Next(ctx); err == nil {
				for i := range b.Rows() {
					rows = append(rows, b.Cols[0].Format(b.Row(i)))
				}
			}
		}
		require.NoError(t, op.Close())
		switch {
		case errors.Is(err, io.EOF):
			return rows, nil
		case !errors.Is(err, source.ErrAgain):
			return nil, err
		}
	}
}

// TestCleanSourceIsCrashed dies before and after each durable step of batches whose files go to an archive: whatever the step, the next process leaves each row once
// and no file behind, but for the one that was left out, whose rows nobody has.
func TestCleanSourceIsCrashed(t *testing.T) {
	for _, c := range []struct {
		name  string
		begin func(c *cleaning)
	}{
		{"plain", func(*cleaning) {}},
		{"SKIP FILE", func(c *cleaning) { c.skip = true }},
		{"allowOverwrites", func(c *cleaning) { c.with("allowOverwrites", "true") }},
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				t.Parallel()
				testCrashedCleaning(t, when, c.begin)
			})
		}
	}
}

func testCrashedCleaning(t *testing.T, when string, begin func(c *cleaning)) {
	for n := 1; ; n++ {
		c := &cleaning{folder: newFolder(t).with("cleanSource", "archive").with("schema", "id INT")}
		archive := filepath.Join(filepath.Dir(c.landing), "archive")
		c.with("sourceArchiveDir", store.FileURI(archive))
		begin(c)
		for i := range 3 {
			c.put(t, fmt.Sprintf("f%d.csv", i), fmt.Sprintf("id\n%d\n", i))
		}
		var stay []string
		if c.skip {
			stay = []string{"f1.csv.gz"}
			c.put(t, stay[0], "this is no gzip")
		}
		inner, err := store.Open("file:///")
		require.NoError(t, err)
		disk := faultstore.New(inner)
		if when == "before" {
			disk.CrashBefore(n)
		} else {
			disk.CrashAfter(n)
		}
		err = c.run(t.Context(), t, disk)
		if disk.Crashed() {
			require.ErrorIs(t, err, faultstore.ErrCrashed)
			require.NoError(t, c.run(t.Context(), t, faultstore.New(inner)), "operation %d:\n%s", n, disk.Log(faultstore.Durable...))
		} else {
			require.NoError(t, err)
		}
		left, moved := c.cleaned(t, archive)
		require.Equal(t, stay, left, "operation %d:\n%s", n, disk.Log(faultstore.Durable...))
		require.Len(t, moved, 3)
		slices.Sort(c.rows)
		require.Equal(t, []string{"0", "1", "2"}, c.rows, "operation %d", n)
		if !disk.Crashed() {
			require.Greater(t, n, 3*4, "the entry, the pin, what became of the file, the move")
			return
		}
	}
}

// TestOrphansArePinned: the files of an entry that has no pins are recorded before an offset covers them; one that is gone or changed is not, and is told when it is read.
func TestOrphansArePinned(t *testing.T) {
	f := newFolder(t).with("schema", "id INT")
	for _, name := range []string{"a.csv", "b.csv", "c.csv"} {
		f.put(t, name, "id\n1\n")
	}
	src := f.Open(t)
	settled(t, src, 3)
	end := f.next(t, src, source.None)
	require.NoError(t, src.Close())
	pin := filepath.Join(f.checkpoint, "_lakesql", "files", "0", strings.Repeat("0", 20)+".pin")
	whole, err := os.ReadFile(pin)
	require.NoError(t, err)
	require.NoError(t, os.Remove(pin))

	src = f.Open(t)
	require.Equal(t, end, f.latest(t, src, source.None))
	require.NoError(t, src.Close())
	again, err := os.ReadFile(pin)
	require.NoError(t, err)
	require.Equal(t, string(whole), string(again))

	require.NoError(t, os.Remove(pin))
	require.NoError(t, os.Remove(filepath.Join(f.landing, "b.csv")))
	f.touch(t, "c.csv", time.Now().Add(-2*time.Hour))
	src = f.Open(t)
	defer src.Close()
	require.Equal(t, end, f.latest(t, src, source.None))
	require.Equal(t, end, f.latest(t, src, source.None), "looking twice changes nothing")
	again, err = os.ReadFile(pin)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(again), "\n"))
	require.Contains(t, string(again), "a.csv")
	op, err := src.Read(t.Context(), source.None, end, source.Observer{})
	require.NoError(t, err)
	for err == nil {
		_, err = op.Next(t.Context())
	}
	require.ErrorIs(t, err, source.ErrChanged)
	require.NoError(t, op.Close())
}
