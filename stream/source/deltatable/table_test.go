package deltatable

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
	"go.uber.org/goleak"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/delta/dv"
	"lakesql/delta/maintain"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var itemSchema = batch.NewSchema(
	batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
	batch.Field{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true},
)

// lake is a table and a checkpoint on a real disk.
type lake struct {
	t       *testing.T
	dir     string
	table   *delta.Table
	n       int
	options map[string]string
	change  func(*source.Env)
}

func newLake(t *testing.T) *lake {
	l := &lake{t: t, dir: t.TempDir(), options: map[string]string{}}
	st, err := store.Open(store.FileURI(l.dir + "/cp"))
	require.NoError(t, err)
	_, err = checkpoint.Create(t.Context(), st)
	require.NoError(t, err)
	l.handle()
	return l
}

// handle is the table as another process has it.
func (l *lake) handle() *delta.Table {
	st, err := store.Open(store.FileURI(l.dir + "/t"))
	require.NoError(l.t, err)
	l.table = delta.NewTable(st)
	return l.table
}

func (l *lake) create(schema *batch.Schema, partitionBy []string, config map[string]string) {
	l.t.Helper()
	require.NoError(l.t, os.MkdirAll(l.dir+"/t", 0o755))
	meta, err := delta.NewMetadata(schema, partitionBy, config)
	require.NoError(l.t, err)
	tx := l.table.Begin(nil)
	tx.SetMetadata(meta)
	_, err = tx.Commit(l.t.Context(), delta.Operation{Name: "CREATE TABLE"})
	require.NoError(l.t, err)
}

func (l *lake) snapshot() *delta.Snapshot {
	l.t.Helper()
	snap, err := l.table.Snapshot(l.t.Context())
	require.NoError(l.t, err)
	return snap
}

func (l *lake) commit(name string, change func(*delta.Transaction, *delta.Snapshot)) {
	l.t.Helper()
	snap := l.snapshot()
	tx := l.table.Begin(snap)
	change(tx, snap)
	_, err := tx.Commit(l.t.Context(), delta.Operation{Name: name})
	require.NoError(l.t, err)
}

// write makes one data file with these rows.
func (l *lake) write(snap *delta.Snapshot, rows ...[]any) []delta.AddFile {
	l.t.Helper()
	w, err := delta.NewFileWriter(l.table.Store(), snap, snap.Metadata(), delta.FileWriterOptions{})
	require.NoError(l.t, err)
	b := batch.NewBuilder(snap.Schema())
	for _, r := range rows {
		require.NoError(l.t, b.AppendRow(r...))
	}
	require.NoError(l.t, w.Write(l.t.Context(), b.Finish()))
	files, err := w.Close(l.t.Context())
	require.NoError(l.t, err)
	return files
}

// insert commits a file for each row.
func (l *lake) insert(ids ...int) {
	l.t.Helper()
	l.commit("WRITE", func(tx *delta.Transaction, snap *delta.Snapshot) {
		for _, id := range ids {
			row := []any{int32(id), fmt.Sprint("n", id)}
			for len(row) < len(snap.Schema().Fields) {
				row = append(row, int32(id))
			}
			tx.Add(l.write(snap, row)...)
		}
	})
}

// fileOf finds the file that has one row.
func (l *lake) fileOf(snap *delta.Snapshot, id int) delta.File {
	l.t.Helper()
	for f := range snap.Files() {
		r, err := l.table.OpenFile(l.t.Context(), snap, f, delta.FileReaderOptions{Columns: snap.Schema().Fields[:1]})
		require.NoError(l.t, err)
		b, err := r.Next(l.t.Context())
		require.NoError(l.t, err)
		found := b.Cols[0].Format(b.Row(0)) == fmt.Sprint(id)
		require.NoError(l.t, r.Close())
		if found {
			return f
		}
	}
	l.t.Fatalf("no file has %d", id)
	return delta.File{}
}

func (l *lake) delete(id int) {
	l.commit("DELETE", func(tx *delta.Transaction, snap *delta.Snapshot) { tx.Remove(l.fileOf(snap, id)) })
}

