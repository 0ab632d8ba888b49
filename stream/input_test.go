package stream

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

func onError(mode ErrorMode, limit int64) func(*Definition) {
	return func(d *Definition) { d.OnError = OnError{Mode: mode, Max: limit} }
}

func TestEmptyFileIsRecorded(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	l.put("a_empty.csv", "")
	s.create(sales())
	s.caughtUp()
	require.Equal(t, "waiting for the first file", s.state().Reason)

	l.put("data.csv", "id,name\n1,a\n")
	s.caughtUp()
	require.Equal(t, []string{"1|a"}, l.rows("sales"))
	l.put("b_empty.csv", "")
	s.caughtUp()
	require.Equal(t, []string{"1|a"}, l.rows("sales"))
	list, err := s.Files(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, f := range list {
		require.Equal(t, FileCommitted, f.State, f.Path)
	}
}

func TestPermissive(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n2,b\n")
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	l.put("b.csv", "id,name\nx,c\n4,d,too,many\n")
	s.caughtUp()
	require.Equal(t, []string{"1|a", "2|b", "4|d", "NULL|c"}, l.rows("sales"))
	bad, err := s.Errors(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.Len(t, bad, 2)
	require.Equal(t, "file:///lake/landing/b.csv", bad[0].File)
	require.EqualValues(t, 2, bad[0].Line)
	require.Equal(t, "id", bad[0].Column)
	require.EqualValues(t, 1, bad[0].BatchID)
	require.EqualValues(t, 2, s.state().ErrorRows)
	p, err := s.Progress(t.Context(), "lake", "sales_in", 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, p[0].NumErrorRows)
	require.EqualValues(t, 1, p[0].BatchID)
	require.EqualValues(t, 1, p[0].CommitVersion)
}

func TestSkipRow(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n")
	s := l.serve()
	s.create(sales(onError(SkipRow, 0)))
	s.caughtUp()
	l.put("b.csv", "id,name\nx,c\n4,d\n")
	s.caughtUp()
	require.Equal(t, []string{"1|a", "4|d"}, l.rows("sales"))
	list, err := s.Files(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.EqualValues(t, 1, list[1].Rejected)
	require.EqualValues(t, 1, list[1].Rows)
}

func TestFailMode(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n")
	s := l.serve()
	s.create(sales(onError(Fail, 0)))
	s.caughtUp()
	l.put("b.csv", "id,name\n2,b\nx,c\n")
	reason := s.failed()
	require.Contains(t, reason, "file:///lake/landing/b.csv")
	require.Contains(t, reason, "line 3")
	require.Equal(t, []string{"1|a"}, l.rows("sales"), "no row of a batch that fails")

	require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/b.csv"))
	s.caughtUp()
	require.Equal(t, []string{"1|a"}, l.rows("sales"))
}

// TestRetryOfAFileWhoseResultIsLost has a crash come before the record of what the batch did with a file that was left out: what was kept before the commit says it too. Where
// that is lost as well, the file is not taken: were the decision to leave it out forgotten, nothing would read it, and it would be shown as committed.
func TestRetryOfAFileWhoseResultIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		suffixes []string
		count    int
	}{"done": {[]string{".done"}, 1}, "all": {[]string{".done", ".read"}, 0}} {
		t.Run(name, func(t *testing.T) {
			l := newLake(t)
			l.put("a.csv", "id,name\n1,a\n")
			s := l.serve()
			s.create(sales(onError(Fail, 0)))
			s.caughtUp()
			l.put("b.csv", "id,name\n2,b\nx,c\n")
			s.failed()
			const b = "file:///lake/landing/b.csv"
			require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", b))
			s.caughtUp()
			require.NoError(t, s.Close())
			const facts = "checkpoints/sales/_lakesql/files/0/"
			for _, suffix := range c.suffixes {
				lost := 0
				for _, key := range l.keys(facts) {
					if strings.HasSuffix(key, suffix) {
						require.NoError(t, l.mem.Delete(t.Context(), facts+key))
						lost++
					}
				}
				require.Positive(t, lost, suffix)
			}

			s = l.serve()
			require.NoError(t, s.Start(t.Context()))
			list, err := s.Files(t.Context(), "lake", "sales_in")
			require.NoError(t, err)
			require.Equal(t, b, list[1].Path)
			require.Equal(t, FileSkipped, list[1].State)
			l.put("b.csv", "id,name\n2,b\n")
			count, err := s.Retry(t.Context(), "lake", "sales_in", "")
			require.NoError(t, err)
			require.Equal(t, c.count, count)
			if c.count == 0 {
				_, err = s.Retry(t.Context(), "lake", "sales_in", b)
				require.ErrorContains(t, err, "lost the record")
				require.Equal(t, []string{"1|a"}, l.rows("sales"))
			} else {
				s.caughtUp()
				require.Equal(t, []string{"1|a", "2|b"}, l.rows("sales"))
			}
			require.NoError(t, s.Close())
		})
	}
}

func TestMaxErrors(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n")
	s := l.serve()
	s.create(sales(onError(Permissive, 1)))
	s.caughtUp()
	l.put("b.csv", "id,name\nx,c\n")
	s.caughtUp()
	require.Len(t, l.rows("sales"), 2)
	l.put("c.csv", "id,name\nx,c\ny,d\n")
	reason := s.failed()
	require.Contains(t, reason, "2 malformed rows, and MAX 1 ROWS")
	require.Contains(t, reason, "c.csv, line 2")
	require.Contains(t, reason, "ALTER STREAM lake.sales_in SKIP FILE 'file:///lake/landing/c.csv'", "a file of a recorded range is not read once it has changed")
	require.Len(t, l.rows("sales"), 2)
	bad, err := s.Errors(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.Len(t, bad, 3, "the rows that made it fail are there to be seen")
}

func TestVanishedFile(t *testing.T) {
	for _, mode := range []ErrorMode{Permissive, SkipFile} {
		l := newLake(t)
		l.put("a.csv", "id,name\n1,a\n")
		s := l.serve()
		s.create(sales(onError(mode, 0)))
		s.caughtUp()
		// The file goes away between the record of the range and the reading of it.
		s.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "checkpoints/sales/offsets/1"), Nth: 1,
			After: func(c ctx, _ faultstore.Op, err error) error {
				return l.mem.Delete(c, "landing/b.csv")
			}})
		l.put("b.csv", "id,name\n2,b\n")
		if mode == Permissive {
			require.Contains(t, s.failed(), "file:///lake/landing/b.csv")
			l.put("c.csv", "id,name\n3,c\n")
			require.NoError(t, s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/b.csv"))
		} else {
			s.caughtUp()
			l.put("c.csv", "id,name\n3,c\n")
		}
		s.caughtUp()
		require.Equal(t, []string{"1|a", "3|c"}, l.rows("sales"))
		list, err := s.Files(t.Context(), "lake", "sales_in")
		require.NoError(t, err)
		require.Equal(t, FileSkipped, list[1].State)
		require.NoError(t, s.Close())
	}
}

