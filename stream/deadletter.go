package stream

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/stream/source"
)

// deadFields are the columns of a dead-letter table: a row for each row that a stream left out.
var deadFields = []batch.Field{
	{Name: "stream", Type: batch.Type{Kind: batch.String}, Nullable: true}, // db.name
	{Name: "batch", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	{Name: "time", Type: batch.Type{Kind: batch.Timestamp}, Nullable: true}, // of the batch, as current_timestamp() has it
	{Name: "file", Type: batch.Type{Kind: batch.String}, Nullable: true},    // NULL where the SELECT could not compute a value
	{Name: "line", Type: batch.Type{Kind: batch.Int64}, Nullable: true},     // likewise
	{Name: "reason", Type: batch.Type{Kind: batch.String}, Nullable: true},  // what is wrong with each of the row's columns
	{Name: "raw", Type: batch.Type{Kind: batch.String}, Nullable: true},     // the row's text as it is in the file, or its values as a record of CSV
}

// deadLetters writes the rows that one attempt at a batch leaves out. Its commit comes before the target's, and carries the batch's txn too, so that a
// batch that is run again writes them once.
type deadLetters struct {
	ss     *session
	batch  *micro
	target Target
	snap   *delta.Snapshot // nil: the table is not there yet
	fit    *fitting
	writer *delta.FileWriter // nil: no row was left out yet
	rows   *batch.Builder
	open   source.RowError // the row at hand, with the reasons so far
	reason []string
	count  int64 // of rows left out
	files  []delta.AddFile
	err    error // of writing: observers cannot return one
}

// openDeadLetters returns nil where the stream has no dead-letter table, or that has the batch's rows already.
func (ss *session) openDeadLetters(ctx context.Context, b *micro) (*deadLetters, error) {
	ref := ss.def.OnError.DeadLetter
	if ref == nil {
		return nil, nil
	}
	target, err := ss.s.m.cfg.Targets.Open(ctx, *ref)
	if err != nil {
		return nil, err
	}
	d := &deadLetters{ss: ss, batch: b, target: target, rows: batch.NewBuilder(batch.NewSchema(deadFields...))}
	if d.snap, err = currentSnapshot(ctx, target.Table); err != nil {
		return nil, fmt.Errorf("read the dead-letter table %s: %w", ref, err)
	}
	if txnOf(d.snap, ss.cp.ID()) >= b.id {
		return nil, nil
	}
	d.fit, err = fitDeadLetters(&ss.def, d.snap)
	return d, err
}

// checkDeadLetters refuses a table that is there and cannot have dead letters, and sources that do something else with malformed rows.
func (m *Manager) checkDeadLetters(ctx context.Context, d *Definition, specs []source.Spec) error {
	for _, spec := range specs {
		for name := range spec.Options {
			if strings.EqualFold(name, "mode") || strings.EqualFold(name, "cloudFiles.mode") {
				return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf(
					"ON ERROR DEAD LETTER INTO %s says what becomes of malformed rows: leave the option %s out", d.OnError.DeadLetter, name)}
			}
		}
	}
	target, err := m.cfg.Targets.Open(ctx, *d.OnError.DeadLetter)
	if err != nil {
		return err
	}
	snap, err := currentSnapshot(ctx, target.Table)
	if err != nil {
		return fmt.Errorf("read the dead-letter table %s: %w", d.OnError.DeadLetter, err)
	}
	_, err = fitDeadLetters(d, snap)
	return err
}

// checkLettersSettled refuses another definition for a stream whose last batch has its dead letters committed and its rows not: run again with another
// SELECT or ON ERROR, it would leave out other rows than those.
func (m *Manager) checkLettersSettled(ctx context.Context, old *Definition) error {
	if old.OnError.DeadLetter == nil {
		return nil
	}
	cp, err := m.openCheckpoint(ctx, old)
	if err != nil {
		return err
	}
	last, err := cp.Offsets().Latest(ctx)
	if err != nil {
		return fmt.Errorf("read the offset log: %w", err)
	}
	for _, table := range []struct {
		ref     TargetRef
		settled func(txn int64) bool
	}{
		{*old.OnError.DeadLetter, func(txn int64) bool { return txn < last }},
		{old.Target, func(txn int64) bool { return txn >= last }},
	} {
		target, err := m.cfg.Targets.Open(ctx, table.ref)
		if err != nil {
			return err
		}
		snap, err := currentSnapshot(ctx, target.Table)
		if err != nil {
			return fmt.Errorf("read %s: %w", table.ref, err)
		}
		if last < 0 || table.settled(txnOf(snap, cp.ID())) {
			return nil
		}
	}
	return &Error{Kind: KindInvalid, Stream: old.FullName(), Message: fmt.Sprintf(
		"batch %d of stream %s has its dead letters in %s and not yet its rows in %s: START STREAM %s finishes it as it began, and then it can be replaced",
		last, old.FullName(), old.OnError.DeadLetter, old.Target, old.FullName())}
}