func (l *lake) update(id, to int) {
	l.commit("UPDATE", func(tx *delta.Transaction, snap *delta.Snapshot) {
		tx.Remove(l.fileOf(snap, id))
		tx.Add(l.write(snap, []any{int32(to), fmt.Sprint("n", to)})...)
	})
}

func (l *lake) alter(change func(*delta.Metadata) (*delta.Metadata, error)) {
	l.t.Helper()
	l.commit("ALTER TABLE", func(tx *delta.Transaction, snap *delta.Snapshot) {
		meta, err := change(snap.Metadata())
		require.NoError(l.t, err)
		tx.SetMetadata(meta)
	})
}

func (l *lake) addColumn(name string) {
	l.alter(func(m *delta.Metadata) (*delta.Metadata, error) {
		return m.AddColumns(delta.NewColumn{Field: batch.Field{Name: name, Type: batch.Type{Kind: batch.Int32}, Nullable: true}})
	})
}

func (l *lake) env() source.Env {
	st, err := store.Open(store.FileURI(l.dir + "/cp"))
	require.NoError(l.t, err)
	cp, err := checkpoint.Open(l.t.Context(), st)
	require.NoError(l.t, err)
	env := source.Env{Open: store.Open, Checkpoint: cp, Now: time.Now}
	if l.change != nil {
		l.change(&env)
	}
	return env
}

func (l *lake) tryOpen() (source.Source, error) {
	open := Opener(func(uri string) (*delta.Table, error) {
		st, err := store.Open(uri)
		return delta.NewTable(st), err
	}, nil)
	return open(l.t.Context(), source.Spec{Kind: "delta", Table: true, Path: store.FileURI(l.dir + "/t"), Options: l.options}, l.env())
}

func (l *lake) Open(t *testing.T) source.Source {
	src, err := l.tryOpen()
	require.NoError(t, err)
	return src
}

// Append commits two rows in two files, into a table that the first call makes.
func (l *lake) Append(t *testing.T) []string {
	if l.n == 0 {
		l.create(itemSchema, nil, nil)
	}
	l.n += 2
	l.insert(l.n-1, l.n)
	return []string{fmt.Sprintf("%d|n%d", l.n-1, l.n-1), fmt.Sprintf("%d|n%d", l.n, l.n)}
}

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Subject { return newLake(t) })
}

// reading is a source with the offset that it has been read up to.
type reading struct {
	l   *lake
	src source.Source
	at  source.Offset
}

func (l *lake) read() *reading {
	r := &reading{l: l, src: l.Open(l.t)}
	l.t.Cleanup(func() { require.NoError(l.t, r.src.Close()) })
	return r
}

// reopen is a new process.
func (r *reading) reopen() {
	require.NoError(r.l.t, r.src.Close())
	r.src = r.l.Open(r.l.t)
}

// next returns the rows of the next range, sorted.
func (r *reading) next(limit source.Limit) ([]string, error) {
	ctx := r.l.t.Context()
	if _, err := r.src.Schema(ctx); err != nil {
		return nil, err
	}
	end, _, err := r.src.Latest(ctx, r.at, limit)
	if err != nil {
		return nil, err
	}
	out, err := r.rows(r.at, end)
	if err == nil {
		r.at = end
	}
	return out, err
}

