package delta

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"
)

// The rows of a classic checkpoint, with the columns, order and nullability that Spark writes. Pointers are for values
// whose zero is not null.
type checkpointRow struct {
	Txn            *txnRow      `parquet:"txn,optional"`
	Add            *addRow      `parquet:"add,optional"`
	Remove         *removeRow   `parquet:"remove,optional"`
	MetaData       *metadataRow `parquet:"metaData,optional"`
	Protocol       *protocolRow `parquet:"protocol,optional"`
	DomainMetadata *domainRow   `parquet:"domainMetadata,optional"`
}

type txnRow struct {
	AppID       *string `parquet:"appId,optional"`
	Version     *int64  `parquet:"version,optional"`
	LastUpdated *int64  `parquet:"lastUpdated,optional"`
}

type addRow struct {
	Path                    *string            `parquet:"path,optional"`
	PartitionValues         map[string]*string `parquet:"partitionValues,optional"`
	Size                    *int64             `parquet:"size,optional"`
	ModificationTime        *int64             `parquet:"modificationTime,optional"`
	DataChange              *bool              `parquet:"dataChange,optional"`
	Tags                    map[string]*string `parquet:"tags,optional"`
	DeletionVector          *deletionVectorRow `parquet:"deletionVector,optional"`
	BaseRowID               *int64             `parquet:"baseRowId,optional"`
	DefaultRowCommitVersion *int64             `parquet:"defaultRowCommitVersion,optional"`
	ClusteringProvider      *string            `parquet:"clusteringProvider,optional"`
	Stats                   *string            `parquet:"stats,optional"`
}

type deletionVectorRow struct {
	StorageType    *string `parquet:"storageType,optional"`
	PathOrInlineDv *string `parquet:"pathOrInlineDv,optional"`
	Offset         *int32  `parquet:"offset,optional"`
	SizeInBytes    *int32  `parquet:"sizeInBytes,optional"`
	Cardinality    *int64  `parquet:"cardinality,optional"`
}

type removeRow struct {
	Path                    *string            `parquet:"path,optional"`
	DeletionTimestamp       *int64             `parquet:"deletionTimestamp,optional"`
	DataChange              *bool              `parquet:"dataChange,optional"`
	ExtendedFileMetadata    *bool              `parquet:"extendedFileMetadata,optional"`
	PartitionValues         map[string]*string `parquet:"partitionValues,optional"`
	Size                    *int64             `parquet:"size,optional"`
	DeletionVector          *deletionVectorRow `parquet:"deletionVector,optional"`
	BaseRowID               *int64             `parquet:"baseRowId,optional"`
	DefaultRowCommitVersion *int64             `parquet:"defaultRowCommitVersion,optional"`
}

type metadataRow struct {
	ID               *string            `parquet:"id,optional"`
	Name             *string            `parquet:"name,optional"`
	Description      *string            `parquet:"description,optional"`
	Format           *formatRow         `parquet:"format,optional"`
	SchemaString     *string            `parquet:"schemaString,optional"`
	PartitionColumns []string           `parquet:"partitionColumns,list,optional" parquet-element:",optional"`
	Configuration    map[string]*string `parquet:"configuration,optional"`
	CreatedTime      *int64             `parquet:"createdTime,optional"`
}

type formatRow struct {
	Provider *string            `parquet:"provider,optional"`
	Options  map[string]*string `parquet:"options,optional"`
}

type protocolRow struct {
	MinReaderVersion *int32   `parquet:"minReaderVersion,optional"`
	MinWriterVersion *int32   `parquet:"minWriterVersion,optional"`
	ReaderFeatures   []string `parquet:"readerFeatures,list,optional" parquet-element:",optional"`
	WriterFeatures   []string `parquet:"writerFeatures,list,optional" parquet-element:",optional"`
}

type domainRow struct {
	Domain        *string `parquet:"domain,optional"`
	Configuration *string `parquet:"configuration,optional"`
	Removed       *bool   `parquet:"removed,optional"`
}

const (
	checkpointBatchRows    = 1024    // rows handed to the Parquet writer at once
	checkpointRowGroupRows = 1 << 17 // bounds the memory of writing
)

// checkpointEncoder writes rows in batches and counts them.
type checkpointEncoder struct {
	parquet *parquet.GenericWriter[checkpointRow]
	rows    []checkpointRow
	actions int64
	columns []string // partition columns
	empty   map[string]*string
}

