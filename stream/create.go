package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
)

// createLookTimeout bounds how long CREATE STREAM looks at the sources to find mistakes in the SELECT. A folder that is
// slow to list does not hold up the statement: the stream finds the mistake itself, and says so in its state.
const createLookTimeout = 2 * time.Second

// CreateOptions are the words around CREATE STREAM.
type CreateOptions struct {
	IfNotExists bool
	OrReplace   bool
}

// Create checks the definition and its checkpoint, keeps the definition and starts the stream. It does not wait for a batch. A source that is to begin behind what is
// there now keeps where that is before the definition is kept: what comes after the statement is read, whenever the stream starts.
// created is false when IF NOT EXISTS found a stream of that name.
func (m *Manager) Create(ctx context.Context, d Definition, opts CreateOptions) (created bool, err error) {
	if opts.IfNotExists && opts.OrReplace {
		return false, &Error{Kind: KindInvalid, Stream: d.FullName(), Message: "OR REPLACE and IF NOT EXISTS contradict each other; take one of them"}
	}
	m.statements.Lock()
	defer m.statements.Unlock()
	old := m.lookup(d.key())
	switch {
	case old != nil && opts.IfNotExists:
		return false, nil
	case old != nil && !opts.OrReplace:
		return false, exists(d.FullName())
	}
	d.Checkpoint = canonicalURI(d.Checkpoint)
	d.Created = m.now().UTC()
	specs, err := m.checkDefinition(ctx, &d)
	if err != nil {
		return false, err
	}
	if old != nil {
		return true, m.replace(ctx, old, d, specs)
	}
	if err := m.attach(ctx, &d, len(specs)); err != nil {
		return false, err
	}
	if slices.ContainsFunc(specs, beginsNow) {
		if err := m.beginSources(ctx, &d, false); err != nil {
			return false, err
		}
	}
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		return false, fmt.Errorf("keep the definition of stream %s: %w", d.FullName(), err)
	}
	s := m.add(d)
	if s == nil {
		return false, &Error{Kind: KindWrongState, Stream: d.FullName(), Message: "the server is stopping; the stream starts with the next server"}
	}
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	s.settle(d)
	s.recall(ctx)
	return true, nil
}

func exists(name string) error {
	return &Error{Kind: KindExists, Stream: name, Message: fmt.Sprintf(
		"stream %s exists already; DROP STREAM %s first, or type CREATE OR REPLACE STREAM to change it and keep its checkpoint", name, name)}
}

func unsupported(d *Definition, format string, args ...any) error {
	return &Error{Kind: KindUnsupported, Stream: d.FullName(), Message: fmt.Sprintf(format, args...) + " is not supported yet"}
}

// checkDefinition refuses what contradicts itself, what is not built, and a SELECT that does not fit the files that are there.
func (m *Manager) checkDefinition(ctx context.Context, d *Definition) ([]source.Spec, error) {
	if err := checkClauses(d); err != nil {
		return nil, err
	}
	specs, err := m.cfg.Compiler.Sources(ctx, *d)
	if err != nil {
		return nil, err
	}
	if len(specs) == 0 {
		return nil, &Error{Kind: KindInvalid, Stream: d.FullName(), Message: "the SELECT of a stream reads at least one STREAM, such as STREAM read_files('./landing', format => 'csv')"}
	}
	if err := checkOptions(d, specs); err != nil {
		return nil, err
	}
	if err := m.checkCheckpointPlace(d, specs); err != nil {
		return nil, err
	}
	if err := m.checkTargetPlace(ctx, d, specs); err != nil {
		return nil, err
	}
	return specs, m.checkSelect(ctx, d, specs)
}

// checkClauses looks at the clauses alone.
func checkClauses(d *Definition) error {
	if _, err := parseOptions(d.Options); err != nil {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: err.Error()}
	}
	switch {
	case d.OutputMode != "" && !strings.EqualFold(d.OutputMode, "APPEND"):
		return unsupported(d, "OUTPUT MODE %s", d.OutputMode)
	case d.OnError.Max < 0:
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf("MAX %d ROWS: the number must be at least 1", d.OnError.Max)}
	}
	return checkTrigger(d)
}

