package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/stream/source"
)

// Handover is what another engine has to know to continue a stream by its checkpoint.
type Handover struct {
	Definition  Definition
	Sources     []HandoverSource
	Columns     []HandoverColumn // what the SELECT gives the table
	Target      string           // URI
	Exists      bool             // the target
	AddsColumns bool             // some of Columns are not in the table
}

// HandoverSource is one source of the SELECT.
type HandoverSource struct {
	Spec   source.Spec
	Schema *batch.Schema // what the SELECT reads, without the hidden columns
	// Stored are the columns as the files have them, for engines that bind by position: those of the headers in their order, then those of folders, also such as
	// Schema lacks. Of a source whose columns bind by name they are Schema's.
	Stored  []batch.Field
	ByName  bool     // CSV whose columns bind by the names of its headers
	Folders []string // columns of key=value folders
	Start   int64    // the version that the source began with; -1: its options say none
}

// HandoverColumn is a column of the table that the SELECT gives.
type HandoverColumn struct {
	From string // its name in the SELECT
	batch.Field
}

// Handover describes a stream for another engine. What that would do differently because of what has been read is an error: headers of files that differ in
// their order, a file that is to be left out, columns that are not known yet.
func (m *Manager) Handover(ctx context.Context, database, name string) (*Handover, error) {
	s, err := m.find(database, name)
	if err != nil {
		return nil, err
	}
	h := &handover{m: m, Handover: Handover{Definition: s.definition()}}
	d := &h.Definition
	if d.Resetting {
		return nil, h.refuse("a RESET has begun: START STREAM %s finishes it", d.FullName())
	}
	if h.cp, err = m.openCheckpoint(ctx, d); err != nil {
		return nil, err
	}
	sources, closeAll, err := m.lookAtSources(ctx, d)
	if err != nil {
		return nil, err
	}
	defer closeAll()
	specs, err := m.sources(ctx, d)
	if err != nil {
		return nil, err
	}
	if h.read, err = m.files(ctx, h.cp, specs); err != nil {
		return nil, showError(d, "files", err)
	}
	if err := h.checkSkipped(ctx); err != nil {
		return nil, err
	}
	kept, err := m.keptSchemas(ctx, d, specs, sources)
	if err != nil {
		return nil, err
	}
	for i, src := range sources {
		one := HandoverSource{Spec: specs[i], Schema: kept[i], Start: -1}
		if err := h.source(ctx, i, &one, src); err != nil {
			return nil, err
		}
		h.Sources = append(h.Sources, one)
	}
	return &h.Handover, h.target(ctx, sources)
}

// handover is one that is being made.
type handover struct {
	Handover
	m    *Manager
	cp   *checkpoint.Checkpoint
	read []FileStatus
}

func (h *handover) refuse(format string, args ...any) error {
	d := &h.Definition
	return &Error{Kind: KindUnsupported, Stream: d.FullName(), Message: fmt.Sprintf("stream %s cannot be handed over: ", d.FullName()) + fmt.Sprintf(format, args...)}
}

// checkSkipped refuses files that another engine would read: a decision to leave one out is nowhere but in _lakesql.
func (h *handover) checkSkipped(ctx context.Context) error {
	skipped, err := loadSkipped(ctx, h.cp)
	if err != nil {
		return err
	}
	committed := map[string]bool{}
	for _, f := range h.read {
		committed[f.Path] = f.committed
	}
	for uri := range skipped {
		if !committed[uri] {
			return h.refuse("ALTER STREAM ... SKIP FILE leaves %s out, which only lakesql knows: let the stream run past that file, or move it away", uri)
		}
	}
	return nil
}

func (h *handover) source(ctx context.Context, index int, one *HandoverSource, src source.Source) error {
	start, ok, err := h.cp.Start(ctx, index)
	if err != nil {
		return err
	}
	if ok {
		one.Start = start.Version
	}
	var opts *files.Options
	if one.Spec.Kind == "files" {
		if opts, err = files.ParseOptions(one.Spec.Options); err != nil {
			return err
		}
	}
	if one.Schema == nil {
		if opts != nil && src.Inferred() && opts.Format != "text" {
			return h.refuse("its columns are not known before the first file is read; give them by the option schema of read_files, or start the stream")
		}
		if one.Schema, err = src.Schema(ctx); err != nil {
			return fmt.Errorf("find the columns of %s: %w", src.Description(), err)
		}
	}
	one.Schema = withoutMetadata(one.Schema)
	one.Stored = one.Schema.Fields
	if opts == nil {
		return nil
	}
	one.ByName = opts.Format == "csv" && opts.CSV.Header && !opts.CSV.EnforceSchema
	return h.stored(ctx, index, one, opts)
}

