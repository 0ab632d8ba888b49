package stream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lakesql/batch"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
)

// CopyAppID is the appId of the txn by which a table says how far COPY INTO has come: the entry of its checkpoint.CopyLog that
// counts. CopiedNothing is its version where the log is to count no more.
const (
	CopyAppID     = "lakesql.copy-into"
	CopiedNothing = -1
)

// copyPatience is how long COPY INTO waits for files that are still being written. What is not whole then is left to the next one.
const copyPatience = 30 * time.Second

// Copy is a COPY INTO: one batch of a stream that nobody keeps, of the files that no other COPY INTO has put into the table.
type Copy struct {
	// Definition has what the statement says: Database, Target, Columns, Definer, OnError, OnSchemaChange and SelectSQL, which reads one source.
	Definition Definition
	// Force takes files that have been copied already, too.
	Force bool
	// AsTable reads columns that the table has in the table's types, instead of those that the files look like.
	AsTable bool
}

// Copied is what a COPY INTO did.
type Copied struct {
	Version int64             // of the table; -1: there was nothing new, and nothing was committed
	Rows    int64             // written
	Errors  []source.RowError // the first of them, where OnError lets such rows pass
	Waiting int64             // files that were still being written, and are left to the next COPY INTO
}

// Copy runs a COPY INTO. The table exists. Copies into one table wait for each other within this server; those of several servers
// do not, and each file is still in the table once.
func (m *Manager) Copy(ctx context.Context, c Copy) (Copied, error) {
	c.Definition.copying = true
	d := &c.Definition
	specs, err := m.cfg.Compiler.Sources(ctx, *d)
	if err != nil {
		return Copied{}, err
	}
	if len(specs) != 1 {
		return Copied{}, &Error{Kind: KindInvalid, Message: fmt.Sprintf("%s: its SELECT reads %d sources, and must read one", d.subject(), len(specs))}
	}
	target, err := m.cfg.Targets.Open(ctx, d.Target)
	if err != nil {
		return Copied{}, err
	}
	if err := checkApart(d, d.Target, canonicalURI(target.Table.Store().URI()), specs); err != nil {
		return Copied{}, err
	}
	if missing := m.missingSource(ctx, d); missing != "" {
		return Copied{}, &Error{Kind: KindNoSource, Message: fmt.Sprintf("[PATH_NOT_FOUND] %s: there is no folder or file %s", d.subject(), missing)}
	}
	done, err := m.copyTurn(ctx, target.Table.Store().URI())
	if err != nil {
		return Copied{}, err
	}
	defer done()
	for {
		run := &copyRun{Copy: c, log: checkpoint.NewCopyLog(target.Table.Store())}
		run.session = &session{attachment: attachment{def: *d, target: target}, s: newStream(m, *d, 0)}
		out, err := run.run(ctx, specs[0])
		if again := errors.Is(err, delta.ErrConflict) || errors.Is(err, delta.ErrConcurrentTxn); !again || ctx.Err() != nil {
			return out, err
		}
	}
}

