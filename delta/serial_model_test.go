package delta

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"lakesql/batch"
	"lakesql/delta/dv"
	"lakesql/store"
)

// The model: a table is a multiset of rows, a statement a function of it. Whatever transactions do at once, the table must be what
// the successful ones make of it one after another, in the order of their versions; under WriteSerializable, which orders writes only,
// a blind append counts behind those that committed after it without having seen it, unless a write that may have seen it stands
// between them.

type modelRow struct{ id, v int64 }

var modelSchema = batch.NewSchema(batch.Field{Name: "id", Type: kind(batch.Int64)}, batch.Field{Name: "v", Type: kind(batch.Int64)})

// statement changes rows that satisfy a predicate, each by itself, and adds rows.
type statement struct {
	name    string
	match   func(modelRow) bool     // nil: it reads no rows
	change  func(modelRow) modelRow // nil: what matches is deleted
	insert  []modelRow
	unless  bool // insert only when nothing matches, and leave alone what does
	sum     bool // insert one row with the sum of all rows
	compact bool // rewrite all files as one
}

// run is the statement on the model.
func (s statement) run(rows []modelRow) []modelRow {
	var out []modelRow
	matched, sum := false, int64(0)
	for _, r := range rows {
		sum += r.v
		if s.match == nil || !s.match(r) {
			out = append(out, r)
			continue
		}
		matched = true
		switch {
		case s.unless:
			out = append(out, r)
		case s.change != nil:
			out = append(out, s.change(r))
		}
	}
	if s.sum {
		return append(out, modelRow{-1, sum})
	}
	if !s.unless || !matched {
		out = append(out, s.insert...)
	}
	return out
}

// drawn is where random choices come from: a rapid test or a generator.
type drawn func(n int) int

func drawStatement(draw drawn) statement {
	n := func(n int) int64 { return int64(draw(n)) }
	third, row := n(3), modelRow{n(9), n(9)}
	switch draw(7) {
	case 0:
		return statement{name: "insert", insert: []modelRow{row, {row.v, row.id}}}
	case 1:
		return statement{name: "delete", match: func(r modelRow) bool { return r.v%3 == third }}
	case 2:
		return statement{name: "update", match: func(r modelRow) bool { return r.id == row.id }, change: func(r modelRow) modelRow { return modelRow{r.id, r.v + 1} }}
	case 3:
		return statement{name: "move", match: func(r modelRow) bool { return r.v%3 == third }, change: func(r modelRow) modelRow { return modelRow{r.id, r.v + 4} }}
	case 4:
		return statement{name: "insert unless there", match: func(r modelRow) bool { return r.id == row.id }, unless: true, insert: []modelRow{row}}
	case 5:
		return statement{name: "insert sum", sum: true}
	}
	return statement{name: "compact", compact: true}
}

// apply does the statement in a transaction, on the files that view has.
func (s statement) apply(table *Table, x *Transaction, view *Snapshot, vectors bool) error {
	if s.match == nil && !s.sum && !s.compact {
		return s.write(table, x, view, s.insert)
	}
	var added []modelRow
	sum, matched := int64(0), false
	for f := range view.Files() {
		rows, err := fileRows(table, view, f)
		if err != nil {
			return err
		}
		hit, kept := dv.Of(), []modelRow(nil)
		for _, r := range rows {
			sum += r.v
			if s.match == nil || !s.match(r.modelRow) {
				kept = append(kept, r.modelRow)
				continue
			}
			hit.Add(r.at)
			if s.change != nil {
				added = append(added, s.change(r.modelRow))
			}
		}
		matched = matched || hit.Cardinality() > 0
		switch {
		case s.compact:
			x.Remove(f)
			added = append(added, kept...)
		case hit.Cardinality() == 0:
		case s.unless:
			x.ReadRows(f, hit)
		case vectors:
			if err := x.DeleteRows(f, hit); err != nil {
				return err
			}
		default:
			x.Remove(f)
			added = append(added, kept...)
		}
	}
	switch {
	case s.compact:
		x.Rearrange()
	case s.sum:
		x.ReadWholeTable()
		added = append(added, modelRow{-1, sum})
	default:
		x.Recheck(func(_ context.Context, files []File) (bool, error) {
			for _, f := range files {
				rows, err := fileRows(table, view, f)
				if err != nil || slices.ContainsFunc(rows, func(r placedRow) bool { return s.match(r.modelRow) }) {
					return true, err
				}
			}
			return false, nil
		})
	}
	if s.unless && matched {
		return nil
	}
	return s.write(table, x, view, append(added, s.insert...))
}