func checkTrigger(d *Definition) error {
	if d.Trigger.Kind == Every && d.Trigger.Every <= 0 {
		if d.Trigger.Every == 0 { // Spark's ProcessingTime(0): as fast as possible
			d.Trigger = Trigger{}
			return nil
		}
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf("TRIGGER EVERY %s: the interval must not be negative", d.Trigger.Every)}
	}
	return nil
}

// checkCheckpointPlace refuses a checkpoint that another stream has, or that the stream would read itself.
func (m *Manager) checkCheckpointPlace(d *Definition, specs []source.Spec) error {
	for _, s := range m.all() {
		other := s.definition()
		if other.key() != d.key() && (within(d.Checkpoint, other.Checkpoint) || within(other.Checkpoint, d.Checkpoint)) {
			return &Error{Kind: KindCheckpointHeld, Stream: d.FullName(), Message: fmt.Sprintf(
				"checkpoint %s belongs to stream %s (%s): one stream, one checkpoint. Give stream %s another path in WITH CHECKPOINT '...'",
				d.Checkpoint, other.FullName(), other.Checkpoint, d.FullName())}
		}
	}
	for _, spec := range inStores(specs) {
		switch {
		case mayRead(spec, d.Checkpoint):
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"checkpoint %s lies inside the source %s: the stream would read its own records. Put it elsewhere: WITH CHECKPOINT '...'", d.Checkpoint, spec.Path)}
		case within(folderOf(spec), d.Checkpoint):
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"the source %s lies inside the checkpoint %s. Put the checkpoint elsewhere: WITH CHECKPOINT '...'", spec.Path, d.Checkpoint)}
		}
	}
	return nil
}

// checkTargetPlace refuses a stream whose source, checkpoint and tables lie in one another. A checkpoint may lie in a table's
// folder below a hidden name, as Spark's users have it.
func (m *Manager) checkTargetPlace(ctx context.Context, d *Definition, specs []source.Spec) error {
	table, err := m.checkTablePlace(ctx, d, d.Target, specs)
	if err != nil {
		return err
	}
	if d.OnError.DeadLetter != nil {
		dead, err := m.checkTablePlace(ctx, d, *d.OnError.DeadLetter, specs)
		if err != nil {
			return err
		}
		if dead == table {
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"ON ERROR DEAD LETTER INTO %s names the table that the stream writes: name another one, which the stream makes", d.OnError.DeadLetter)}
		}
		if err := m.checkDeadLetters(ctx, d, specs); err != nil {
			return err
		}
	}
	return m.checkCheckpointAmongTables(ctx, d, append(tablesOf(specs), table))
}

// checkTablePlace is checkTargetPlace for one of the stream's tables, whose URI it returns.
func (m *Manager) checkTablePlace(ctx context.Context, d *Definition, ref TargetRef, specs []source.Spec) (table string, err error) {
	target, err := m.cfg.Targets.Open(ctx, ref)
	if err != nil {
		return "", err
	}
	table = canonicalURI(target.Table.Store().URI())
	refuse := func(format string, args ...any) error {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(format, args...)}
	}
	if err := checkApart(d, ref, table, specs); err != nil {
		return "", err
	}
	inTable, below := strings.CutPrefix(d.Checkpoint, table+"/")
	switch {
	case within(table, d.Checkpoint):
		return "", refuse("table %s (%s) lies in the checkpoint %s. Put the checkpoint elsewhere: WITH CHECKPOINT '...'", ref, table, d.Checkpoint)
	case below && !isHidden(inTable):
		return "", refuse("checkpoint %s lies among the files of table %s, which engines clear away. Put it elsewhere, or there under a name with _: WITH CHECKPOINT '%s/_checkpoints/%s'",
			d.Checkpoint, ref, table, d.Name)
	}
	return table, m.checkTableAmongCheckpoints(ctx, d.FullName(), table, d.key())
}

// checkApart refuses sources that lie in the table's folder, or around it.
func checkApart(d *Definition, ref TargetRef, table string, specs []source.Spec) error {
	for _, spec := range inStores(specs) {
		if mayRead(spec, table) || within(folderOf(spec), table) || spec.Table && within(table, placeOf(spec)) {
			return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
				"the source %s and the files of table %s (%s) lie in one another: %s would read what it writes. "+
					"Let it read another folder, or write another table", spec.Path, ref, table, d.subject())}
		}
	}
	return nil
}

