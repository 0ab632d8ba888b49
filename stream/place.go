package stream

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
)

// A checkpoint and a table never share files: engines clear a table's folder of what they do not know, and a checkpoint that
// is purged takes with it what lies in it. What is there is told by the files, whoever made them, and by the definitions
// of streams that have made nothing yet.

// CheckTablePlace refuses the URI of a new table that lies in a checkpoint, or has one of a stream among its files. Below a name
// with _ or . a checkpoint may lie in a table's folder.
func (m *Manager) CheckTablePlace(ctx context.Context, uri string) error {
	return m.checkTableAmongCheckpoints(ctx, "", canonicalURI(uri), streamKey{})
}

// checkTableAmongCheckpoints is CheckTablePlace for a table of the stream self, whose own checkpoint is not looked at.
func (m *Manager) checkTableAmongCheckpoints(ctx context.Context, stream, table string, self streamKey) error {
	refuse := func(format string, args ...any) error {
		return &Error{Kind: KindInvalid, Stream: stream, Message: fmt.Sprintf(format, args...)}
	}
	for _, s := range m.all() {
		d := s.definition()
		if d.key() == self {
			continue
		}
		if within(table, d.Checkpoint) {
			return refuse("%s lies in %s, which is the checkpoint of stream %s: no table is made there; choose another path", table, d.Checkpoint, d.FullName())
		}
		if below, ok := strings.CutPrefix(d.Checkpoint, table+"/"); ok && !isHidden(below) {
			return refuse("%s, the checkpoint of stream %s, would lie among the files of a table at %s, which engines clear away; choose another path",
				d.Checkpoint, d.FullName(), table)
		}
	}
	return m.above(ctx, table, func(uri string, st store.Store) error {
		if found, err := checkpoint.IsOne(ctx, st); err != nil || !found {
			return err
		}
		return refuse("%s lies in %s, which holds a stream's checkpoint (metadata, offsets, commits): no table is made there; choose another path", table, uri)
	})
}

// checkCheckpointAmongTables refuses a checkpoint in the folder of a table that is not the stream's own, or around one. own are those that the stream writes
// and reads.
func (m *Manager) checkCheckpointAmongTables(ctx context.Context, d *Definition, own []string) error {
	refuse := func(found, what string) error {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
			"checkpoint %s and %s, %s, lie in one another. Put the checkpoint into a folder of its own: WITH CHECKPOINT '...'", d.Checkpoint, found, what)}
	}
	for _, s := range m.all() {
		other := s.definition()
		target, err := m.cfg.Targets.Open(ctx, other.Target)
		if err != nil {
			m.log.Warn("where another stream's table is could not be found out", "stream", other.FullName(), "error", err)
			continue
		}
		table := canonicalURI(target.Table.Store().URI())
		if !slices.Contains(own, table) && (within(d.Checkpoint, table) || within(table, d.Checkpoint)) {
			return refuse(table, "the table of stream "+other.FullName())
		}
	}
	err := m.above(ctx, d.Checkpoint, func(uri string, st store.Store) error {
		if slices.Contains(own, uri) {
			return nil
		}
		found, err := hasAny(ctx, st, "_delta_log/")
		if errors.Is(err, store.ErrRootMissing) || err == nil && !found {
			return nil
		}
		if err != nil {
			return err
		}
		return refuse(uri, "which holds a Delta table (_delta_log)")
	})
	if err != nil {
		return err
	}
	return m.below(ctx, d.Checkpoint, func(uri string) error { return refuse(uri, "which holds a Delta table (_delta_log)") })
}

// above calls look for a folder and those above it, as far up as statements may reach.
func (m *Manager) above(ctx context.Context, uri string, look func(uri string, st store.Store) error) error {
	for {
		if m.cfg.Fence != nil && m.cfg.Fence.Check(uri) != nil {
			return nil
		}
		st, err := m.cfg.Open(uri)
		if err != nil {
			return nil // above what can be opened there is nothing that a statement could name
		}
		if err := look(uri, st); err != nil {
			return err
		}
		scheme, rest, ok := strings.Cut(uri, "://")
		if up := path.Dir(rest); !ok || up == rest || up == "/" || up == "." {
			return nil
		} else {
			uri = scheme + "://" + up
		}
	}
}

// below calls found for a folder right below uri that holds a Delta table.
func (m *Manager) below(ctx context.Context, uri string, found func(uri string) error) error {
	st, err := m.cfg.Open(uri)
	if err != nil {
		return err
	}
	for info, err := range st.List(ctx, "", "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("look for tables in %s: %w", uri, err)
		}
		if !info.Prefix {
			continue
		}
		if table, err := hasAny(ctx, st, info.Key+"_delta_log/"); err != nil {
			return err
		} else if table {
			return found(store.Sub(st, strings.TrimSuffix(info.Key, "/")).URI())
		}
	}
	return nil
}

// missingSource is the first folder or file that the stream reads and that is not there; "": they all are, or cannot be looked
// at, which reading them tells.
func (m *Manager) missingSource(ctx context.Context, d *Definition) string {
	specs, err := m.cfg.Compiler.Sources(ctx, *d)
	if err != nil {
		return ""
	}
	for _, spec := range specs {
		if uri := m.missingPart(ctx, spec); uri != "" {
			return uri
		}
	}
	return ""
}

// missingPart is what a source reads and is not there.
func (m *Manager) missingPart(ctx context.Context, spec source.Spec) string {
	if spec.Path == "" {
		return ""
	}
	uri := folderOf(spec)
	if !m.isMissing(ctx, uri) {
		return ""
	}
	return uri
}

func (m *Manager) isMissing(ctx context.Context, uri string) bool {
	st, err := m.cfg.Open(uri)
	if err != nil {
		return false
	}
	if _, err := hasAny(ctx, st, ""); !errors.Is(err, store.ErrRootMissing) {
		return false
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	if st, err = m.cfg.Open(scheme + "://" + path.Dir(rest)); err != nil {
		return true
	}
	_, err = st.Stat(ctx, decoded(path.Base(rest))) // one file is no folder
	return err != nil
}

func hasAny(ctx context.Context, st store.Store, prefix string) (bool, error) {
	for _, err := range st.List(ctx, prefix, "", "/") {
		if errors.Is(err, store.ErrRootMissing) {
			return false, err
		}
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("look for %s in %s: %w", prefix, st.URI(), err)
		}
		return true, nil
	}
	return false, nil
}

// isHidden reports whether a path below a table begins with a name that engines leave alone, and is not Delta's log.
func isHidden(below string) bool {
	first, _, _ := strings.Cut(below, "/")
	return first != "_delta_log" && (strings.HasPrefix(first, "_") || strings.HasPrefix(first, "."))
}