// TestSkipFileAfterRowsOfIt has a file break in its middle, after rows of it have gone into data files.
func TestSkipFileAfterRowsOfIt(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\n")
	s := l.serve()
	s.create(sales(onError(SkipFile, 0)))
	s.caughtUp()
	l.put("b.csv.gz", string(gzipped(t, "id,name\n2,b\n", 50_000)[:20_000]))
	l.put("c.csv", "id,name\n3,c\n")
	s.caughtUp()
	require.Equal(t, []string{"1|a", "3|c"}, l.rows("sales"))
	bad, err := s.Errors(t.Context(), "lake", "sales_in")
	require.NoError(t, err)
	require.Len(t, bad, 1)
	require.Contains(t, bad[0].Message, "left out")
}

func TestSkipFileRefusals(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	err := s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/f000.csv")
	require.ErrorContains(t, err, "in the table already")
	err = s.SkipFile(t.Context(), "lake", "sales_in", "file:///lake/landing/nothing.csv")
	require.ErrorContains(t, err, "no such file")
	s.caughtUp()
}

func TestSchemaChange(t *testing.T) {
	for _, c := range []struct {
		change SchemaChange
		given  string
		want   []string
		fails  string
	}{
		{SchemaDefault, "", []string{"1|a|NULL", "2|b|x", "NULL|c|NULL"}, ""},
		{SchemaAddColumns, "", []string{"1|a|NULL", "2|b|x", "NULL|c|NULL"}, ""},
		{SchemaAddColumns, " schema id int, name string", []string{"1|a|NULL", "2|b|x", "NULL|c|NULL"}, ""},
		{SchemaDefault, " schema id int, name string", []string{"1|a", "2|b", "NULL|c"}, ""},
		{SchemaIgnore, "", []string{"1|a", "2|b", "NULL|c"}, ""},
		{SchemaFail, "", nil, "extra"},
	} {
		for _, f := range []struct{ format, a, b, c, d string }{
			{"", "id,name\n1,a\n", "extra,id,name\nx,2,b\n", "name\nc\n", "id\n9\n"},
			{" json", `{"id":1,"name":"a"}`, `{"extra":"x","id":2,"name":"b"}`, `{"name":"c","none":null}`, `{"id":9}`},
		} {
			t.Run(string(c.change)+f.format+c.given, func(t *testing.T) {
				l := newLake(t)
				l.put("a", f.a)
				s := l.serve()
				s.create(sales(func(d *Definition) { d.OnSchemaChange = c.change; d.SelectSQL += f.format + c.given }))
				s.caughtUp()
				l.put("b", f.b)
				l.put("c", f.c)
				if c.fails != "" {
					require.Contains(t, s.failed(), c.fails)
					return
				}
				s.caughtUp()
				require.Equal(t, c.want, l.rows("sales"))
				require.NoError(t, s.Close())
				l.put("d", f.d)
				again := l.serve()
				require.NoError(t, again.Start(t.Context()))
				again.caughtUp()
				require.Len(t, l.rows("sales"), 4)
			})
		}
	}
}

