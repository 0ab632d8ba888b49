package stream

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/stream/source"
)

// A SELECT that makes nothing of a source's column of rescued data is refused: what that column takes is no bad row, so nobody would hear of the values. A stream that has
// committed batches goes on as it did, whatever made it, and says it.

// checkRescuedIsNamed refuses a SELECT that neither names the column nor has a *, before the other columns are known.
func checkRescuedIsNamed(d *Definition, specs []source.Spec, sources []source.Source) error {
	for i, src := range sources {
		name := rescuedColumn(src)
		if name != "" && specs[i].Columns != nil && !slices.Contains(specs[i].Columns, strings.ToLower(name)) {
			return leavesOut(d, src, name)
		}
	}
	return nil
}

// compileWhole is compile for a SELECT that is new.
func compileWhole(ctx context.Context, m *Manager, d *Definition, sources []source.Source, inputs []*batch.Schema) (*boundPlan, error) {
	plan, err := compile(ctx, m, d, inputs)
	if err != nil {
		return nil, err
	}
	return plan, checkRescued(ctx, m, d, sources, inputs, plan.plan)
}

// compile is compileWhole until the stream's first batch is committed; from then on, what is lost is a notice, once a start.
func (ss *session) compile(ctx context.Context, inputs []*batch.Schema) (*boundPlan, error) {
	if ss.next == 0 {
		return compileWhole(ctx, ss.s.m, &ss.def, ss.sources, inputs)
	}
	plan, err := compile(ctx, ss.s.m, &ss.def, inputs)
	if err != nil || ss.run.toldLoss {
		return plan, err
	}
	err = checkRescued(ctx, ss.s.m, &ss.def, ss.sources, inputs, plan.plan)
	if isPermanent(err) {
		ss.run.toldLoss = true
		ss.run.notices = append(ss.run.notices, source.RowError{Message: err.Error() + ". A new stream is refused for that; this one goes on as it did"})
		return plan, nil
	}
	return plan, err
}

// checkRescued refuses a SELECT from whose rows the column is gone, however deep: it is planned once more over a source without the column. One that names the column does
// not compile then, and one that passes it on by * has fewer columns.
func checkRescued(ctx context.Context, m *Manager, d *Definition, sources []source.Source, inputs []*batch.Schema, plan Plan) error {
	for i, src := range sources {
		name := rescuedColumn(src)
		if name == "" {
			continue
		}
		at := inputs[i].Index(name)
		if at < 0 {
			continue
		}
		without := slices.Clone(inputs)
		without[i] = batch.NewSchema(slices.Delete(slices.Clone(inputs[i].Fields), at, at+1)...)
		other, err := m.cfg.Compiler.Compile(ctx, *d, without)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && other.Schema().Equal(plan.Schema()) {
			return leavesOut(d, src, name)
		}
	}
	return nil
}

func rescuedColumn(src source.Source) string {
	if rescuer, ok := src.(source.Rescuer); ok {
		return rescuer.RescuedColumn()
	}
	return ""
}

func leavesOut(d *Definition, src source.Source, name string) error {
	way := "choose ON SCHEMA CHANGE ADD COLUMNS or IGNORE, under which such values are bad rows"
	if d.OnSchemaChange != SchemaRescue {
		way = "leave out the option that rescues them, without which such values are bad rows"
	}
	return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
		"%s: the SELECT leaves out column %s of %s, which has the values that no other column takes: they would be lost. Add %s to the SELECT, or %s",
		d.subject(), name, src.Description(), name, way)}
}