// withoutMetadata is a schema without the hidden columns.
func withoutMetadata(s *batch.Schema) *batch.Schema {
	return batch.NewSchema(slices.DeleteFunc(slices.Clone(s.Fields), func(f batch.Field) bool { return files.IsMetadataColumn(f.Name) })...)
}

// stored finds the columns of the files in the order that all of them have. Files that are gone have none.
func (h *handover) stored(ctx context.Context, index int, one *HandoverSource, opts *files.Options) error {
	var header, folders []string
	var first string
	for _, f := range h.read {
		if f.SourceID != index || f.Size < 0 {
			continue
		}
		names, partitions, err := files.ColumnsOf(ctx, h.m.cfg.Open, files.File{URI: f.Path, Size: f.Size, ModTime: f.ModTime}, opts)
		var gone *files.GoneError
		if errors.As(err, &gone) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at the columns of file %s: %w", f.Path, err)
		}
		folders = addNames(folders, partitions)
		if !one.ByName || len(names) == 0 {
			continue
		}
		if n := min(len(header), len(names)); !slices.EqualFunc(header[:n], names[:n], strings.EqualFold) ||
			first != "" && len(names) != len(header) && h.Definition.OnError.Mode != Permissive {
			return h.refuse("the header of file %s is (%s), and that of file %s is (%s): an engine that binds columns by their position, as Spark does, would mix them up",
				f.Path, strings.Join(names, ", "), first, strings.Join(header, ", "))
		}
		if len(names) > len(header) {
			header, first = names, f.Path
		}
	}
	one.Folders = folders
	switch {
	case one.ByName && header != nil:
		one.Stored = fieldsOf(one.Schema, addNames(header, folders))
	case len(folders) > 0: // folders' columns come last
		one.Stored = slices.DeleteFunc(slices.Clone(one.Schema.Fields), func(f batch.Field) bool { return hasName(folders, f.Name) })
		one.Stored = append(one.Stored, fieldsOf(one.Schema, folders)...)
	}
	return nil
}

// fieldsOf are columns of these names; one that the schema lacks is a text.
func fieldsOf(schema *batch.Schema, names []string) []batch.Field {
	out := make([]batch.Field, len(names))
	for i, name := range names {
		out[i] = batch.Field{Name: name, Type: batch.Type{Kind: batch.String}, Nullable: true}
		if at := schema.Index(name); at >= 0 {
			out[i].Type = schema.Fields[at].Type
		}
	}
	return out
}

func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, name) })
}

func addNames(names, more []string) []string {
	for _, name := range more {
		if !hasName(names, name) {
			names = append(names[:len(names):len(names)], name)
		}
	}
	return names
}

// target finds what the SELECT gives the table.
func (h *handover) target(ctx context.Context, sources []source.Source) error {
	d := &h.Definition
	inputs := make([]*batch.Schema, len(h.Sources))
	for i, one := range h.Sources {
		if inputs[i] = one.Schema; one.Spec.Metadata {
			inputs[i] = files.WithMetadata(one.Schema)
		}
	}
	target, err := h.m.cfg.Targets.Open(ctx, d.Target)
	if err != nil {
		return err
	}
	snap, err := currentSnapshot(ctx, target.Table)
	if err != nil {
		return fmt.Errorf("read target %s: %w", d.Target, err)
	}
	plan, err := compile(ctx, h.m, d, inputs)
	if err != nil {
		return err
	}
	fit, err := plan.fit(d, anyInferred(sources), snap)
	if err != nil {
		return err
	}
	h.Target, h.Exists, h.AddsColumns = target.Table.Store().URI(), snap != nil, fit.setMetadata
	if len(fit.texts) > 0 {
		return h.refuse("the table has columns that it reads as JSON out of texts: give them their types in the SELECT")
	}
	given := plan.plan.Schema().Fields
	for _, field := range fit.given() {
		at := slices.IndexFunc(plan.output, func(f batch.Field) bool { return strings.EqualFold(f.Name, field.Name) })
		h.Columns = append(h.Columns, HandoverColumn{From: given[at].Name, Field: field})
	}
	return nil
}
