package delta

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
	// maxOpenPartitions bounds the files that are written at once.
	maxOpenPartitions = 64
	// maxHeldBytes bounds what they hold in memory together: beyond it the one that holds most ends its row group.
	maxHeldBytes = 256 << 20
	// leastGroupBytes is what a row group may hold however many writers there are: smaller ones make scans slow.
	leastGroupBytes = 16 << 20
	// leastHeldBytes is what they may hold however little memory there is: less would make row groups of crumbs.
	leastHeldBytes = 2 << 20
	// parallelCommits is how many files are made durable at once: that is waiting, not work.
	parallelCommits = 8
	// defaultPrefixLength is Delta's default of delta.randomPrefixLength.
	defaultPrefixLength = 2
)

// FileWriterOptions are knobs of a FileWriter; the zero value means the defaults.
type FileWriterOptions struct {
	TargetFileBytes int64     // beyond it a partition's file is closed and a new one begun; 0: the table's delta.targetFileSize, or DefaultTargetFileBytes
	Evaluator       Evaluator // of the table's rules; nil: a table that needs one is refused
	Rows            RowSource // which rules apply
	RowIDs          bool      // batches have RowIDField and RowCommitVersionField behind the table's columns, for rows that keep their ids
	Change          bool      // the files are of changes: batches end with ChangeTypeField, and no rule applies
	// Writers is how many FileWriters share the rows of a transaction out, where it Parts; together they hold what one would. 0: it is alone.
	Writers int
	// Hold is told of each change of the bytes that the writer holds in memory; tight asks it to end row groups early. nil: it is alone.
	Hold func(bytes int64) (tight bool)
}

// ChangeTypeField is the last column of change files: insert, delete, update_preimage or update_postimage.
var ChangeTypeField = batch.Field{Name: "_change_type", Type: batch.Type{Kind: batch.String}, Nullable: true}

// changeFolder is where change files lie.
const changeFolder = "_change_data/"

// FileWriter writes rows to Parquet files, one at a time for each partition, with their statistics. It belongs to one
// goroutine. Its files are in no table until a transaction adds them; a process that dies leaves them, or temporary files,
// behind for a vacuum.
//
// Values of identity columns are handed out by one FileWriter of a transaction at a time: the next one begins with the transaction's View.
type FileWriter struct {
	st         store.Store
	schema     *batch.Schema // of the batches
	columns    int           // of them the table's
	rules      *rules        // nil: none apply
	data       *batch.Schema // of the files
	dataCols   []int         // positions of the files' columns in schema
	partCols   []int         // positions of the partition columns, in their own order
	partitions []string
	stats      *statsWriter // nil: the files get none
	parquet    parquet.WriterOptions
	folder     func(partition map[string]string) string
	prefix     string // of the names of files
	suffix     string
	target     int64

	open    map[string]*openFile // by partition
	oldest  []string             // keys of open, in the order of their first row
	held    int                  // bytes that the open files hold in memory
	maxHeld int
	hold    func(bytes int64) (tight bool) // nil: nobody is told
	tight   bool                           // what it said last
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
	held      int // bytes in memory
}

// finishedFile is whole, but not visible yet.
type finishedFile struct {
	object store.Writer
	add    AddFile
}