// TestNewKeyLateInAFile: a key that comes behind what is looked at to infer a schema is a column all the same.
func TestNewKeyLateInAFile(t *testing.T) {
	const inferFileBytes = 16 << 20 // of package files
	l := newLake(t)
	l.put("a.json", `{"id":1,"name":"a"}`)
	s := l.serve()
	s.create(sales(ofJSON))
	s.caughtUp()
	l.put("b.json", `{"id":2,"name":"`+strings.Repeat("x", inferFileBytes)+`"}`+"\n"+`{"id":3,"late":true}`)
	s.caughtUp()
	rows := l.rows("sales")
	require.Len(t, rows, 3)
	require.Equal(t, []string{"1|a|NULL", "3|NULL|true"}, []string{rows[0], rows[2]})
}

// TestExistingTarget writes into a table that another stream has made, with other columns.
func TestExistingTarget(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		change              SchemaChange
		want                []string
		fails               string
	}{
		{"wider integer", " schema id bigint, name string", " schema name string, id int", "", []string{"1|a", "2|b"}, ""},
		{"missing column", " schema id int, name string", " schema id int", "", []string{"1|a", "2|NULL"}, ""},
		{"other type", " schema id int, name string", " schema id string, name string", "", nil, "id string"},
		{"narrower integer", " schema id smallint, name string", " schema id int, name string", "", nil, "id short"},
		{"extra column ignored", " schema id int", " schema id int, name string", "", []string{"1", "2"}, ""},
		{"extra column added", " schema id int", " schema id int, name string", SchemaAddColumns, []string{"1|NULL", "2|b"}, ""},
		{"extra column refused", " schema id int", " schema id int, name string", SchemaFail, nil, "name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLake(t)
			for _, dir := range []string{"one", "two"} {
				require.NoError(t, store.Sub(l.mem, dir).(store.RootMaker).MakeRoot(t.Context()))
			}
			s := l.serve()
			require.NoError(t, l.mem.PutIfAbsent(t.Context(), "one/a.csv", []byte("id,name\n1,a\n")))
			s.create(sales(func(d *Definition) { d.SelectSQL = "file:///lake/one" + c.first; d.OnSchemaChange = SchemaIgnore }))
			s.caughtUp()
			second := sales(func(d *Definition) {
				d.Name, d.Checkpoint = "second", "file:///lake/checkpoints/second"
				d.SelectSQL, d.OnSchemaChange = "file:///lake/two"+c.second, c.change
			})
			_, err := s.Create(t.Context(), second, CreateOptions{})
			if c.fails != "" {
				require.Equal(t, KindSchema, KindOf(err), "%v", err)
				require.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.NoError(t, l.mem.PutIfAbsent(t.Context(), "two/b.csv", []byte("id,name\n2,b\n")))
			require.NoError(t, s.WaitFor(t.Context(), "lake", "second", Until{}, patience))
			require.Equal(t, c.want, l.rows("sales"))
		})
	}
}

