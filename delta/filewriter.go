package delta

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/store"
)

// Defaults of a FileWriter.
const (
	// DefaultTargetFileBytes keeps files large enough for scans and small enough to be rewritten.
	DefaultTargetFileBytes = 256 << 20
	// maxOpenPartitions bounds the files that are written at once, each of which holds a row group in memory.
	maxOpenPartitions = 64
	// parallelCommits is how many files are made durable at once: that is waiting, not work.
	parallelCommits = 8
)

// FileWriterOptions are knobs of a FileWriter; the zero value means the defaults.
type FileWriterOptions struct {
	TargetFileBytes int64 // beyond it a partition's file is closed and a new one begun; 0: DefaultTargetFileBytes
}

// FileWriter writes rows to Parquet files, one at a time for each partition, with their statistics. It belongs to one
// goroutine. Its files are in no table until a transaction adds them; a process that dies leaves them, or temporary files,
// behind for a vacuum.
type FileWriter struct {
	st         store.Store
	schema     *batch.Schema // the table's
	data       *batch.Schema // of the files: without partition columns
	dataCols   []int         // positions of the files' columns in schema
	partCols   []int         // positions of the partition columns, in their own order
	partitions []string
	stats      statsOptions
	codec      parquet.Compression
	suffix     string
	target     int64

	open    map[string]*openFile // by partition
	oldest  []string             // keys of open, in the order of their first row
	done    []finishedFile
	numbers int
	rows    map[string][]int32 // scratch: rows of a batch by partition
}

// openFile is a file that rows are added to.
type openFile struct {
	key       string
	partition map[string]string
	object    store.Writer
	parquet   *parquet.Writer
	bytes     int64 // that have been handed to object
}

// Write passes on what the Parquet writer writes.
func (f *openFile) Write(p []byte) (int, error) {
	n, err := f.object.Write(p)
	f.bytes += int64(n)
	return n, err
}

// finishedFile is whole, but not visible yet.
type finishedFile struct {
	object store.Writer
	add    AddFile
}

// NewFileWriter returns a writer of files that a transaction which began with read (nil: it creates the table) will add. meta are the
// metadata that will be in force.
func NewFileWriter(st store.Store, read *Snapshot, meta *Metadata, opts FileWriterOptions) (*FileWriter, error) {
	schema, err := ParseSchema(meta.SchemaString)
	if err != nil {
		return nil, err
	}
	w := &FileWriter{st: st, schema: schema, partitions: meta.PartitionColumns, open: make(map[string]*openFile), target: opts.TargetFileBytes,
		rows: make(map[string][]int32)}
	if w.target <= 0 {
		w.target = DefaultTargetFileBytes
	}
	if w.codec, w.suffix, err = compressionOf(meta.Configuration["delta.parquet.compression.codec"]); err != nil {
		return nil, err
	}
	for _, p := range meta.PartitionColumns {
		i := slices.Index(schema.Names(), p)
		if i < 0 {
			return nil, fmt.Errorf("%w: partition column %q of %s is not in the schema", ErrCorrupt, p, st.URI())
		}
		w.partCols = append(w.partCols, i)
	}
	for i := range schema.Fields {
		if !slices.Contains(w.partCols, i) {
			w.dataCols = append(w.dataCols, i)
		}
	}
	w.data = schema.Project(w.dataCols)
	w.stats = newStatsOptions(meta, w.data)
	return w, nil
}

// compressionOf reads the name of a codec as Spark has it; "" is snappy. suffix is what file names end in.
func compressionOf(name string) (c parquet.Compression, suffix string, err error) {
	switch strings.ToLower(name) {
	case "", "snappy":
		return parquet.Snappy, ".snappy.parquet", nil
	case "zstd":
		return parquet.Zstd, ".zstd.parquet", nil
	case "gzip":
		return parquet.Gzip, ".gz.parquet", nil
	case "lz4_raw", "lz4raw":
		return parquet.LZ4Raw, ".lz4raw.parquet", nil
	case "none", "uncompressed":
		return parquet.Uncompressed, ".parquet", nil
	}
	return 0, "", fmt.Errorf("compression codec %q is not supported for writing; use snappy, zstd, gzip, lz4_raw or uncompressed", name)
}

// Write adds rows. The batch has the table's columns in schema order; its memory is not kept. After an error the writer
// can only be aborted.
func (w *FileWriter) Write(ctx context.Context, b *batch.Batch) error {
	if err := w.check(b); err != nil {
		return err
	}
	if b.Rows() == 0 {
		return nil
	}
	data := &batch.Batch{Schema: w.data, Cols: make([]*batch.Vector, len(w.dataCols)), Len: b.Len, Sel: b.Sel}
	for i, c := range w.dataCols {
		data.Cols[i] = b.Cols[c]
	}
	if len(w.partCols) == 0 {
		return w.append(ctx, "", data, nil)
	}
	values := make([]*batch.Vector, len(w.partCols))
	for i, c := range w.partCols {
		values[i] = b.Cols[c].Decode()
	}
	for _, key := range w.group(b, values) {
		data.Sel = w.rows[key]
		if err := w.append(ctx, key, data, values); err != nil {
			return err
		}
	}
	return nil
}

