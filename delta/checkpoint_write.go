package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"lakesql/batch"
	"lakesql/store"
)

// sidecarActions is how many actions a sidecar holds: as many as Spark puts into one.
const sidecarActions = 50_000

// checkpointing writes a checkpoint: protocol, metaData, every txn and domain, the live files, and the tombstones that have not expired.
type checkpointing struct {
	st         store.Store
	s          *Snapshot
	tombstones *tombstoneSet
	add        []batch.Field  // of an add in this table's checkpoints
	statsText  bool           // add has the statistics as JSON
	parsed     *parsedColumns // add has the statistics and the partition values as structs; nil: it has not
	partitions []string       // the partition columns, as partition values call them
}

// writeCheckpoint writes a checkpoint of a snapshot, then the hint that names it. A process that dies in between leaves a checkpoint
// that listings find. now is what tombstones expire by.
func writeCheckpoint(ctx context.Context, st store.Store, s *Snapshot, now time.Time) error {
	c := &checkpointing{st: st, s: s, tombstones: s.files.tombstones.since(s.tombstonesSince(now)), partitions: s.metadata.storedPartitions()}
	c.add = slices.Clone(addFields)
	if c.statsText = !s.metadata.off("delta.checkpoint.writeStatsAsJson"); c.statsText {
		c.add = append(c.add, nullable("stats", textType))
	}
	if !s.metadata.off("delta.checkpoint.writeStatsAsStruct") {
		c.parsed = newParsedColumns(s)
		c.add = append(c.add, c.parsed.columns()...)
	}
	write := c.classic
	if writesV2Checkpoints(s) {
		write = c.v2
	}
	hint, err := write(ctx)
	if err != nil {
		return err
	}
	return writeLastCheckpoint(ctx, st, hint)
}

// writesV2Checkpoints tells whether the table wants V2 checkpoints, and its protocol lets them be.
func writesV2Checkpoints(s *Snapshot) bool {
	return s.metadata.Configuration["delta.checkpointPolicy"] == "v2" && s.protocol.Supports("v2Checkpoint")
}

// classic writes one file. Whoever else writes that of this version writes the same.
func (c *checkpointing) classic(ctx context.Context) (hint lastCheckpointJSON, err error) {
	f, err := createActionFile(ctx, c.st, checkpointKey(c.s.Version()), classicSchema(c.add))
	if err != nil {
		return lastCheckpointJSON{}, err
	}
	defer func() { err = errors.Join(err, f.abort()) }()
	c.state(f)
	if err := c.files(ctx, func() (*actionFile, error) { return f, f.err }); err != nil {
		return lastCheckpointJSON{}, err
	}
	size, err := f.close(ctx, false)
	return c.hint(f.schema, f.rows, size), err
}

// v2 writes the file actions to sidecars, then a file that names them and has everything else. Nobody writes the same names.
func (c *checkpointing) v2(ctx context.Context) (hint lastCheckpointJSON, err error) {
	sidecars := &sidecarWriter{c: c, schema: sidecarSchema(c.add)}
	defer func() { err = errors.Join(err, sidecars.abort()) }()
	err = c.files(ctx, func() (*actionFile, error) { return sidecars.next(ctx) })
	if err == nil {
		err = sidecars.close(ctx)
	}
	if err != nil {
		return lastCheckpointJSON{}, err
	}
	top := v2Top{metadata: checkpointMetadata{c.s.Version(), sidecars.tags(c.s.NumFiles())}, sidecars: sidecars.done}
	name := fmt.Sprintf("%020d.checkpoint.%s.parquet", c.s.Version(), uuid.NewString())
	f, size, err := c.writeTop(ctx, logFolder+name, top)
	if err != nil {
		return lastCheckpointJSON{}, err
	}
	hint = c.hint(f.schema, f.rows+sidecars.actions, size+sidecars.bytes)
	hint.V2Checkpoint = c.v2Hint(name, size, top)
	return hint, nil
}

func (c *checkpointing) writeTop(ctx context.Context, key string, top v2Top) (*actionFile, int64, error) {
	f, err := createActionFile(ctx, c.st, key, topSchema(c.add))
	if err != nil {
		return nil, 0, err
	}
	top.metadata.write(f)
	for _, s := range top.sidecars {
		s.write(f)
	}
	c.state(f)
	size, err := f.close(ctx, true)
	return f, size, err
}