// NewFileWriter returns a writer of files that a transaction which began with read (nil: it creates the table) will add. meta are the
// metadata that will be in force.
func NewFileWriter(st store.Store, read *Snapshot, meta *Metadata, opts FileWriterOptions) (*FileWriter, error) {
	table, err := ParseSchema(meta.SchemaString)
	if err != nil {
		return nil, err
	}
	w := &FileWriter{st: st, columns: len(table.Fields), partitions: meta.PartitionColumns, open: make(map[string]*openFile), rows: make(map[string][]int32),
		prefix: "part-", target: opts.TargetFileBytes, maxHeld: maxHeldBytes, hold: opts.Hold}
	if !opts.Change && opts.Rows != MovedRows {
		if w.rules, err = newRules(meta, table, opts.Evaluator, opts.Rows); err != nil {
			return nil, err
		}
	}
	if err := w.layOut(table, meta, opts, materializes(read, meta)); err != nil {
		return nil, fmt.Errorf("write to %s: %w", st.URI(), err)
	}
	if w.target <= 0 {
		w.target = targetFileBytes(meta)
	}
	if opts.Writers > 1 && w.Parts() {
		w.maxHeld /= opts.Writers
		w.parquet.RowGroupBytes = max(parquet.DefaultRowGroupBytes*3/4/opts.Writers, leastGroupBytes) // a quarter is for what each has besides
	}
	if w.parquet.Compression, w.suffix, err = compressionOf(meta.Configuration["delta.parquet.compression.codec"]); err != nil {
		return nil, err
	}
	w.parquet.Naming, _ = meta.naming()
	w.folder = folderOf(meta)
	if opts.Change {
		inner := w.folder
		w.folder = func(partition map[string]string) string { return changeFolder + inner(partition) }
		w.prefix = "cdc-"
	} else {
		stats := newStatsWriter(meta, w.data)
		w.stats = &stats
	}
	return w, nil
}

// layOut finds where the files' columns and the partition columns are in a batch.
func (w *FileWriter) layOut(table *batch.Schema, meta *Metadata, opts FileWriterOptions, materialize bool) error {
	for _, p := range meta.PartitionColumns {
		i := slices.Index(table.Names(), p)
		if i < 0 {
			return fmt.Errorf("%w: partition column %q is not in the schema", ErrCorrupt, p)
		}
		w.partCols = append(w.partCols, i)
	}
	for i := range table.Fields {
		if !slices.Contains(w.partCols, i) {
			w.dataCols = append(w.dataCols, i)
		}
	}
	if err := checkStorable(table.Project(w.dataCols)); err != nil {
		return err
	}
	if materialize {
		w.dataCols = append(w.dataCols, w.partCols...)
	}
	w.schema = batch.NewSchema(slices.Clip(table.Fields)...)
	extra := func(f batch.Field) {
		w.dataCols = append(w.dataCols, len(w.schema.Fields))
		w.schema.Fields = append(w.schema.Fields, f)
	}
	if opts.RowIDs {
		for _, key := range []string{rowIDColumnProperty, rowCommitVersionColumnProperty} {
			if meta.Configuration[key] == "" {
				return fmt.Errorf("the table does not track its rows: it has no property %s", key)
			}
			extra(batch.Field{Name: meta.Configuration[key], Type: RowIDField.Type, Nullable: true})
		}
	}
	if opts.Change {
		extra(ChangeTypeField)
	}
	w.data = w.schema.Project(w.dataCols)
	return nil
}

// materializes tells whether partition columns go into the files too.
func materializes(read *Snapshot, meta *Metadata) bool {
	return read != nil && read.protocol.Supports("materializePartitionColumns") || meta.on("delta.enableMaterializePartitionColumnsFeature")
}

func targetFileBytes(meta *Metadata) int64 {
	if n, ok := parseSize(meta.Configuration["delta.targetFileSize"]); ok {
		return n
	}
	return DefaultTargetFileBytes
}

// folderOf tells the folder of a partition's files. Under column mapping it is a random one, as in Spark: the names that people see may
// change, and physical names are no use to them.
func folderOf(meta *Metadata) func(partition map[string]string) string {
	if meta.Mapping() == "" && !meta.on("delta.randomizeFilePrefixes") {
		return func(partition map[string]string) string { return partitionFolder(meta.PartitionColumns, partition) }
	}
	length := max(1, meta.count("delta.randomPrefixLength", defaultPrefixLength))
	return func(map[string]string) string {
		text := rand.Text()
		return text[:min(length, len(text))] + "/"
	}
}