func (r *reading) rows(start, end source.Offset) (out []string, err error) {
	op, err := r.src.Read(r.l.t.Context(), start, end, source.Observer{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, op.Close()) }()
	out = []string{}
	for {
		b, err := op.Next(r.l.t.Context())
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		require.Len(r.l.t, b.Cols, len(op.Schema().Fields))
		for i := range b.Rows() {
			var cells []string
			for _, c := range b.Cols {
				cells = append(cells, c.Format(b.Row(i)))
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
}

// all reads until nothing is new.
func (r *reading) all(limit source.Limit) (out []string, err error) {
	for {
		before := r.at
		rows, err := r.next(limit)
		if err != nil || r.at == before {
			return out, err
		}
		out = append(out, rows...)
	}
}

func (r *reading) want(limit source.Limit, ids ...int) {
	r.l.t.Helper()
	got, err := r.all(limit)
	require.NoError(r.l.t, err)
	slices.Sort(got)
	var want []string
	for _, id := range ids {
		want = append(want, fmt.Sprintf("%d|n%d", id, id))
	}
	slices.Sort(want)
	require.Equal(r.l.t, want, got)
}

func (l *lake) start(ids ...int) {
	l.create(itemSchema, nil, nil)
	if len(ids) > 0 {
		l.insert(ids...)
	}
}

func TestOffsetsAreSparks(t *testing.T) {
	l := newLake(t)
	l.start(1, 2, 3)
	id := l.snapshot().Metadata().ID
	r := l.read()
	text := func(version, index int64, initial bool) source.Offset {
		return source.Offset(fmt.Sprintf(`{"sourceVersion":1,"reservoirId":"%s","reservoirVersion":%d,"index":%d,"isStartingVersion":%t}`, id, version, index, initial))
	}
	two := source.Limit{Files: 2}
	for _, want := range []source.Offset{text(1, 1, true), text(2, -1, false), text(2, -1, false)} {
		_, err := r.next(two)
		require.NoError(t, err)
		require.Equal(t, want, r.at)
	}
	l.insert(4, 5, 6)
	l.insert(7)
	for _, want := range []source.Offset{text(2, 1, false), text(4, -1, false)} {
		_, err := r.next(two)
		require.NoError(t, err)
		require.Equal(t, want, r.at)
	}
	require.NoError(t, maintainAll(l))
	_, err := r.next(two)
	require.NoError(t, err)
	require.Equal(t, text(5, -1, false), r.at, "OPTIMIZE moves the version on, and brings no row")

	for spark, want := range map[source.Offset]position{
		`{"sourceVersion":3,"reservoirId":"x","reservoirVersion":4,"index":-100,"isStartingVersion":false}`:         {"x", 4, -1, false},
		`{"sourceVersion":1,"reservoirId":"x","reservoirVersion":4,"index":7,"isStartingVersion":true,"more":true}`: {"x", 4, 7, true},
	} {
		got, err := parseOffset(spark)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, bad := range []source.Offset{
		`7`, `{}`, `{"sourceVersion":2,"reservoirId":"x","reservoirVersion":4,"index":0}`, `{"sourceVersion":4,"reservoirId":"x","reservoirVersion":4,"index":0}`,
		`{"sourceVersion":3,"reservoirId":"x","reservoirVersion":4,"index":-20}`, `{"sourceVersion":1,"reservoirId":"","reservoirVersion":4,"index":0}`,
		`{"sourceVersion":1,"reservoirId":"x","reservoirVersion":4,"index":-7}`,
	} {
		_, err := parseOffset(bad)
		require.ErrorIs(t, err, source.ErrChanged, "%s", bad)
	}
}

// maintainAll puts all files into one.
func maintainAll(l *lake) error {
	_, err := maintain.Optimize(context.WithoutCancel(l.t.Context()), l.table, maintain.OptimizeOptions{})
	return err
}

func TestSnapshotIsSortedByTimeThenPath(t *testing.T) {
	l := newLake(t)
	l.start(1, 2, 3, 4)
	l.commit("WRITE", func(tx *delta.Transaction, snap *delta.Snapshot) {
		for _, id := range []int{5, 6} {
			files := l.write(snap, []any{int32(id), fmt.Sprint("n", id)})
			files[0].ModTime = time.UnixMilli(int64(1000 * (10 - id)))
			tx.Add(files...)
		}
	})
	r := l.read()
	one := source.Limit{Files: 1}
	for _, want := range []string{"6|n6", "5|n5"} {
		got, err := r.next(one)
		require.NoError(t, err)
		require.Equal(t, []string{want}, got)
	}
	l.insert(7)
	r.reopen()
	r.want(one, 1, 2, 3, 4, 7)
}

func TestBytesBoundARange(t *testing.T) {
	l := newLake(t)
	l.start(1, 2, 3)
	l.options["maxBytesPerTrigger"] = "1"
	r := l.read()
	got, err := r.next(source.Limit{})
	require.NoError(t, err)
	require.Len(t, got, 1, "one file at the least")
	b := r.src.Backlog()
	require.EqualValues(t, 2, b.Files)
	require.Positive(t, b.Bytes)
	got, err = r.next(source.Limit{All: true})
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Zero(t, r.src.Backlog())
}

func TestStartingVersion(t *testing.T) {
	l := newLake(t)
	l.start(1)
	l.insert(2)
	l.insert(3)
	for version, want := range map[string][]int{"0": {1, 2, 3}, "2": {2, 3}, "3": {3}} {
		l := l.otherCheckpoint(version)
		l.options["startingVersion"] = version
		l.read().want(source.Limit{}, want...)
	}
	for _, version := range []string{"4", "99"} {
		l := l.otherCheckpoint(version)
		l.options["startingVersion"] = version
		_, err := l.read().next(source.Limit{})
		require.ErrorIs(t, err, source.ErrData)
		require.ErrorContains(t, err, "versions 0 to 3")
	}
}

// otherCheckpoint is the same table for another stream.
func (l *lake) otherCheckpoint(name string) *lake {
	other := newLake(l.t)
	require.NoError(l.t, os.Symlink(l.dir+"/t", other.dir+"/t"))
	other.handle()
	return other
}

// TestLatestIsOfTheFirstStart: what comes between the first start and the first batch is not lost by a crash.
func TestLatestIsOfTheFirstStart(t *testing.T) {
	l := newLake(t)
	l.start(1)
	l.options["startingVersion"] = "latest"
	r := l.read()
	r.want(source.Limit{})
	require.Equal(t, source.None, r.at)
	l.insert(2)
	r.reopen()
	_, err := r.src.Schema(t.Context())
	require.NoError(t, err)
	end, _, err := r.src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	l.insert(3)
	r.reopen()
	got, err := r.rows(source.None, end)
	require.NoError(t, err)
	require.Equal(t, []string{"2|n2"}, got)
	r.want(source.Limit{}, 2, 3)
}

// TestLatestThatSparkBegan: Spark keeps nowhere what latest was.
func TestLatestThatSparkBegan(t *testing.T) {
	l := newLake(t)
	l.start(1)
	l.insert(2)
	l.options["startingVersion"] = "latest"
	cp := l.env().Checkpoint
	end, err := formatOffset(before(l.snapshot().Metadata().ID, 3))
	require.NoError(t, err)
	require.NoError(t, cp.Offsets().Add(t.Context(), 0, checkpoint.Offsets{Sources: []string{string(end)}}))
	_, err = l.read().rows(source.None, end)
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "Spark")
}

func TestStartingTimestamp(t *testing.T) {
	l := newLake(t)
	l.start(1)
	at := time.Now().Add(-time.Minute)
	for v := range l.snapshot().Version() + 1 {
		require.NoError(t, os.Chtimes(fmt.Sprintf("%s/t/_delta_log/%020d.json", l.dir, v), at, at.Add(-time.Hour)))
	}
	l.insert(2)
	l.options["startingTimestamp"] = at.UTC().Format(timeFormat)
	r := l.read()
	r.want(source.Limit{}, 2)
	l = l.otherCheckpoint("later")
	l.options["startingTimestamp"] = "2999-01-01 00:00:00"
	_, err := l.tryOpen()
	require.ErrorIs(t, err, source.ErrData)
	require.ErrorContains(t, err, "behind the newest version 2")
}

func TestOptionsAreRefused(t *testing.T) {
	for name, value := range map[string]string{
		"startingVersion": "-1", "startingTimestamp": "yesterday", "maxFilesPerTrigger": "0", "maxBytesPerTrigger": "x", "ignoreDeletes": "maybe",
		"excludeRegex": "(", "schemaTrackingLocation": "x", "allowSourceColumnDrop": "always", "withEventTimeOrder": "true",
	} {
		_, err := parseOptions(map[string]string{name: value})
		require.ErrorContains(t, err, name)
	}
	_, err := parseOptions(map[string]string{"startingVersion": "1", "startingTimestamp": "2024-01-01"})
	require.ErrorContains(t, err, "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET")
	_, err = parseOptions(map[string]string{"readChangeFeed": "true", "skipChangeCommits": "true"})
	require.ErrorContains(t, err, "readChangeFeed")
}

func TestChangesOfTheSource(t *testing.T) {
	for _, c := range []struct {
		change func(l *lake)
		option string // "": none
		want   []int  // behind 1 and 2; nil: refused
		errors []string
	}{
		{func(l *lake) { l.delete(1) }, "", nil, []string{"DELTA_SOURCE_IGNORE_DELETE", "version 2", "DELETE", "part-", "ignoreDeletes"}},
		{func(l *lake) { l.delete(1) }, "ignoreDeletes", []int{9}, nil},
		{func(l *lake) { l.delete(1) }, "ignoreChanges", []int{9}, nil},
		{func(l *lake) { l.delete(1) }, "ignoreFileDeletion", []int{9}, nil},
		{func(l *lake) { l.delete(1) }, "skipChangeCommits", []int{9}, nil},
		{func(l *lake) { l.update(1, 5) }, "", nil, []string{"DELTA_SOURCE_TABLE_IGNORE_CHANGES", "version 2", "UPDATE", "part-", "skipChangeCommits"}},
		{func(l *lake) { l.update(1, 5) }, "ignoreDeletes", nil, []string{"DELTA_SOURCE_TABLE_IGNORE_CHANGES"}},
		{func(l *lake) { l.update(1, 5) }, "ignoreChanges", []int{5, 9}, nil},
		{func(l *lake) { l.update(1, 5) }, "skipChangeCommits", []int{9}, nil},
		{func(l *lake) { require.NoError(l.t, maintainAll(l)) }, "", []int{9}, nil},
	} {
		l := newLake(t)
		l.start(1, 2)
		if c.option != "" {
			l.options[c.option] = "true"
		}
		r := l.read()
		r.want(source.Limit{}, 1, 2)
		l.insert() // what comes before the change is read first
		c.change(l)
		l.insert(9)
		if c.want != nil {
			r.want(source.Limit{}, c.want...)
			continue
		}
		_, err := r.all(source.Limit{})
		require.ErrorIs(t, err, source.ErrData)
		for _, text := range c.errors {
			require.ErrorContains(t, err, strings.Replace(text, "version 2", "version 3", 1))
		}
		at, err := parseOffset(r.at)
		require.NoError(t, err)
		require.EqualValues(t, 3, at.version)
	}
}

func TestExcludeRegex(t *testing.T) {
	l := newLake(t)
	schema := batch.NewSchema(append(slices.Clone(itemSchema.Fields), batch.Field{Name: "day", Type: batch.Type{Kind: batch.Int32}, Nullable: true})...)
	l.create(schema, []string{"day"}, nil)
	l.insert(1, 2)
	l.insert(3)
	l.options["excludeRegex"] = "^day=2/"
	got, err := l.read().all(source.Limit{})
	require.NoError(t, err)
	slices.Sort(got)
	require.Equal(t, []string{"1|n1|1", "3|n3|3"}, got)
}

func TestDeletionVectors(t *testing.T) {
	l := newLake(t)
	l.create(itemSchema, nil, map[string]string{"delta.enableDeletionVectors": "true"})
	deleteFirst := func(tx *delta.Transaction, snap *delta.Snapshot) {
		for f := range snap.Files() {
			if n, _ := f.NumLiveRecords(); n > 1 {
				rows := new(dv.Bitmap)
				rows.Add(n % 2) // 3 rows: the second; 2: the first
				require.NoError(t, tx.DeleteRows(f, rows))
			}
		}
	}
	l.commit("WRITE", func(tx *delta.Transaction, snap *delta.Snapshot) {
		tx.Add(l.write(snap, []any{int32(1), "n1"}, []any{int32(2), "n2"}, []any{int32(3), "n3"})...)
	})
	l.commit("DELETE", deleteFirst)
	l.options["ignoreChanges"] = "true"
	r := l.read()
	r.want(source.Limit{}, 1, 3)
	l.commit("DELETE", deleteFirst)
	r.want(source.Limit{}, 3)
}

func TestColumnsAreAdded(t *testing.T) {
	for _, policy := range []source.NewColumns{source.AddWhereInferred, source.AddColumns, source.IgnoreColumns, source.RefuseColumns} {
		l := newLake(t)
		l.change = func(e *source.Env) { e.NewColumns = policy }
		l.start(1)
		r := l.read()
		r.want(source.Limit{}, 1)
		l.insert(2)
		l.addColumn("extra")
		l.insert(3)
		switch policy {
		case source.IgnoreColumns:
			r.want(source.Limit{}, 2, 3)
			r.reopen()
			l.insert(4)
			r.want(source.Limit{}, 4)
		case source.RefuseColumns:
			got, err := r.next(source.Limit{})
			require.NoError(t, err)
			require.Equal(t, []string{"2|n2"}, got)
			_, err = r.next(source.Limit{})
			require.ErrorIs(t, err, source.ErrData)
			require.ErrorContains(t, err, "extra")
			r.reopen()
			_, err = r.src.Schema(t.Context())
			require.ErrorContains(t, err, "extra")
		default:
			got, err := r.next(source.Limit{})
			require.NoError(t, err)
			require.Equal(t, []string{"2|n2"}, got, "what comes before the change is read first")
			_, err = r.next(source.Limit{})
			require.ErrorIs(t, err, source.ErrSchemaEvolved)
			r.reopen()
			got, err = r.all(source.Limit{})
			require.NoError(t, err)
			require.Equal(t, []string{"3|n3|3"}, got)
		}
	}
}

func TestColumnsThatCannotBeFollowed(t *testing.T) {
	mapped := map[string]string{"delta.columnMapping.mode": "name"}
	for _, c := range []struct {
		change func(*delta.Metadata) (*delta.Metadata, error)
		want   string
	}{
		{func(m *delta.Metadata) (*delta.Metadata, error) { return m.RenameColumn([]string{"name"}, "title") }, "column name is gone"},
		{func(m *delta.Metadata) (*delta.Metadata, error) { return m.DropColumn([]string{"name"}) }, "column name is gone"},
		{func(m *delta.Metadata) (*delta.Metadata, error) {
			m, err := m.DropColumn([]string{"name"})
			if err != nil {
				return nil, err
			}
			return m.AddColumns(delta.NewColumn{Field: itemSchema.Fields[1]})
		}, "column name was dropped"},
	} {
		l := newLake(t)
		l.create(itemSchema, nil, mapped)
		l.insert(1)
		r := l.read()
		r.want(source.Limit{}, 1)
		l.insert(2)
		l.alter(c.change)
		got, err := r.next(source.Limit{})
		require.NoError(t, err)
		require.Equal(t, []string{"2|n2"}, got, "what comes before the change is read first")
		_, err = r.next(source.Limit{})
		require.ErrorIs(t, err, source.ErrData)
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "version 3")
	}
}

func TestColumnMappingAndPartitions(t *testing.T) {
	l := newLake(t)
	schema := batch.NewSchema(append(slices.Clone(itemSchema.Fields), batch.Field{Name: "a day", Type: batch.Type{Kind: batch.Int32}, Nullable: true})...)
	l.create(schema, []string{"a day"}, map[string]string{"delta.columnMapping.mode": "name"})
	l.insert(1)
	r := l.read()
	got, err := r.all(source.Limit{})
	require.NoError(t, err)
	require.Equal(t, []string{"1|n1|1"}, got)
	l.insert(2)
	got, err = r.all(source.Limit{})
	require.NoError(t, err)
	require.Equal(t, []string{"2|n2|2"}, got)
	s, err := r.src.Schema(t.Context())
	require.NoError(t, err)
	for _, f := range s.Fields {
		require.Empty(t, f.Metadata, "what is said for the source's own files does not reach the target")
	}
}

func TestTypesAreWidened(t *testing.T) {
	l := newLake(t)
	l.create(itemSchema, nil, map[string]string{"delta.enableTypeWidening": "true"})
	l.insert(1)
	r := l.read()
	r.want(source.Limit{}, 1)
	l.insert(2)
	l.alter(func(m *delta.Metadata) (*delta.Metadata, error) {
		return m.ChangeType([]string{"id"}, batch.Type{Kind: batch.Int64})
	})
	got, err := r.next(source.Limit{})
	require.NoError(t, err)
	require.Equal(t, []string{"2|n2"}, got)
	_, err = r.next(source.Limit{})
	require.ErrorIs(t, err, source.ErrSchemaEvolved)
	problem := ""
	l.change = func(e *source.Env) {
		e.Fits = func(context.Context, *batch.Schema) (string, error) { return problem, nil }
	}
	problem = "the target has INT"
	r.reopen()
	_, err = r.src.Schema(t.Context())
	require.ErrorIs(t, err, source.ErrData)
	require.ErrorContains(t, err, "the target has INT")
	problem = ""
	s, err := r.src.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, batch.Int64, s.Fields[0].Type.Kind)
	r.want(source.Limit{})
}

func TestAnotherTable(t *testing.T) {
	l := newLake(t)
	l.start(1)
	old := l.snapshot().Metadata().ID
	r := l.read()
	r.want(source.Limit{}, 1)
	require.NoError(t, os.Rename(l.dir+"/t", l.dir+"/old"))
	_, err := r.next(source.Limit{})
	require.ErrorIs(t, err, delta.ErrNoTable)
	require.NotErrorIs(t, err, source.ErrChanged, "it may come back")
	l.handle()
	l.start(1, 2)
	for range 2 {
		_, err = r.next(source.Limit{})
		require.ErrorIs(t, err, source.ErrChanged)
		require.ErrorContains(t, err, old)
		require.ErrorContains(t, err, l.snapshot().Metadata().ID)
		r.reopen()
	}
}

func TestAnOlderCopy(t *testing.T) {
	l := newLake(t)
	l.start(1)
	l.insert(2)
	r := l.read()
	r.want(source.Limit{}, 1, 2)
	require.NoError(t, os.Remove(filepath.Join(l.dir, "t", "_delta_log", "00000000000000000002.json")))
	r.reopen()
	_, err := r.next(source.Limit{})
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "version 3")
	require.ErrorContains(t, err, "newest is 1")
}