func (statement) write(table *Table, x *Transaction, view *Snapshot, rows []modelRow) error {
	if len(rows) == 0 {
		return nil
	}
	w, err := NewFileWriter(table.Store(), view, view.Metadata(), FileWriterOptions{})
	if err != nil {
		return err
	}
	defer w.Abort()
	b := batch.NewBuilder(modelSchema)
	for _, r := range rows {
		b.Column(0).AppendInt64(r.id)
		b.Column(1).AppendInt64(r.v)
	}
	if err := w.Write(ctx, b.Finish()); err != nil {
		return err
	}
	adds, err := w.Close(ctx)
	x.Add(adds...)
	return err
}

// placedRow is a row and its position in its file.
type placedRow struct {
	modelRow
	at int64
}

func fileRows(table *Table, s *Snapshot, f File) ([]placedRow, error) {
	r, err := table.OpenFile(ctx, s, f, FileReaderOptions{Columns: modelSchema.Fields})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []placedRow
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		id, v := b.Cols[0].Decode(), b.Cols[1].Decode()
		for i := range b.Rows() {
			row := b.Row(i)
			out = append(out, placedRow{modelRow{id.I64[row], v.I64[row]}, r.Position() + int64(row)})
		}
	}
}

// tableRows is the multiset of the rows of a snapshot, sorted.
func tableRows(table *Table, s *Snapshot) ([]modelRow, error) {
	out := []modelRow{}
	for f := range s.Files() {
		rows, err := fileRows(table, s, f)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			out = append(out, r.modelRow)
		}
	}
	return sortedRows(out), nil
}

func sortedRows(rows []modelRow) []modelRow {
	rows = append([]modelRow{}, rows...)
	slices.SortFunc(rows, func(a, b modelRow) int {
		if a.id != b.id {
			return int(a.id - b.id)
		}
		return int(a.v - b.v)
	})
	return rows
}

// done is a transaction that has been committed.
type done struct {
	version, read int64
	statements    []statement
	blind, moves  bool
}

// untouched tells whether the transaction neither adds nor takes away: it has no place in an order of writes.
func untouched(x *Transaction) bool {
	return len(x.files.added)+len(x.files.touched) == 0
}

// serialOrder is the order of the commits that the model follows.
func serialOrder(commits []done, writeSerializable bool) []done {
	slices.SortFunc(commits, func(a, b done) int { return int(a.version - b.version) })
	var out []done
	for _, d := range commits {
		at := len(out)
		for writeSerializable && !d.blind && !d.moves && at > 0 && (out[at-1].moves || out[at-1].blind) && out[at-1].version > d.read {
			at--
		}
		out = slices.Insert(out, at, d)
	}
	return out
}

func modelTable(t require.TestingT, level string) *Table {
	meta, err := NewMetadata(modelSchema, nil, nil)
	require.NoError(t, err)
	meta.Configuration = map[string]string{"delta.enableDeletionVectors": "true", "delta.isolationLevel": level}
	protocol := Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: []string{"deletionVectors"}}
	st := store.NewMemory("mem://table")
	require.NoError(t, st.MakeRoot(ctx))
	text := appendAction(nil, "protocol", mustJSON(protocol.json()))
	require.NoError(t, st.PutIfAbsent(ctx, commitKey(0), appendAction(text, "metaData", mustJSON(meta.json()))))
	table := NewTable(st)
	s, err := table.Snapshot(ctx)
	require.NoError(t, err)
	x := table.Begin(s)
	for file := range int64(3) {
		require.NoError(t, statement{}.write(table, x, s, []modelRow{{3 * file, 1}, {3*file + 1, 5}, {3*file + 2, 9}, {3 * file, 3}}))
	}
	_, err = x.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
	return table
}