// checkSelect compiles the SELECT over the files that are there, if that takes no long look. What is wrong with the data is
// not the statement's business: the stream's state tells it.
func (m *Manager) checkSelect(ctx context.Context, d *Definition, specs []source.Spec) error {
	sources, closeAll, err := m.lookAtSources(ctx, d)
	if err != nil {
		return err
	}
	defer closeAll()
	if err := checkRescuedIsNamed(d, specs, sources); err != nil {
		return err
	}
	look, cancel := context.WithTimeout(ctx, createLookTimeout)
	defer cancel()
	inputs := make([]*batch.Schema, len(sources))
	for i, src := range sources {
		if inputs[i], err = src.Schema(look); err != nil {
			return ctx.Err()
		}
	}
	plan, err := compileWhole(ctx, m, d, sources, inputs)
	if err != nil {
		return err
	}
	target, err := m.cfg.Targets.Open(ctx, d.Target)
	if err != nil {
		return err
	}
	snap, err := currentSnapshot(ctx, target.Table)
	if err != nil {
		return fmt.Errorf("read target %s: %w", d.Target, err)
	}
	_, err = plan.fit(d, anyInferred(sources), snap)
	return err
}

// attach makes the checkpoint, or checks that the one that is there can be continued, and takes its id for the stream's.
func (m *Manager) attach(ctx context.Context, d *Definition, sources int) error {
	st, err := m.cfg.Open(d.Checkpoint)
	if err != nil {
		return err
	}
	cp, err := checkpoint.Open(ctx, st)
	if checkpoint.IsKind(err, checkpoint.Missing) {
		if cp, err = checkpoint.Create(ctx, st); err != nil {
			return fmt.Errorf("make checkpoint %s: %w", d.Checkpoint, err)
		}
		d.ID = cp.ID()
		return nil
	}
	if err != nil {
		return &Error{Kind: KindCheckpoint, Stream: d.FullName(), Err: err, Message: fmt.Sprintf(
			"stream %s cannot take checkpoint %s: %v; or give it another path in WITH CHECKPOINT '...'", d.FullName(), d.Checkpoint, err)}
	}
	d.ID = cp.ID()
	if err := m.refuseCopy(d); err != nil {
		return err
	}
	a := &attachment{def: *d, cp: cp, creating: true}
	if _, err := a.examine(ctx, m, sources); err != nil {
		return err
	}
	return m.testLease(ctx, a)
}

// refuseCopy refuses a checkpoint that has the id of another stream's: both would write the table's txn of that id, and each
// would take the other's batches for its own, with files in them that it has not read.
func (m *Manager) refuseCopy(d *Definition) error {
	for _, s := range m.all() {
		if other := s.definition(); other.key() != d.key() && other.ID == d.ID {
			return &Error{Kind: KindCheckpointHeld, Stream: d.FullName(), Message: fmt.Sprintf(
				"checkpoint %s is a copy of %s, which belongs to stream %s: both have the id %s, and the table could not tell their batches apart. "+
					"Give stream %s another path in WITH CHECKPOINT '...', or DROP STREAM %s first",
				d.Checkpoint, other.Checkpoint, other.FullName(), d.ID, d.FullName(), other.FullName())}
		}
	}
	return nil
}

// examine says whether an existing checkpoint can be continued, by a stream of so many sources. It writes nothing.
func (a *attachment) examine(ctx context.Context, m *Manager, sources int) (position, error) {
	var err error
	if a.target, err = m.cfg.Targets.Open(ctx, a.def.Target); err != nil {
		return position{}, err
	}
	pos, _, err := a.look(ctx)
	if KindOf(err) == KindBatchesLost && pos.txn < 0 {
		return pos, a.fail(KindCheckpoint, err, "checkpoint %s is foreign to table %s: it has committed batches up to %d, and the table does not know its id %s. "+
			"Name the table that it belongs to, or take a new checkpoint", a.cp.URI(), a.def.Target, lastCommitted(pos), a.cp.ID())
	}
	if err != nil {
		return pos, err
	}
	if pos.offsets >= 0 {
		_, err = a.readOffsets(ctx, pos.offsets, sources)
	}
	return pos, err
}