// cleanUp removes the commits below a version, behind a checkpoint.
func (l *lake) cleanUp(below int64) {
	l.t.Helper()
	done, err := l.table.Maintain(l.t.Context())
	require.NoError(l.t, err)
	require.True(l.t, done)
	for v := range below {
		require.NoError(l.t, os.Remove(filepath.Join(l.dir, "t", "_delta_log", fmt.Sprintf("%020d.json", v))))
	}
	l.handle()
}

func TestVersionsThatWereCleanedUp(t *testing.T) {
	for _, fail := range []bool{true, false} {
		l := newLake(t)
		l.create(itemSchema, nil, map[string]string{"delta.checkpointInterval": "4"})
		l.insert(1)
		l.options["failOnDataLoss"] = fmt.Sprint(fail)
		r := l.read()
		r.want(source.Limit{}, 1)
		l.insert(2)
		l.insert(3)
		l.insert(4)
		l.cleanUp(4)
		l.insert(5)
		r.reopen()
		if fail {
			_, err := r.next(source.Limit{})
			require.ErrorIs(t, err, source.ErrChanged)
			require.ErrorContains(t, err, "DELTA_MISSING_FILES_UNEXPECTED_VERSION")
			require.ErrorContains(t, err, "version 2 of")
			require.ErrorContains(t, err, "still has is 4")
			require.ErrorAs(t, err, new(*source.LossError))
			l.change = func(e *source.Env) { e.FailOnDataLoss = new(bool) } // OPTIONS (failOnDataLoss = false) of the stream
			r.reopen()
		}
		r.want(source.Limit{}, 4, 5)
		notices := r.src.(source.Noticer).Notices()
		require.Len(t, notices, 1)
		require.Contains(t, notices[0].Message, "versions 2 to 3")
	}
}