func (c *checkpointing) hint(schema *batch.Schema, actions, size int64) lastCheckpointJSON {
	return lastCheckpointJSON{Version: c.s.Version(), Size: actions, SizeInBytes: size, NumOfAddFiles: int64(c.s.NumFiles()),
		CheckpointSchema: hintSchema(schema)}
}

// state writes the actions that are not about files.
func (c *checkpointing) state(f *actionFile) {
	writeProtocol(f, c.s.protocol)
	writeMetadata(f, c.s.metadata)
	txns := c.s.txns.all()
	for _, app := range sortedKeys(txns) {
		writeTxn(f, txnAction{app, txns[app]})
	}
	for _, domain := range sortedKeys(c.s.domains) {
		writeDomain(f, domain, c.s.domains[domain])
	}
}

// files writes the live files, then the tombstones, each to what file returns.
func (c *checkpointing) files(ctx context.Context, file func() (*actionFile, error)) error {
	reader := statsReader{blocks: c.s.files.stats}
	for chunk, i := range c.s.files.all() {
		c.tombstones.drop(chunk.path[i], chunk.extra[i].dvID())
		f, err := file()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		c.writeAdd(f, chunk, i, reader.at(chunk.stats[i]))
	}
	for t := range c.tombstones.each() {
		f, err := file()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		c.writeRemove(f, t)
	}
	return nil
}

func (c *checkpointing) writeAdd(f *actionFile, chunk *fileChunk, i int, stats []byte) {
	x := chunk.extra[i]
	if x == nil {
		x = &noExtra
	}
	w := f.row("add")
	w.text(encodePath(chunk.path[i]))
	w.partition(c.partitions, chunk.partition[i])
	w.int(chunk.size[i])
	w.int(chunk.modTime[i])
	w.bool(false)
	w.textMapOr(x.tags)
	w.deletionVector(x.dv)
	intOr(&w, x.baseRowID)
	intOr(&w, x.defaultRowCommitVersion)
	w.orNull(x.clusteringProvider)
	if c.statsText {
		w.bytesOrNull(stats)
	}
	if c.parsed != nil {
		if c.parsed.partitions != nil {
			c.parsed.appendPartitions(w.field(), chunk.partition[i])
		}
		c.parsed.appendStats(w.field(), stats)
	}
	w.end()
}

func (c *checkpointing) writeRemove(f *actionFile, t *tombstone) {
	x := t.extra
	if x == nil {
		x = &noExtra
	}
	w := f.row("remove")
	w.text(encodePath(t.path))
	w.int(t.deletionTimestamp)
	w.bool(false)
	w.bool(t.extended)
	if t.extended {
		w.partition(c.partitions, t.partition)
		w.int(t.size)
	} else {
		w.null()
		w.null()
	}
	w.deletionVector(x.dv)
	intOr(&w, x.baseRowID)
	intOr(&w, x.defaultRowCommitVersion)
	w.end()
}

var noExtra fileExtra

func writeProtocol(f *actionFile, p *Protocol) {
	in := p.json() // which knows when the lists are null
	w := f.row("protocol")
	w.int(int64(in.MinReaderVersion))
	w.int(int64(in.MinWriterVersion))
	w.listOr(in.ReaderFeatures)
	w.listOr(in.WriterFeatures)
	w.end()
}

func writeMetadata(f *actionFile, m *Metadata) {
	in := m.json()
	w := f.row("metaData")
	w.text(in.ID)
	w.orNull(in.Name)
	w.orNull(in.Description)
	format := rowWriter{row: w.field()}
	format.text(in.Format.Provider)
	format.textMap(in.Format.Options)
	format.end()
	w.text(in.SchemaString)
	w.list(in.PartitionColumns)
	w.textMap(in.Configuration)
	intOr(&w, in.CreatedTime)
	w.end()
}

func writeTxn(f *actionFile, t txnAction) {
	w := f.row("txn")
	w.text(t.appID)
	w.int(t.version)
	if t.lastUpdated != 0 {
		w.int(t.lastUpdated)
	} else {
		w.null()
	}
	w.end()
}

func writeDomain(f *actionFile, domain, configuration string) {
	w := f.row("domainMetadata")
	w.text(domain)
	w.text(configuration)
	w.bool(false)
	w.end()
}