func TestPartitionedTarget(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,Name\n1,a\n2,b\n3,a\n")
	s := l.serve()
	s.create(sales(func(d *Definition) { d.PartitionedBy = []string{"nAME"}; d.Columns = []string{"k", "Name"} }))
	s.caughtUp()
	require.Equal(t, []string{"1|a", "2|b", "3|a"}, l.rows("sales"))
	folders := map[string]bool{}
	for _, key := range l.keys("tables/sales/Name=") {
		folders[key[:1]] = true
	}
	require.Equal(t, map[string]bool{"a": true, "b": true}, folders)
}

func TestUnionOfSources(t *testing.T) {
	l := newLake(t)
	require.NoError(t, store.Sub(l.mem, "two").(store.RootMaker).MakeRoot(t.Context()))
	l.put("a.csv", "id,name\n1,a\n")
	require.NoError(t, l.mem.PutIfAbsent(t.Context(), "two/b.csv", []byte("id,name\n2,b\n")))
	s := l.serve()
	s.create(sales(func(d *Definition) { d.SelectSQL += " + file:///lake/two" }))
	s.caughtUp()
	require.Equal(t, []string{"1|a", "2|b"}, l.rows("sales"))
	l.put("c.csv", "id,name\n3,c\n")
	s.caughtUp()
	require.NoError(t, s.Close())
	offsets, err := l.mem.Get(t.Context(), "checkpoints/sales/offsets/1")
	require.NoError(t, err)
	require.Regexp(t, `(?s)\n\{"logOffset":1\}\n\{"logOffset":0\}$`, string(offsets))
	require.Equal(t, []string{"1|a", "2|b", "3|c"}, l.rows("sales"))
}

func TestRefusedClauses(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	for want, change := range map[string]func(*Definition){
		"OUTPUT MODE COMPLETE is not supported yet": func(d *Definition) { d.OutputMode = "COMPLETE" },
		"names the table that the stream writes":    func(d *Definition) { d.OnError = OnError{Mode: DeadLetter, DeadLetter: &d.Target} },
		"option nonsense of a stream is not known":  func(d *Definition) { d.Options = map[string]string{"nonsense": "1"} },
		"option maxFilesPerTrigger = '0'":           func(d *Definition) { d.Options = map[string]string{"maxFilesPerTrigger": "0"} },
		"option maxOffsetsPerTrigger does nothing":  func(d *Definition) { d.Options = map[string]string{"maxOffsetsPerTrigger": "5"} },
		"option failOnDataLoss does nothing":        func(d *Definition) { d.Options = map[string]string{"failOnDataLoss": "false"} },
		"must not be negative":                      func(d *Definition) { d.Trigger = Trigger{Kind: Every, Every: -time.Second} },
		"at least one STREAM":                       func(d *Definition) { d.SelectSQL = "" },
	} {
		_, err := s.Create(t.Context(), sales(change), CreateOptions{})
		require.ErrorContains(t, err, want)
	}
	require.Empty(t, l.keys("checkpoints/"), "nothing is made for a statement that is refused")
	require.Empty(t, s.List())
}