func TestInitialSnapshotThatWasCleanedUp(t *testing.T) {
	l := newLake(t)
	l.create(itemSchema, nil, map[string]string{"delta.checkpointInterval": "4"})
	l.insert(1, 2)
	r := l.read()
	_, err := r.next(source.Limit{Files: 1})
	require.NoError(t, err)
	l.insert(3)
	l.insert(4)
	l.insert(5)
	l.cleanUp(4)
	r.reopen()
	_, err = r.next(source.Limit{})
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "version 1 of")
}

func TestDataFilesThatAreGone(t *testing.T) {
	for _, fail := range []bool{true, false} {
		l := newLake(t)
		l.start(1, 2)
		if !fail {
			l.options["failOnDataLoss"] = "false"
		}
		path := l.fileOf(l.snapshot(), 1).Path
		require.NoError(t, os.Remove(filepath.Join(l.dir, "t", path)))
		r := l.read()
		if fail {
			_, err := r.next(source.Limit{})
			require.ErrorIs(t, err, source.ErrChanged)
			require.ErrorContains(t, err, path)
			require.ErrorAs(t, err, new(*source.LossError))
			continue
		}
		r.want(source.Limit{}, 2)
		notices := r.src.(source.Noticer).Notices()
		require.Len(t, notices, 1)
		require.Contains(t, notices[0].Message, path)
	}
}