// check compares the batch with the schema and enforces NOT NULL.
func (w *FileWriter) check(b *batch.Batch) error {
	if len(b.Cols) != len(w.schema.Fields) {
		return fmt.Errorf("write to %s: %d columns for the %d of its schema", w.st.URI(), len(b.Cols), len(w.schema.Fields))
	}
	for i, f := range w.schema.Fields {
		v := b.Cols[i]
		if v.Type != f.Type {
			return fmt.Errorf("write to %s: column %s is %s, not %s", w.st.URI(), f.Name, f.Type, v.Type)
		}
		if f.Nullable || v.Valid == nil {
			continue
		}
		for row := range b.Rows() {
			if v.IsNull(b.Row(row)) {
				return fmt.Errorf("%w: [DELTA_NOT_NULL_CONSTRAINT_VIOLATED] NOT NULL constraint violated for column: %s", ErrConstraint, f.Name)
			}
		}
	}
	return nil
}

// group sorts the selected rows by partition into w.rows and returns the keys in the order of their first row.
func (w *FileWriter) group(b *batch.Batch, values []*batch.Vector) []string {
	clear(w.rows)
	var keys []string
	var key []byte
	for i := range b.Rows() {
		row := b.Row(i)
		key = key[:0]
		for _, v := range values {
			text, ok := formatPartitionValue(v, row)
			if ok {
				key = append(append(key, 1), text...)
			}
			key = append(key, 0)
		}
		rows, ok := w.rows[string(key)]
		if !ok {
			keys = append(keys, string(key))
		}
		w.rows[string(key)] = append(rows, int32(row))
	}
	return keys
}

// partition is the partition values of a row, without nulls.
func (w *FileWriter) partition(values []*batch.Vector, row int) map[string]string {
	out := make(map[string]string, len(values))
	for i, v := range values {
		if text, ok := formatPartitionValue(v, row); ok {
			out[w.partitions[i]] = text
		}
	}
	return out
}

// append adds rows of one partition, which values has at each of them, to its file.
func (w *FileWriter) append(ctx context.Context, key string, data *batch.Batch, values []*batch.Vector) error {
	f := w.open[key]
	if f == nil {
		var err error
		if f, err = w.begin(ctx, key, w.partition(values, data.Row(0))); err != nil {
			return err
		}
	}
	if err := f.parquet.Write(data); err != nil {
		return fmt.Errorf("write %s of %s: %w", f.key, w.st.URI(), err)
	}
	if f.bytes >= w.target {
		return w.finish(key)
	}
	return nil
}

// begin opens a file for a partition.
func (w *FileWriter) begin(ctx context.Context, key string, partition map[string]string) (*openFile, error) {
	if len(w.open) >= maxOpenPartitions {
		if err := w.finish(w.oldest[0]); err != nil {
			return nil, err
		}
	}
	f := &openFile{partition: partition}
	f.key = fmt.Sprintf("%spart-%05d-%s-c000%s", partitionFolder(w.partitions, partition), w.numbers, uuid.NewString(), w.suffix)
	w.numbers++
	var err error
	if f.object, err = w.st.Create(ctx, f.key); err != nil {
		return nil, fmt.Errorf("create %s of %s: %w", f.key, w.st.URI(), err)
	}
	w.open[key] = f
	w.oldest = append(w.oldest, key)
	if f.parquet, err = parquet.NewWriter(f, w.data, parquet.WriterOptions{Compression: w.codec}); err != nil {
		return nil, fmt.Errorf("create %s of %s: %w", f.key, w.st.URI(), err)
	}
	return f, nil
}

// finish writes the end of a partition's file.
func (w *FileWriter) finish(key string) error {
	f := w.open[key]
	summary, err := f.parquet.Close()
	if err != nil {
		return fmt.Errorf("write %s of %s: %w", f.key, w.st.URI(), err)
	}
	delete(w.open, key)
	w.oldest = slices.DeleteFunc(w.oldest, func(k string) bool { return k == key })
	w.done = append(w.done, finishedFile{f.object, AddFile{Path: f.key, PartitionValues: f.partition, Size: summary.Bytes,
		ModTime: time.Now().UTC().Truncate(time.Millisecond), NumRecords: summary.Rows, Stats: w.stats.format(w.data, summary)}})
	return nil
}

// Close makes the files durable and returns them in the order in which they were begun. Without a row there is no file.
// After an error, Abort drops what is not durable yet.
func (w *FileWriter) Close(ctx context.Context) ([]AddFile, error) {
	for len(w.oldest) > 0 {
		if err := w.finish(w.oldest[0]); err != nil {
			return nil, err
		}
	}
	commits, groupCtx := errgroup.WithContext(ctx)
	commits.SetLimit(parallelCommits)
	adds := make([]AddFile, len(w.done))
	for i, f := range w.done {
		adds[i] = f.add
		commits.Go(func() error {
			err := f.object.Commit(groupCtx, true)
			if errors.Is(err, store.ErrAmbiguous) { // the name is ours alone: if it is there, it is this file
				if info, statErr := w.st.Stat(groupCtx, f.add.Path); statErr == nil && info.Size == f.add.Size {
					err = nil
				}
			}
			if err != nil {
				return fmt.Errorf("write %s of %s: %w", f.add.Path, w.st.URI(), err)
			}
			return nil
		})
	}
	w.done = nil
	if err := commits.Wait(); err != nil {
		return nil, err
	}
	return adds, nil
}

// Abort drops what is not durable. After Close it does nothing.
func (w *FileWriter) Abort() error {
	var first error
	drop := func(object store.Writer) {
		if err := object.Abort(); err != nil && first == nil {
			first = fmt.Errorf("drop an unfinished file of %s: %w", w.st.URI(), err)
		}
	}
	for _, f := range w.open {
		drop(f.object)
	}
	for _, f := range w.done {
		drop(f.object)
	}
	clear(w.open)
	w.oldest, w.done = nil, nil
	return first
}