// copyTurn waits until no other COPY INTO of this server runs on the table.
func (m *Manager) copyTurn(ctx context.Context, uri string) (done func(), err error) {
	turn, _ := m.copies.LoadOrStore(uri, make(chan struct{}, 1))
	select {
	case turn.(chan struct{}) <- struct{}{}:
		return func() { <-turn.(chan struct{}) }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// copyRun is one attempt: everything that it knows is of one version of the table.
type copyRun struct {
	Copy
	*session
	log    *checkpoint.CopyLog
	snap   *delta.Snapshot
	last   int64 // the table's txn
	copied *checkpoint.Copied
}

func (r *copyRun) run(ctx context.Context, spec source.Spec) (Copied, error) {
	defer r.closeSources()
	if err := r.look(ctx); err != nil {
		return Copied{}, err
	}
	if err := r.openSource(ctx, spec); err != nil {
		return Copied{}, r.explain(ctx, err)
	}
	b, err := r.take(ctx)
	if err != nil {
		return Copied{}, r.explain(ctx, err)
	}
	waiting := r.backlog().Waiting
	if b == nil {
		return Copied{Version: -1, Waiting: waiting}, nil
	}
	res, fit, err := r.write(ctx, b)
	if err != nil {
		return Copied{}, r.explain(ctx, err)
	}
	out := Copied{Rows: res.rows, Errors: res.observed.kept, Waiting: waiting}
	if out.Version, err = r.finish(ctx, res, fit); err != nil {
		return Copied{}, r.explain(ctx, err)
	}
	return out, nil
}

// look reads what has been copied. An entry that another COPY INTO has merged away meanwhile is of an older version.
func (r *copyRun) look(ctx context.Context) error {
	for {
		snap, err := r.target.Table.Snapshot(ctx)
		if err != nil {
			return fmt.Errorf("read target %s: %w", r.def.Target, err)
		}
		last, known := snap.Txn(CopyAppID)
		if !known {
			last = -1
		}
		copied, err := r.log.Read(ctx, snap.Metadata().ID, last, known)
		if err != nil {
			if now, nowErr := r.target.Table.Snapshot(ctx); nowErr == nil && txnOf(now, CopyAppID) != last {
				continue
			}
			var own *checkpoint.Error
			if !errors.As(err, &own) {
				return fmt.Errorf("%s: read which files are in the table already: %w", r.def.subject(), err)
			}
			if !r.Force || own.Kind != checkpoint.Damaged {
				return &Error{Kind: KindCheckpoint, Err: err, Message: fmt.Sprintf("%s: which files are in the table already is not known: %v", r.def.subject(), err)}
			}
			copied = checkpoint.None(snap.Metadata().ID)
		}
		r.snap, r.last, r.copied = snap, last, copied
		return nil
	}
}

func (r *copyRun) openSource(ctx context.Context, spec source.Spec) error {
	open, ok := r.s.m.cfg.Sources[spec.Kind]
	if !ok {
		return r.fail(KindUnsupported, nil, "%s: source %s is not supported yet", r.def.subject(), spec.Kind)
	}
	env := sourceEnv(r.s.m, &r.def)
	env.NewColumns = source.AddWhereInferred // whether the table may have them is for fit to say
	env.RowHint = "FORMAT_OPTIONS ('mode' = 'PERMISSIVE') takes NULL for such a field, 'DROPMALFORMED' leaves such rows out"
	if !r.Force {
		env.Known = r.copied.Has
	}
	if r.AsTable {
		env.Retype = r.retype
	}
	src, err := open(ctx, spec, env)
	if err != nil {
		return err
	}
	r.sources = append(r.sources, src)
	return nil
}

// retype gives the columns of the files the types of the table's: of that of the same name, or of the one that COPY INTO t (...)
// names at its place. Nested ones are read as the texts that they are in the files.
func (r *copyRun) retype(schema *batch.Schema) *batch.Schema {
	out := batch.NewSchema(slices.Clone(schema.Fields)...)
	for i := range out.Fields {
		f := &out.Fields[i]
		name := f.Name
		if i < len(r.def.Columns) {
			name = r.def.Columns[i]
		}
		at := r.snap.Schema().Index(name)
		if at < 0 {
			continue
		}
		switch want := r.snap.Schema().Fields[at].Type; {
		case want.Fields() != nil:
			f.Type = batch.Type{Kind: batch.String}
		case want.Kind != batch.Void:
			f.Type = want
		}
	}
	return out
}

// take waits until the files that are there now are whole, and takes them as the one range; nil: there is none.
func (r *copyRun) take(ctx context.Context) (*micro, error) {
	src, start := r.sources[0], r.s.m.now()
	if err := src.Freeze(ctx); err != nil {
		return nil, err
	}
	for src.Backlog().Waiting > 0 && r.s.m.now().Sub(start) < copyPatience {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(src.RecheckAfter()):
		}
		if _, err := src.Mark(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := src.Schema(ctx); errors.Is(err, source.ErrNoData) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	b := &micro{time: start.Truncate(time.Millisecond), start: []source.Offset{source.None}, took: durations{}}
	end, _, err := src.Latest(ctx, source.None, source.Limit{All: true})
	if err != nil || end == source.None {
		return nil, err
	}
	b.end = []source.Offset{end}
	return b, nil
}

// write reads the files through the SELECT into data files. It begins again when a file has columns that those before it lack.
func (r *copyRun) write(ctx context.Context, b *micro) (*batchResult, *fitting, error) {
	for {
		inputs, err := r.schemas(ctx)
		if err != nil {
			return nil, nil, err
		}
		if r.plan, err = compileWhole(ctx, r.s.m, &r.def, r.sources, inputs); err != nil {
			return nil, nil, err
		}
		fit, err := r.plan.fit(&r.def, anyInferred(r.sources), r.snap)
		if err != nil {
			return nil, nil, err
		}
		res, err := r.readAndWrite(ctx, b, r.snap, fit)
		if !errors.Is(err, source.ErrSchemaEvolved) {
			return res, fit, err
		}
	}
}

// finish commits the rows, with the entry of their files. What is not committed leaves nothing but an entry that counts for nothing.
func (r *copyRun) finish(ctx context.Context, res *batchResult, fit *fitting) (version int64, err error) {
	stopped := ctx.Err()
	ctx = context.WithoutCancel(ctx) // from here on it is better finished
	defer func() {
		if err != nil && !errors.Is(err, store.ErrAmbiguous) {
			err = errors.Join(err, r.drop(ctx, res.files))
		}
	}()
	if stopped != nil {
		return 0, stopped
	}
	entry, err := r.log.Add(ctx, r.copied, r.last, r.newest())
	if err != nil {
		return 0, fmt.Errorf("record %d files in %s: %w", len(r.newest()), r.target.Table.Store().URI(), err)
	}
	tx := begin(r.target.Table, r.snap, fit, res.files, CopyAppID, entry.ID)
	done, err := tx.Commit(ctx, delta.Operation{Name: "COPY INTO", Parameters: map[string]string{"mode": "Append"}, Metrics: map[string]string{
		"numFiles": strconv.Itoa(len(res.files)), "numOutputRows": strconv.FormatInt(res.rows, 10), "numOutputBytes": strconv.FormatInt(res.bytes, 10),
		"numSourceFiles": strconv.Itoa(len(r.newest())),
	}})
	if err != nil {
		return 0, fmt.Errorf("commit to %s: %w", r.def.Target, err)
	}
	r.s.m.log.Info("copy into", "table", r.def.Target.String(), "version", done.Version, "files", len(r.newest()), "rows", res.rows, "malformed", res.observed.errorRows)
	if err := r.log.Committed(ctx, entry); err != nil { // the next one does it
		r.s.m.log.Warn("what COPY INTO has merged could not be cleared away", "table", r.def.Target.String(), "error", err)
	}
	return done.Version, nil
}

// drop deletes data files that no commit names.
func (r *copyRun) drop(ctx context.Context, files []delta.AddFile) error {
	var all []error
	for _, f := range files {
		if err := r.target.Table.Store().Delete(ctx, f.Path); err != nil {
			all = append(all, fmt.Errorf("drop %s: %w", f.Path, err))
		}
	}
	return errors.Join(all...)
}

// newest is the files of the range.
func (r *copyRun) newest() []checkpoint.SourceEntry {
	list, ok := r.sources[0].(source.FileLister)
	if !ok {
		return nil
	}
	return list.Newest()
}

// explain turns an error that the statement can do something about into one that says what.
func (r *copyRun) explain(ctx context.Context, err error) error {
	if isPermanent(err) || ctx.Err() != nil || errors.Is(err, delta.ErrConflict) || errors.Is(err, delta.ErrConcurrentTxn) {
		return err
	}
	about := func(kind ErrorKind, hint string) error {
		return r.fail(kind, err, "%s: %v%s", r.def.subject(), strings.TrimRight(err.Error(), "."), hint)
	}
	var file *source.FileError
	switch {
	case errors.As(err, &file) && errors.Is(err, source.ErrChanged):
		return about(KindSourceChanged, ". Nothing was committed: type the statement again")
	case errors.Is(err, source.ErrData):
		return about(KindData, ". Nothing was committed")
	case errors.Is(err, delta.ErrConstraint):
		return about(KindData, ". Nothing was committed: leave such rows out with FROM (SELECT ... WHERE ...), or change the table")
	}
	return fmt.Errorf("%s: %w", r.def.subject(), err)
}
