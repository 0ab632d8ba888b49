package delta

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/buger/jsonparser"

	"lakesql/batch"
	"lakesql/store"
)

// Commit is what one version did to the table's rows, for a reader that follows the table. Files that only hold what was there before, as
// OPTIMIZE adds them (dataChange is false), are left out.
type Commit struct {
	Version  int64
	Adds     []File   // in the order of the commit's lines
	Removed  []string // paths, as File.Path
	Metadata *Metadata
	Schema   *batch.Schema
	Changed  bool // the commit has a metaData action

	walk  *changeWalk
	state *Snapshot // the state after it, but for files
	raw   *commit
}

// Commits yields the versions from one on up to another, both included, in their order. base is a snapshot of the version before the first, or of the first
// itself. It ends with the first error: ErrNoVersion where the commit of a version is gone, *UnsupportedError where a version needs what is not built.
func (t *Table) Commits(ctx context.Context, base *Snapshot, from, to int64) iter.Seq2[*Commit, error] {
	return func(yield func(*Commit, error) bool) {
		if from > to {
			return
		}
		walk := &changeWalk{table: t}
		state, next := base, from
		var steps []versionRange
		for v := from; v <= to; v++ {
			steps = append(steps, versionRange{v, v})
		}
		err := readSteps(ctx, t.st, steps, func(c *commit) error {
			next = c.version + 1
			if c.metadata != nil || c.protocol != nil {
				after := *state
				after.applyState(c)
				state = &after
				if err := checkReadable(state); err != nil {
					return err
				}
			}
			if !yield(newCommit(walk, state, c), nil) {
				return errStopped
			}
			return nil
		})
		if errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrRootMissing) && next <= to {
			err = t.noVersion(ctx, next, to)
		}
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

func newCommit(walk *changeWalk, state *Snapshot, c *commit) *Commit {
	out := &Commit{Version: c.version, Metadata: state.metadata, Schema: state.schema, Changed: c.metadata != nil, walk: walk, state: state, raw: c}
	for _, r := range c.removes {
		if r.dataChange {
			out.Removed = append(out.Removed, decodePath(state.uri, string(r.path)))
		}
	}
	var adds []addAction
	for _, a := range c.adds {
		if a.dataChange {
			adds = append(adds, a)
		}
	}
	if len(adds) > 0 {
		at := *state
		at.files.version = c.version
		out.Adds = at.addedFiles(adds)
	}
	return out
}

// After is the state after the commit, but for its files: a base for the commits behind it.
func (c *Commit) After() *Snapshot { return c.state }

// RowsDeleted says whether the commit has change files, or deletion vectors: its changes then are only to be had as a whole.
func (c *Commit) RowsDeleted() bool {
	hasVector := func(x *fileExtra) bool { return x.vector() != nil }
	return len(c.raw.changes) > 0 ||
		slices.ContainsFunc(c.raw.adds, func(a addAction) bool { return hasVector(a.extra) }) ||
		slices.ContainsFunc(c.raw.removes, func(r removeAction) bool { return hasVector(r.extra) })
}

// Changes are the rows that the commit inserted, deleted and updated. It is refused where the table did not record its changes.
func (c *Commit) Changes(ctx context.Context) ([]ChangeSet, error) {
	if !changeFeed(c.state) {
		return nil, Refuse("[DELTA_MISSING_CHANGE_DATA] changes of %s cannot be read: version %d did not record them; set delta.enableChangeDataFeed, and read from a later version on",
			c.state.uri, c.Version)
	}
	if c.walk.times == nil {
		var err error
		if c.walk.times, err = c.walk.table.versionTimes(ctx); err != nil {
			return nil, err
		}
	}
	var out []ChangeSet
	err := c.walk.version(ctx, c.state, c.raw, func(set ChangeSet, _ error) bool {
		out = append(out, set)
		return true
	})
	return out, err
}

// FirstCommit is the oldest version, from the given one on, whose commit is in the log: ErrNoVersion when there is none.
func (t *Table) FirstCommit(ctx context.Context, from int64) (int64, error) {
	listing, err := listVersions(ctx, t.st, from)
	if err != nil {
		return 0, err
	}
	if len(listing.commits) == 0 {
		return 0, fmt.Errorf("%w: %s has no commit from version %d on", ErrNoVersion, t.st.URI(), from)
	}
	return parseLogName(listing.commits[0].Key).version, nil
}

// VersionFrom returns the oldest version that was committed at the given time or later: one behind the newest when there is none. Versions that are
// not in the log any more are not looked at.
func (t *Table) VersionFrom(ctx context.Context, at time.Time) (int64, error) {
	before, err := t.VersionAt(ctx, at.Add(-time.Microsecond))
	if errors.Is(err, ErrNoVersion) {
		return t.FirstCommit(ctx, 0)
	}
	return before + 1, err
}

// LogPath is the file's path as the log spells it, a URI that is relative to the table's folder or absolute.
func (f File) LogPath() string { return encodePath(f.Path) }

// SchemaChange is what became of a schema.
type SchemaChange struct {
	Added   []string // new columns
	Changed []string // columns with a wider type, or with new fields: a reader by the new schema reads the old files too
	Broken  string   // a column that such a reader cannot read any more, and why; "": there is none
}

// CompareSchemas says what became of a schema. Only names, types and what column mapping calls them count: comments and properties do not, and
// neither does the order.
func CompareSchemas(before, after *batch.Schema) SchemaChange {
	var out SchemaChange
	out.compare(before.Fields, after.Fields, "")
	return out
}

func (s *SchemaChange) compare(before, after []batch.Field, parent string) {
	for _, f := range after {
		if fieldNamed(before, f.Name) != nil {
			continue
		}
		if parent == "" {
			s.Added = append(s.Added, f.Name)
		} else {
			s.changed(parent)
		}
	}
	for _, f := range before {
		path := joinPath(parent, f.Name)
		now := fieldNamed(after, f.Name)
		switch {
		case now == nil:
			s.broken("column %s is gone", path)
		case storedName(f) != storedName(*now):
			s.broken("column %s was dropped, and another one has its name", path)
		case f.Type.Kind == now.Type.Kind && f.Type.Fields() != nil:
			s.compare(f.Type.Fields(), now.Type.Fields(), path)
		case f.Type == now.Type:
		case batch.Widens(f.Type, now.Type):
			s.changed(path)
		default:
			s.broken("column %s was %s and is %s", path, f.Type, now.Type)
		}
	}
}

func (s *SchemaChange) changed(path string) {
	column, _, _ := strings.Cut(path, ".")
	if !slices.Contains(s.Changed, column) {
		s.Changed = append(s.Changed, column)
	}
}

func (s *SchemaChange) broken(format string, args ...any) {
	if s.Broken == "" {
		s.Broken = fmt.Sprintf(format, args...)
	}
}

func fieldNamed(fields []batch.Field, name string) *batch.Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}

// storedName is the name that column mapping gives the field, its own without.
func storedName(f batch.Field) string {
	name, _ := storedAs(f)
	return name
}

// Operation is what the commit says it is, such as DELETE; "" where it says nothing.
func (c *Commit) Operation() string {
	name, err := jsonparser.GetString(c.raw.info, "operation")
	if err != nil {
		return ""
	}
	return name
}