// testLease refuses a checkpoint on which another process works.
func (m *Manager) testLease(ctx context.Context, a *attachment) error {
	lease := a.cp.Lease(m.cfg.Owner)
	err := lease.Acquire(ctx)
	if isHeld(err) {
		holder := ""
		if b, ok, bindErr := a.cp.Binding(ctx); bindErr == nil && ok {
			holder = " for stream " + b.StreamName
		}
		return a.fail(KindCheckpointHeld, err, "checkpoint %s is in use%s: %v. Stop that stream, or wait until its lease has run out, and type the statement again",
			a.cp.URI(), holder, err)
	}
	if err != nil {
		return err
	}
	return lease.Release(ctx)
}

// replace is CREATE OR REPLACE on a stream that exists: another SELECT, other clauses, the same checkpoint, sources and target.
func (m *Manager) replace(ctx context.Context, s *stream, d Definition, specs []source.Spec) error {
	s.lifecycle.Lock()
	defer s.lifecycle.Unlock()
	old := s.definition()
	d.ID, d.Resetting, d.Begin = old.ID, old.Resetting, old.Begin
	oldSpecs, err := m.cfg.Compiler.Sources(ctx, old)
	if err != nil && !isOutside(err) {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Err: err, Message: fmt.Sprintf("what stream %s reads so far cannot be told, and so not whether it may read this: %v. "+
			"Type DROP STREAM %s, which keeps the checkpoint, and then CREATE STREAM with the same checkpoint, which goes on with it", d.FullName(), err, d.FullName())}
	}
	if err != nil {
		return err
	}
	refuse := func(what string) error {
		return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
			"CREATE OR REPLACE STREAM keeps the checkpoint of stream %s, and that does not allow another %s. Take a new stream with a checkpoint of its own, "+
				"or DROP STREAM %s PURGE CHECKPOINT first, after which everything is read again", d.FullName(), what, d.FullName())}
	}
	switch {
	case old.Checkpoint != d.Checkpoint:
		return refuse("checkpoint (it is " + old.Checkpoint + ")")
	case !strings.EqualFold(old.Target.String(), d.Target.String()):
		return refuse("target (it is " + old.Target.String() + ")")
	case len(oldSpecs) != len(specs):
		return refuse(fmt.Sprintf("number of sources (it is %d)", len(oldSpecs)))
	}
	for i := range specs {
		if specs[i].Kind != oldSpecs[i].Kind || placeOf(specs[i]) != placeOf(oldSpecs[i]) {
			return refuse(fmt.Sprintf("source (number %d is %s)", i+1, strings.TrimSpace(oldSpecs[i].Kind+" "+oldSpecs[i].Path)))
		}
	}
	s.halt()
	if err := m.checkLettersSettled(ctx, &old); err != nil {
		s.settle(old)
		return err
	}
	if err := m.cfg.Definitions.Put(ctx, d); err != nil {
		s.settle(old)
		return fmt.Errorf("keep the definition of stream %s: %w", d.FullName(), err)
	}
	s.settle(d)
	return nil
}

// openCheckpoint opens the definition's checkpoint, and makes sure that it is the one of this definition.
func (m *Manager) openCheckpoint(ctx context.Context, d *Definition) (*checkpoint.Checkpoint, error) {
	st, err := m.cfg.Open(d.Checkpoint)
	if err != nil {
		return nil, err
	}
	cp, err := checkpoint.Open(ctx, st)
	if errors.Is(err, store.ErrRootMissing) {
		err = &checkpoint.Error{Kind: checkpoint.Missing, URI: d.Checkpoint, Found: "no folder", Err: err}
	}
	if err != nil {
		return nil, checkpointError(d, err)
	}
	if cp.ID() != d.ID && !d.Resetting {
		return nil, checkpointError(d, &checkpoint.Error{Kind: checkpoint.Changed, URI: d.Checkpoint, Found: "found id " + cp.ID()})
	}
	return cp, nil
}