func TestMetadataAloneIsNoChange(t *testing.T) {
	l := newLake(t)
	l.start(1)
	r := l.read()
	r.want(source.Limit{}, 1)
	l.alter(func(m *delta.Metadata) (*delta.Metadata, error) { return m.SetComment([]string{"id"}, "the key") })
	l.alter(func(m *delta.Metadata) (*delta.Metadata, error) {
		return m.SetProperties(map[string]string{"delta.logRetentionDuration": "interval 3 days"})
	})
	l.insert(2)
	r.want(source.Limit{}, 2)
}

func TestChangeFeed(t *testing.T) {
	l := newLake(t)
	l.create(itemSchema, nil, map[string]string{"delta.enableChangeDataFeed": "true"})
	l.insert(1, 2)
	l.options["readChangeFeed"] = "true"
	r := l.read()
	one := source.Limit{Files: 1}
	shown := func() (out []string) {
		got, err := r.all(one)
		require.NoError(t, err)
		for _, row := range got {
			cells := strings.Split(row, "|")
			require.Len(t, cells, 5)
			require.NotEqual(t, "NULL", cells[4])
			out = append(out, strings.Join(cells[:4], "|"))
		}
		slices.Sort(out)
		return out
	}
	require.Equal(t, []string{"1|n1|insert|1", "2|n2|insert|1"}, shown())
	l.delete(1)
	l.update(2, 5)
	l.insert(6, 7)
	require.NoError(t, maintainAll(l))
	r.reopen()
	require.Equal(t, []string{"1|n1|delete|2", "2|n2|delete|3", "5|n5|insert|3", "6|n6|insert|4", "7|n7|insert|4"}, shown())

	at, err := parseOffset(r.at)
	require.NoError(t, err)
	inside, err := formatOffset(position{id: at.id, version: 3, index: 0})
	require.NoError(t, err)
	_, err = r.rows(inside, r.at)
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "within version 3")
}

func TestChangeFeedThatIsOff(t *testing.T) {
	l := newLake(t)
	l.start(1)
	l.options["readChangeFeed"] = "true"
	r := l.read()
	_, err := r.next(source.Limit{})
	require.NoError(t, err, "the snapshot needs none")
	l.insert(2)
	_, err = r.next(source.Limit{})
	require.ErrorIs(t, err, source.ErrData)
	require.ErrorContains(t, err, "DELTA_MISSING_CHANGE_DATA")
}

func TestNewVersionsAreHintedAt(t *testing.T) {
	l := newLake(t)
	l.start(1)
	r := l.read()
	r.want(source.Limit{}, 1)
	for drained := false; !drained; {
		select {
		case <-r.src.Wake():
		default:
			drained = true
		}
	}
	l.insert(2)
	select {
	case <-r.src.Wake():
	case <-time.After(time.Minute):
		t.Fatal("no hint")
	}
	r.want(source.Limit{}, 2)
}
