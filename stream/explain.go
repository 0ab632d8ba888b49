package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/stream/source"
)

// Explain says what CREATE STREAM of d would do. It writes nothing. What would make the statement fail is its error.
func (m *Manager) Explain(ctx context.Context, d Definition) (Explanation, error) {
	d.Checkpoint = canonicalURI(d.Checkpoint)
	if err := checkClauses(&d); err != nil {
		return Explanation{}, err
	}
	sources, closeAll, err := m.lookAtSources(ctx, &d)
	if err != nil {
		return Explanation{}, err
	}
	defer closeAll()
	var e Explanation
	specs, err := m.cfg.Compiler.Sources(ctx, d)
	if err != nil {
		return e, err
	}
	if err := errors.Join(checkOptions(&d, specs), m.checkCheckpointPlace(&d, specs), m.checkTargetPlace(ctx, &d, specs), checkRescuedIsNamed(&d, specs, sources)); err != nil {
		return e, err
	}
	for i, src := range sources {
		if _, err := src.Mark(ctx); err != nil {
			return e, fmt.Errorf("look at %s: %w", src.Description(), err)
		}
		b := src.Backlog()
		description := src.Description()
		if m.missingPart(ctx, specs[i]) != "" {
			description += ", which is not there yet"
		}
		e.Sources = append(e.Sources, description)
		e.BacklogFiles, e.BacklogBytes, e.BacklogRows = e.BacklogFiles+b.Files, e.BacklogBytes+b.Bytes, e.BacklogRows+b.Rows
	}
	if e.Checkpoint, err = m.explainCheckpoint(ctx, &d, len(sources)); err != nil {
		return e, err
	}
	return e, m.explainTarget(ctx, &d, specs, sources, &e)
}

func (m *Manager) explainCheckpoint(ctx context.Context, d *Definition, sources int) (string, error) {
	if s := m.lookup(d.key()); s != nil {
		return "kept: stream " + d.FullName() + " exists", nil
	}
	st, err := m.cfg.Open(d.Checkpoint)
	if err != nil {
		return "", err
	}
	cp, err := checkpoint.Open(ctx, st)
	switch {
	case checkpoint.IsKind(err, checkpoint.Missing):
		return "made new at " + d.Checkpoint, nil
	case err != nil:
		return "", checkpointError(d, err)
	}
	a := &attachment{def: *d, cp: cp}
	pos, err := a.examine(ctx, m, sources)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("continued: %s with id %s, behind batch %d", d.Checkpoint, cp.ID(), pos.txn), nil
}

// explainTarget says what the first batch does to the table, and to which columns.
func (m *Manager) explainTarget(ctx context.Context, d *Definition, specs []source.Spec, sources []source.Source, e *Explanation) error {
	target, err := m.cfg.Targets.Open(ctx, d.Target)
	if err != nil {
		return err
	}
	snap, err := currentSnapshot(ctx, target.Table)
	if err != nil {
		return fmt.Errorf("read target %s: %w", d.Target, err)
	}
	e.TargetExists = snap != nil
	inputs, err := m.keptSchemas(ctx, d, specs, sources)
	if err != nil {
		return err
	}
	for i, src := range sources {
		if inputs[i] != nil {
			continue
		}
		if inputs[i], err = src.Schema(ctx); errors.Is(err, source.ErrNoData) {
			e.Plan, e.TargetAction = "there is no file yet to infer the columns from", "decided when the first file is there"
			if missing := m.missingSource(ctx, d); missing != "" {
				e.Plan = missing + " is not there yet: " + e.Plan
			}
			if waiting := src.Backlog().Waiting; waiting > 0 {
				e.Plan = fmt.Sprintf("the columns are not known yet: %d files may still be written; type the statement again in some seconds", waiting)
			}
			return nil
		} else if err != nil {
			return err
		}
	}
	plan, err := compileWhole(ctx, m, d, sources, inputs)
	if err != nil {
		return err
	}
	fit, err := plan.fit(d, anyInferred(sources), snap)
	if err != nil {
		return err
	}
	e.Plan, e.Schema, e.TargetAction = plan.plan.String(), fit.actions, describeAction(d, fit)
	return nil
}

// keptSchemas has, for each source, the schema that the checkpoint keeps, by which a stream that goes on reads; nil where there is none. The files of today may
// tell another one.
func (m *Manager) keptSchemas(ctx context.Context, d *Definition, specs []source.Spec, sources []source.Source) ([]*batch.Schema, error) {
	kept := make([]*batch.Schema, len(sources))
	st, err := m.cfg.Open(d.Checkpoint)
	if err != nil {
		return nil, err
	}
	cp, err := checkpoint.Open(ctx, st)
	if checkpoint.IsKind(err, checkpoint.Missing) {
		return kept, nil
	}
	if err != nil {
		return nil, checkpointError(d, err)
	}
	for i, src := range sources {
		text, ok, err := cp.Schema(ctx, i)
		if err != nil {
			return nil, checkpointError(d, err)
		}
		if !ok {
			continue
		}
		if kept[i], err = delta.ParseSchema(string(text)); err != nil {
			return nil, checkpointError(d, cp.DamagedSchema(i, err))
		}
		if specs[i].Metadata {
			kept[i] = files.WithMetadata(kept[i])
		}
		if src.Inferred() {
			continue
		}
		given, err := src.Schema(ctx)
		if err != nil {
			return nil, err
		}
		kept[i] = source.Widen(given, kept[i])
	}
	return kept, nil
}

func describeAction(d *Definition, fit *fitting) string {
	switch {
	case fit.creates && len(d.PartitionedBy) > 0:
		return fmt.Sprintf("%s is created by the first batch, partitioned by %s", d.Target, strings.Join(d.PartitionedBy, ", "))
	case fit.creates:
		return fmt.Sprintf("%s is created by the first batch", d.Target)
	case fit.setMetadata:
		return fmt.Sprintf("rows are appended to %s, and columns are added to it", d.Target)
	default:
		return fmt.Sprintf("rows are appended to %s", d.Target)
	}
}