// requireSerial compares the newest version with the model.
func requireSerial(t require.TestingT, table *Table, commits []done, level string) {
	first, err := table.SnapshotAt(ctx, 1)
	require.NoError(t, err)
	want, err := tableRows(table, first)
	require.NoError(t, err)
	names := ""
	for _, d := range serialOrder(commits, level == writeSerializable) {
		names += fmt.Sprintf("\n%d (read %d):", d.version, d.read)
		for _, s := range d.statements {
			want = s.run(want)
			names += " " + s.name
		}
	}
	s, err := NewTable(table.Store()).Snapshot(ctx)
	require.NoError(t, err)
	got, err := tableRows(table, s)
	require.NoError(t, err)
	require.Equal(t, sortedRows(want), got, names)
}

// TestSerialModel interleaves transactions of one or two statements in every way that rapid draws.
func TestSerialModel(t *testing.T) {
	for _, level := range []string{serializable, writeSerializable} {
		t.Run(level, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				table := modelTable(t, level)
				draw := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
				type open struct {
					done
					x *Transaction
				}
				var running []open
				var commits []done
				for range 12 {
					if len(running) < 4 && draw(3) > 0 {
						s, err := table.Snapshot(ctx)
						require.NoError(t, err)
						o := open{done{read: s.Version()}, table.Begin(s)}
						vectors := draw(4) > 0
						for range 1 + draw(2) {
							st := drawStatement(draw)
							if st.compact && len(o.statements) > 0 {
								continue
							}
							require.NoError(t, st.apply(table, o.x, o.x.View(), vectors))
							if o.statements = append(o.statements, st); st.compact {
								break
							}
						}
						running = append(running, o)
						continue
					}
					if len(running) == 0 {
						continue
					}
					i := draw(len(running))
					o := running[i]
					running = slices.Delete(running, i, i+1)
					if untouched(o.x) {
						continue
					}
					o.blind, o.moves = o.x.blindAppend(), o.x.rearrange
					c, err := o.x.Commit(ctx, Operation{Name: "WRITE"})
					if errors.Is(err, ErrConflict) {
						continue
					}
					require.NoError(t, err)
					o.version = c.Version
					commits = append(commits, o.done)
					requireSerial(t, table, slices.Clone(commits), level)
				}
			})
		})
	}
}

// TestSerialAtOnce runs statements in goroutines, each with a Table of its own, again until they succeed.
func TestSerialAtOnce(t *testing.T) {
	for _, level := range []string{serializable, writeSerializable} {
		table := modelTable(t, level)
		var mu sync.Mutex
		var commits []done
		conflicts := 0
		var writers errgroup.Group
		for w := range 4 {
			writers.Go(func() error {
				own := NewTable(table.Store())
				r := rand.New(rand.NewPCG(uint64(w), 7))
				for range 15 {
					st := drawStatement(r.IntN)
					vectors := r.IntN(4) > 0
					for {
						s, err := own.Snapshot(ctx)
						if err != nil {
							return err
						}
						x := own.Begin(s)
						if err := st.apply(own, x, s, vectors); err != nil {
							return err
						}
						if untouched(x) {
							break
						}
						d := done{read: s.Version(), statements: []statement{st}, blind: x.blindAppend(), moves: x.rearrange}
						c, err := x.Commit(ctx, Operation{Name: "WRITE"})
						mu.Lock()
						if errors.Is(err, ErrConflict) {
							conflicts++
							mu.Unlock()
							continue
						}
						d.version = c.Version
						commits = append(commits, d)
						mu.Unlock()
						if err != nil {
							return err
						}
						break
					}
				}
				return nil
			})
		}
		require.NoError(t, writers.Wait())
		t.Logf("%s: %d commits, %d conflicts", level, len(commits), conflicts)
		requireSerial(t, table, commits, level)
	}
}