// checkStorable refuses columns that no Parquet file can have: void ones are left out of files, and something must remain.
func checkStorable(data *batch.Schema) error {
	if !slices.ContainsFunc(data.Fields, func(f batch.Field) bool { return f.Type.Kind != batch.Void }) {
		return errors.New("all of the columns that files would have are void; add a column of another type")
	}
	var check func(path string, t batch.Type) error
	check = func(path string, t batch.Type) error {
		fields := t.Fields()
		void := func(f batch.Field) bool { return f.Type.Kind == batch.Void }
		switch {
		case t.Kind == batch.Struct && !slices.ContainsFunc(fields, func(f batch.Field) bool { return !void(f) }):
			return fmt.Errorf("column %s is a struct of void fields, which Parquet cannot store", path)
		case t.Kind != batch.Struct && slices.ContainsFunc(fields, void):
			return fmt.Errorf("column %s is %s: void cannot be stored within it", path, t)
		}
		for _, f := range fields {
			if err := check(joinPath(path, f.Name), f.Type); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range data.Fields {
		if err := check(f.Name, f.Type); err != nil {
			return err
		}
	}
	return nil
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

// Write adds rows. The batch has the table's columns in schema order, and those that the options add; its memory is not kept. A column that
// is nil is not given: it gets its default, its generated or identity value, or null. After an error the writer can only be aborted.
func (w *FileWriter) Write(ctx context.Context, b *batch.Batch) error {
	b, err := w.Complete(ctx, b)
	if err != nil {
		return err
	}
	return w.WriteComplete(ctx, b)
}

// Complete returns what Write would add: the rows with all of their columns, after the table's rules were applied.
func (w *FileWriter) Complete(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	b, err := w.accept(b)
	if err != nil || b.Rows() == 0 {
		return b, err
	}
	return w.applyRules(ctx, b)
}

// WriteComplete adds rows that Complete returned.
func (w *FileWriter) WriteComplete(ctx context.Context, b *batch.Batch) error {
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
		if err := checkText(b, values[i], w.partitions[i]); err != nil {
			return err
		}
	}
	for _, key := range w.group(b, values) {
		data.Sel = w.rows[key]
		if err := w.append(ctx, key, data, values); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses partition values that no log can hold.
func checkText(b *batch.Batch, v *batch.Vector, column string) error {
	if v.Type.Kind != batch.String {
		return nil
	}
	for i := range b.Rows() {
		if row := b.Row(i); !v.IsNull(row) && !utf8.Valid(v.BytesAt(row)) {
			return fmt.Errorf("value %.100q of partition column %s is not UTF-8", v.BytesAt(row), column)
		}
	}
	return nil
}

// accept compares the batch with the schema, and returns it with the schema's very types.
func (w *FileWriter) accept(b *batch.Batch) (*batch.Batch, error) {
	if len(b.Cols) != len(w.schema.Fields) {
		return nil, fmt.Errorf("write to %s: %d columns for the %d of its schema", w.st.URI(), len(b.Cols), len(w.schema.Fields))
	}
	out := &batch.Batch{Schema: w.schema, Cols: make([]*batch.Vector, len(b.Cols)), Len: b.Len, Sel: b.Sel}
	for i, f := range w.schema.Fields {
		v := b.Cols[i]
		if v == nil {
			if w.rules == nil || i >= w.columns {
				return nil, fmt.Errorf("write to %s: column %s is not given", w.st.URI(), f.Name)
			}
			continue
		}
		var ok bool
		if out.Cols[i], ok = conform(v, f.Type); !ok {
			return nil, fmt.Errorf("write to %s: column %s is %s, not %s", w.st.URI(), f.Name, v.Type, f.Type)
		}
	}
	return out, nil
}

// conform returns the vector as one of a type that differs at the most in names of fields, metadata and nullability within it.
func conform(v *batch.Vector, t batch.Type) (*batch.Vector, bool) {
	if v.Type == t {
		return v, true
	}
	fields := t.Fields()
	if v.Type.Kind != t.Kind || fields == nil || len(fields) != len(v.Children) {
		return nil, false
	}
	out := *v
	out.Type, out.Children = t, make([]*batch.Vector, len(fields))
	for i, f := range fields {
		var ok bool
		if out.Children[i], ok = conform(v.Children[i], f.Type); !ok {
			return nil, false
		}
	}
	return &out, true
}

// Parts tells whether several FileWriters may share the rows of one transaction out: where there are partitions, each would begin files in all of them, and values of
// identity columns are handed out by one.
func (w *FileWriter) Parts() bool {
	return len(w.partCols) == 0 && (w.rules == nil || len(w.rules.identity) == 0)
}

// Checks tells whether the table has conditions that a row may not meet.
func (w *FileWriter) Checks() bool { return w.rules != nil && len(w.rules.checks.exprs) > 0 }

// FirstIdentity is the first value of an identity column that was made for the rows; false: none was.
func (w *FileWriter) FirstIdentity() (int64, bool) {
	if w.rules == nil {
		return 0, false
	}
	for _, id := range w.rules.identity {
		if id.advanced {
			return id.first, true
		}
	}
	return 0, false
}

// applyRules applies the table's rules to the table's columns. An error of a rule is about the rows, and says nothing of files.
func (w *FileWriter) applyRules(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	if w.rules == nil {
		return b, nil
	}
	own := &batch.Batch{Schema: w.rules.schema, Cols: b.Cols[:w.columns], Len: b.Len, Sel: b.Sel}
	out, err := w.rules.apply(ctx, own)
	if errors.Is(err, ErrConstraint) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("write to %s: %w", w.st.URI(), err)
	}
	out.Schema, out.Cols = w.schema, append(out.Cols, b.Cols[w.columns:]...)
	return out, nil
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
	w.weigh(f)
	if f.parquet.Size() >= w.target {
		return w.finish(key)
	}
	if w.tight && w.held > leastHeldBytes {
		if err := w.lighten(); err != nil {
			return err
		}
	}
	for w.held > w.maxHeld {
		if err := w.lighten(); err != nil {
			return err
		}
	}
	return nil
}

// weigh counts what a file holds.
func (w *FileWriter) weigh(f *openFile) {
	before := f.held
	f.held = f.parquet.Buffered()
	w.holds(f.held - before)
}

// holds counts bytes that are held in memory, or with a negative number are not any more.
func (w *FileWriter) holds(bytes int) {
	w.held += bytes
	if w.hold != nil && bytes != 0 {
		w.tight = w.hold(int64(bytes))
	}
}

// lighten ends the row group of the file that holds most.
func (w *FileWriter) lighten() error {
	var most *openFile
	for _, f := range w.open {
		if most == nil || f.held > most.held {
			most = f
		}
	}
	if err := most.parquet.EndRowGroup(); err != nil {
		return fmt.Errorf("write %s of %s: %w", most.key, w.st.URI(), err)
	}
	w.weigh(most)
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
	f.key = fmt.Sprintf("%s%s%05d-%s-c000%s", w.folder(partition), w.prefix, w.numbers, uuid.NewString(), w.suffix)
	w.numbers++
	var err error
	if f.object, err = w.st.Create(ctx, f.key); err != nil {
		return nil, fmt.Errorf("create %s of %s: %w", f.key, w.st.URI(), err)
	}
	w.open[key] = f
	w.oldest = append(w.oldest, key)
	if f.parquet, err = parquet.NewWriter(f.object, w.data, w.parquet); err != nil {
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
	w.holds(-f.held)
	w.oldest = slices.DeleteFunc(w.oldest, func(k string) bool { return k == key })
	add := AddFile{Path: f.key, PartitionValues: f.partition, Size: summary.Bytes, ModTime: time.Now().UTC().Truncate(time.Millisecond), NumRecords: summary.Rows}
	if w.stats != nil {
		add.Stats = w.stats.format(summary)
	}
	w.done = append(w.done, finishedFile{f.object, add})
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
		if w.rules != nil {
			adds[i].identity = w.rules.identityMarks()
		}
		commits.Go(func() error { return commitNew(groupCtx, w.st, f.object, f.add.Path, f.add.Size) })
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
	w.holds(-w.held)
	w.oldest, w.done = nil, nil
	return first
}