// encodeCheckpoint writes the state of a snapshot: protocol, metaData, every txn and domain, the live files, and the
// tombstones that have not expired. It returns the number of actions.
func encodeCheckpoint(ctx context.Context, w io.Writer, s *Snapshot, now time.Time) (actions int64, err error) {
	e := &checkpointEncoder{columns: s.metadata.PartitionColumns, empty: map[string]*string{}, parquet: parquet.NewGenericWriter[checkpointRow](w,
		parquet.NewSchema("spark_schema", parquet.SchemaOf(checkpointRow{})), parquet.Compression(&parquet.Snappy), parquet.DataPageVersion(1), parquet.MaxRowsPerRowGroup(checkpointRowGroupRows),
		parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.Plain), parquet.CreatedBy("lakesql", engineInfo(), ""))}
	if err := e.state(ctx, s); err != nil {
		return 0, err
	}
	tombstones := make(map[[2]string]tombstone)
	for _, t := range liveTombstones(s.files.tombstones, s.tombstonesSince(now)) {
		tombstones[[2]string{t.path, t.extra.dvID()}] = t
	}
	reader := statsReader{blocks: s.files.stats}
	for c, i := range s.files.all() {
		if len(tombstones) > 0 { // the file was removed once and added again
			delete(tombstones, [2]string{c.path[i], c.extra[i].dvID()})
		}
		if err := e.put(ctx, checkpointRow{Add: e.add(c, i, reader.at(c.stats[i]))}); err != nil {
			return 0, err
		}
	}
	for _, t := range tombstones {
		if err := e.put(ctx, checkpointRow{Remove: e.remove(t)}); err != nil {
			return 0, err
		}
	}
	if err := e.flush(ctx); err != nil {
		return 0, err
	}
	if err := e.parquet.Close(); err != nil {
		return 0, fmt.Errorf("end of the checkpoint: %w", err)
	}
	return e.actions, nil
}

// state writes the actions that are not about files.
func (e *checkpointEncoder) state(ctx context.Context, s *Snapshot) error {
	protocol := s.protocol.json()
	row := &protocolRow{MinReaderVersion: ptr(int32(protocol.MinReaderVersion)), MinWriterVersion: ptr(int32(protocol.MinWriterVersion))}
	if protocol.ReaderFeatures != nil {
		row.ReaderFeatures = *protocol.ReaderFeatures
	}
	if protocol.WriterFeatures != nil {
		row.WriterFeatures = *protocol.WriterFeatures
	}
	m := s.metadata.json()
	rows := []checkpointRow{{Protocol: row}, {MetaData: &metadataRow{ID: &m.ID, Name: orNull(m.Name), Description: orNull(m.Description),
		Format: &formatRow{&m.Format.Provider, map[string]*string{}}, SchemaString: &m.SchemaString, PartitionColumns: m.PartitionColumns,
		Configuration: pointers(m.Configuration), CreatedTime: m.CreatedTime}}}
	txns := s.txns.all()
	for _, app := range sortedKeys(txns) {
		t := &txnRow{AppID: &app, Version: ptr(txns[app].version)}
		if updated := txns[app].lastUpdated; updated != 0 {
			t.LastUpdated = &updated
		}
		rows = append(rows, checkpointRow{Txn: t})
	}
	for _, domain := range sortedKeys(s.domains) {
		rows = append(rows, checkpointRow{DomainMetadata: &domainRow{&domain, ptr(s.domains[domain]), ptr(false)}})
	}
	for _, row := range rows {
		if err := e.put(ctx, row); err != nil {
			return err
		}
	}
	return nil
}

func (e *checkpointEncoder) add(c *fileChunk, i int, stats []byte) *addRow {
	row := &addRow{Path: ptr(encodePath(c.path[i])), PartitionValues: e.partition(c.partition[i]), Size: &c.size[i],
		ModificationTime: &c.modTime[i], DataChange: ptr(false)}
	if stats != nil {
		row.Stats = ptr(string(stats))
	}
	if x := c.extra[i]; x != nil {
		row.Tags, row.DeletionVector, row.BaseRowID = pointers(x.tags), x.dv.row(), x.baseRowID
		row.DefaultRowCommitVersion, row.ClusteringProvider = x.defaultRowCommitVersion, orNull(x.clusteringProvider)
	}
	return row
}

func (e *checkpointEncoder) remove(t tombstone) *removeRow {
	row := &removeRow{Path: ptr(encodePath(t.path)), DeletionTimestamp: &t.deletionTimestamp, DataChange: ptr(false), ExtendedFileMetadata: &t.extended}
	if t.extended {
		row.PartitionValues, row.Size = e.partition(t.partition), &t.size
	}
	if t.extra != nil {
		row.DeletionVector, row.BaseRowID, row.DefaultRowCommitVersion = t.extra.dv.row(), t.extra.baseRowID, t.extra.defaultRowCommitVersion
	}
	return row
}

// partition has an entry for every partition column, as Spark writes it.
func (e *checkpointEncoder) partition(values map[string]string) map[string]*string {
	if len(e.columns) == 0 {
		return e.empty
	}
	out := make(map[string]*string, len(e.columns))
	for _, c := range e.columns {
		out[c] = orNull(values[c])
	}
	return out
}

func (d *deletionVector) row() *deletionVectorRow {
	if d == nil {
		return nil
	}
	return &deletionVectorRow{&d.storageType, &d.pathOrInlineDv, d.offset, &d.sizeInBytes, &d.cardinality}
}

func (e *checkpointEncoder) put(ctx context.Context, row checkpointRow) error {
	e.rows = append(e.rows, row)
	e.actions++
	if len(e.rows) < checkpointBatchRows {
		return nil
	}
	return e.flush(ctx)
}

func (e *checkpointEncoder) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := e.parquet.Write(e.rows)
	e.rows = e.rows[:0]
	return err
}

func ptr[T any](v T) *T { return &v }

// orNull is nil for the empty string.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func pointers(m map[string]string) map[string]*string {
	if m == nil {
		return nil
	}
	out := make(map[string]*string, len(m))
	for k, v := range m {
		out[k] = &v
	}
	return out
}
