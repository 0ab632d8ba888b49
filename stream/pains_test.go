package stream

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/delta/maintain"
	"lakesql/store/faultstore"
)

// TestPains has what people run into with other programs that do this job, by the numbers of docs/failures.md, which says what tests have the others.
func TestPains(t *testing.T) {
	t.Run("P13 an empty last batch before a restart", func(t *testing.T) {
		l := newLake(t)
		want := l.appendInput(1, 2)
		s := l.serve(overTables)
		s.create(sales(ofTable))
		s.caughtUp()
		_, err := maintain.Optimize(t.Context(), l.inputTable(), maintain.OptimizeOptions{})
		require.NoError(t, err)
		s.caughtUp()
		require.NoError(t, s.Close())
		version := l.version("sales")
		require.EqualValues(t, 1, version, "the place in the table has moved on, without a row")
		for range 2 {
			s = l.serve(overTables)
			require.NoError(t, s.Start(t.Context()))
			s.caughtUp()
			require.NoError(t, s.Close())
		}
		require.Equal(t, want, l.rows("sales"))
		require.Equal(t, version, l.version("sales"), "nothing is read again")
		want = append(want, l.appendInput(3)...)
		s = l.serve(overTables)
		require.NoError(t, s.Start(t.Context()))
		s.caughtUp()
		require.Equal(t, want, l.rows("sales"))
		require.NoError(t, s.Close())
	})

	t.Run("P14 history is processed again while files arrive", func(t *testing.T) {
		l := newLake(t)
		want := l.input(3)
		s := l.serve()
		s.create(sales(oneFileABatch))
		s.caughtUp()
		s.stop()
		s.create(sales(func(d *Definition) {
			d.Name, d.Target.Table, d.Checkpoint = "again", "mended", "file:///lake/checkpoints/again"
			availableNow(d)
		}))
		l.put("meanwhile.csv", "id,name\n7,x\n")
		again := func() { require.NoError(t, s.WaitFor(t.Context(), "lake", "again", Until{}, patience)) }
		again()
		require.NoError(t, s.SetTrigger(t.Context(), "lake", "again", Trigger{}))
		require.NoError(t, s.StartStream(t.Context(), "lake", "again"))
		l.put("later.csv", "id,name\n8,y\n")
		again()
		require.Equal(t, append(want, "7|x", "8|y"), l.rows("mended"))
		require.Equal(t, want, l.rows("sales"), "the table with the old rows stays as it is")
		require.NoError(t, s.Close())
	})

	t.Run("P26 which files were loaded", func(t *testing.T) {
		l := newLake(t)
		l.input(2)
		s := l.serve()
		s.create(sales(oneFileABatch))
		s.caughtUp()
		require.NoError(t, s.Close())
		for _, lost := range []string{"", "checkpoints/sales/_lakesql/files/"} {
			if lost != "" {
				deletePrefix(t, l, lost)
			}
			s = l.serve()
			require.NoError(t, s.Start(t.Context()))
			list, err := s.Files(t.Context(), "lake", "sales_in")
			require.NoError(t, err)
			require.Len(t, list, 2)
			for i, f := range list {
				require.Equal(t, []string{"file:///lake/landing/f000.csv", "file:///lake/landing/f001.csv"}[i], f.Path)
				require.Equal(t, FileCommitted, f.State, "also without what only lakesql keeps")
			}
			require.NoError(t, s.Close())
		}
	})

	t.Run("P35 CREATE waits for no listing", func(t *testing.T) {
		l := newLake(t)
		want := l.input(2)
		s := l.serve()
		listed := make(chan struct{})
		s.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.List, "landing"), Before: faultstore.Block(listed)})
		s.create(sales())
		require.Contains(t, []State{Starting, Running}, s.state().State)
		close(listed)
		s.caughtUp()
		require.Equal(t, want, l.rows("sales"))
		require.NoError(t, s.Close())
	})

	t.Run("P35 many files below three wildcards", func(t *testing.T) {
		files, folders := 100_000, 100
		if testing.Short() {
			files = 10_000
		}
		l := newLake(t)
		for i := range folders {
			for j := range files / folders {
				require.NoError(t, l.mem.PutIfAbsent(t.Context(), fmt.Sprintf("landing/%d/%d/%d.csv", i/10, i%10, j), []byte("id,name\n1,a\n")))
			}
		}
		s := l.serve()
		s.create(sales(func(d *Definition) {
			d.SelectSQL, d.Options = "file:///lake/landing/*/*/*.csv", map[string]string{"maxFilesPerTrigger": "10"}
			d.Trigger = Trigger{Kind: Every, Every: time.Hour}
		}))
		require.NoError(t, s.WaitFor(t.Context(), "lake", "sales_in", Until{Batch: new(int64)}, patience))
		require.Len(t, l.rows("sales"), 10)
		require.EqualValues(t, files-10, s.state().BacklogFiles, "all are known")
		require.NoError(t, s.Close())
	})

	t.Run("P36 some files have a column more, some rows a field less", func(t *testing.T) {
		l := newLake(t)
		l.put("a.csv", "id,name\n1,a\n")
		s := l.serve()
		s.create(sales(oneFileABatch, func(d *Definition) { d.OnSchemaChange = SchemaAddColumns }))
		s.caughtUp()
		l.put("b.csv", "id,name,more\n2,b,x\n3,c\n")
		l.put("c.csv", "id,name\n4,d\n")
		s.caughtUp()
		require.Equal(t, []string{"1|a|NULL", "2|b|x", "3|c|NULL", "4|d|NULL"}, l.rows("sales"))
		require.EqualValues(t, 1, s.state().ErrorRows, "the short row is told")
		require.NoError(t, s.Close())
	})

	t.Run("P40 a batch is one file a partition", func(t *testing.T) {
		l := newLake(t)
		want := l.input(50)
		s := l.serve()
		s.create(sales(availableNow))
		s.finished()
		require.NoError(t, s.Close())
		require.Equal(t, want, l.rows("sales"))
		data := slices.DeleteFunc(l.keys("tables/sales/"), func(key string) bool { return key[0] == '_' })
		require.Len(t, data, 1)
	})
}