// fitDeadLetters maps deadFields to the table's columns.
func fitDeadLetters(d *Definition, snap *delta.Snapshot) (*fitting, error) {
	f := &fitting{fields: deadFields}
	if snap == nil {
		var err error
		f.creates, f.setMetadata = true, true
		f.metadata, err = delta.NewMetadata(batch.NewSchema(deadFields...), nil, nil)
		for i := range deadFields {
			f.columns = append(f.columns, i)
		}
		return f, err
	}
	f.metadata, f.fields = snap.Metadata(), snap.Schema().Fields
	for _, field := range f.fields {
		if bound := boundOf(field); bound != "" {
			return nil, schemaError(d, "ON ERROR DEAD LETTER INTO %s: its column %s is %s, and a dead letter may not fit it. Name a table that is not there yet, and the stream makes it",
				d.OnError.DeadLetter, field.Name, bound)
		}
	}
	for _, field := range deadFields {
		at := snap.Schema().Index(field.Name)
		if at < 0 || f.fields[at].Type != field.Type {
			return nil, schemaError(d, "ON ERROR DEAD LETTER INTO %s: the table has the columns (%s) and would need (%s). Name a table that is not there yet, and the stream makes it",
				d.OnError.DeadLetter, describe(f.fields), describe(deadFields))
		}
		f.columns = append(f.columns, at)
	}
	return f, nil
}

// boundOf says what a column demands of its values, "" where it takes any.
func boundOf(f batch.Field) string {
	if !f.Nullable {
		return "NOT NULL"
	}
	if length := f.Metadata[delta.CharVarcharKey]; length != "" {
		return strings.ToUpper(strings.Trim(length, `"`))
	}
	return ""
}

// add takes what is wrong with a row: one fault at the least. More of a row of the same file and line goes on with it.
func (d *deadLetters) add(ctx context.Context, bad []source.RowError) {
	first := bad[0]
	if len(d.reason) > 0 && (first.File == "" || first.File != d.open.File || first.Line != d.open.Line) {
		d.put(ctx)
	}
	if len(d.reason) == 0 {
		d.open = first
	}
	for _, e := range bad {
		reason := e.Message
		if e.Column != "" {
			reason = e.Column + ": " + reason
		}
		d.reason = append(d.reason, reason)
	}
}

// put writes the row at hand.
func (d *deadLetters) put(ctx context.Context) {
	if len(d.reason) == 0 || d.err != nil {
		return
	}
	d.rows.Column(0).AppendBytes([]byte(d.ss.def.FullName()))
	d.rows.Column(1).AppendInt64(d.batch.id)
	d.rows.Column(2).AppendInt64(d.batch.time.UnixMicro())
	if d.open.File == "" {
		d.rows.Column(3).AppendNull()
		d.rows.Column(4).AppendNull()
	} else {
		d.rows.Column(3).AppendBytes([]byte(d.open.File))
		d.rows.Column(4).AppendInt64(d.open.Line)
	}
	d.rows.Column(5).AppendBytes([]byte(strings.Join(d.reason, "; ")))
	d.rows.Column(6).AppendBytes(bytes.ToValidUTF8(d.open.Raw, []byte("\uFFFD")))
	d.reason = nil
	d.count++
	if d.rows.Len() == batch.MaxRows || len(d.rows.Column(6).Bytes) > deadBytes {
		d.err = d.flush(ctx)
	}
}

// deadBytes of texts are written at once.
const deadBytes = 8 << 20

func (d *deadLetters) flush(ctx context.Context) error {
	if d.rows.Len() == 0 {
		return nil
	}
	if d.writer == nil {
		if d.fit.creates && d.target.Create != nil {
			if err := d.target.Create(ctx); err != nil {
				return fmt.Errorf("create the dead-letter table %s: %w", d.ss.def.OnError.DeadLetter, err)
			}
		}
		var err error
		d.writer, err = delta.NewFileWriter(d.target.Table.Store(), d.snap, d.fit.metadata, delta.FileWriterOptions{
			Evaluator: d.ss.s.m.cfg.Evaluator, Hold: d.ss.s.m.cfg.Memory.Hold,
		})
		if err != nil {
			return fmt.Errorf("write the dead-letter table %s: %w", d.ss.def.OnError.DeadLetter, err)
		}
	}
	return d.writer.Write(ctx, d.fit.whole(d.rows.Finish()))
}

// close finishes the files.
func (d *deadLetters) close(ctx context.Context) error {
	d.put(ctx)
	err := d.err
	if err == nil {
		err = d.flush(ctx)
	}
	if err == nil && d.writer != nil {
		d.files, err = d.writer.Close(ctx)
	}
	if err != nil {
		d.abort()
		return fmt.Errorf("write the dead-letter table %s: %w", d.ss.def.OnError.DeadLetter, err)
	}
	return nil
}

func (d *deadLetters) abort() {
	if d.writer != nil {
		d.writer.Abort()
	}
}

// commit appends the batch's rows, if there are any.
func (d *deadLetters) commit(ctx context.Context) error {
	if len(d.files) == 0 {
		return nil
	}
	bytes := int64(0)
	for _, f := range d.files {
		bytes += f.Size
	}
	tx := begin(d.target.Table, d.snap, d.fit, d.files, d.ss.cp.ID(), d.batch.id)
	if _, err := tx.Commit(ctx, streamingUpdate(d.ss.cp.ID(), d.batch.id, d.count, bytes, len(d.files))); err != nil {
		return fmt.Errorf("commit the rows that batch %d left out to %s: %w", d.batch.id, d.ss.def.OnError.DeadLetter, err)
	}
	return nil
}
