package delta

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/store"
)

// checkpointError says that a checkpoint cannot be read. The log may still be whole without it.
type checkpointError struct {
	key string
	err error
}

func (e *checkpointError) Error() string {
	return fmt.Sprintf("checkpoint %s cannot be read: %v", logFileName(e.key), e.err)
}

func (e *checkpointError) Unwrap() error        { return e.err }
func (e *checkpointError) Is(target error) bool { return target == ErrCorrupt }

// readCheckpoint applies the actions of a checkpoint, and of the sidecars that it names, to an empty snapshot.
func readCheckpoint(ctx context.Context, st store.Store, files checkpointFiles, s *Snapshot, log *fileLog) error {
	r := &checkpointReader{st: st, version: files.version, snapshot: s, log: log}
	for _, info := range files.files {
		if err := r.file(ctx, info.Key, (*checkpointReader).everything); err != nil {
			return err
		}
	}
	for _, name := range r.sidecars {
		if err := r.file(ctx, sidecarKey(name), (*checkpointReader).everything); err != nil {
			return err
		}
	}
	s.files.version = files.version
	return nil
}

// checkpointSidecars are the keys of the sidecars that a checkpoint names.
func checkpointSidecars(ctx context.Context, st store.Store, files checkpointFiles) ([]string, error) {
	r := &checkpointReader{st: st, version: files.version, snapshot: newSnapshot(st.URI()), log: newFileLog(st.URI())}
	for _, info := range files.files {
		if err := r.file(ctx, info.Key, (*checkpointReader).readSidecars); err != nil {
			return nil, err
		}
	}
	keys := make([]string, len(r.sidecars))
	for i, name := range r.sidecars {
		keys[i] = sidecarKey(name)
	}
	return keys, nil
}

// sidecarKey is where a sidecar lies: the log gives its encoded name below _sidecars, or a whole path.
func sidecarKey(path string) string {
	name := percentDecode(path)
	if i := strings.LastIndex(name, logFolder); i >= 0 {
		return name[i:]
	}
	if strings.Contains(name, "/") {
		return logFolder + strings.TrimPrefix(name, "/")
	}
	return sidecarFolder + name
}

// checkpointReader takes the actions of a checkpoint's files.
type checkpointReader struct {
	st       store.Store
	version  int64
	snapshot *Snapshot
	log      *fileLog
	sidecars []string // as the checkpoint names them

	partitions partitionReader
}

// file reads one file; of a Parquet file what read does.
func (r *checkpointReader) file(ctx context.Context, key string, read func(*checkpointReader, context.Context, *parquet.File) error) error {
	err := r.open(ctx, key, read)
	var unreadable *parquet.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrInvalid), errors.Is(err, ErrCorrupt),
		errors.Is(err, parquet.ErrDamaged), errors.Is(err, parquet.ErrUnsupported), errors.Is(err, parquet.ErrType):
		if errors.As(err, &unreadable) && unreadable.Column == "" {
			err = unreadable.Err // it names the file again
		}
		return &checkpointError{key, err}
	}
	return fmt.Errorf("read checkpoint %s of %s: %w", logFileName(key), r.st.URI(), err)
}

func (r *checkpointReader) open(ctx context.Context, key string, read func(*checkpointReader, context.Context, *parquet.File) error) error {
	if strings.HasSuffix(key, ".json") {
		data, err := r.st.Get(ctx, key)
		if err != nil {
			return err
		}
		c, err := parseCommit(logFileName(key), r.version, data)
		if err == nil {
			r.take(c)
		}
		return err
	}
	info, err := r.st.Stat(ctx, key)
	if err != nil {
		return err
	}
	f, err := parquet.Open(ctx, r.st, key, info.Size)
	if err != nil {
		return err
	}
	return errors.Join(read(r, ctx, f), f.Close())
}

func (r *checkpointReader) take(c *commit) {
	c.version = r.version
	r.sidecars = append(r.sidecars, c.sidecars...)
	r.snapshot.applyState(c)
	r.log.applyCheckpoint(&r.snapshot.files, c)
}

func (r *checkpointReader) everything(ctx context.Context, f *parquet.File) error {
	for _, read := range []func(context.Context, *parquet.File) error{r.readProtocol, r.readMetadata, r.readTxns, r.readDomains} {
		if err := read(ctx, f); err != nil {
			return err
		}
	}
	return errors.Join(r.readSidecars(ctx, f), r.readRemoves(ctx, f), r.readAdds(ctx, f))
}

// scan reads one kind of action: the rows where the first of its fields is not null. The fields that the file lacks are null.
func (r *checkpointReader) scan(ctx context.Context, f *parquet.File, action string, fields []batch.Field, use func(row rowReader)) error {
	scan := actionScan(ctx, f, action, fields, nil)
	for {
		rows, err := scan.next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range rows.Len {
			if hasAction(rows, i) {
				use(rowReader{row: rows, at: i})
			}
		}
	}
}

// actionScanner yields the column of one kind of action.
type actionScanner struct{ scan *parquet.Scanner }

// actionScan scans the given rows (nil: all) of the row groups that may have the action.
func actionScan(ctx context.Context, f *parquet.File, action string, fields []batch.Field, rows []parquet.RowRange) actionScanner {
	groups := []int{}
	for i, g := range f.RowGroups() {
		if g.Stats(actionColumn(action, fields[:1]), nil, false).NullCount != g.NumRows {
			groups = append(groups, i)
		}
	}
	return actionScanner{f.Scan(ctx, parquet.ScanOptions{Columns: []batch.Field{actionColumn(action, longInts(fields))}, RowGroups: groups, Rows: rows})}
}

// longInts has long in place of integer: some writers do, and a file's values are only ever widened.
func longInts(fields []batch.Field) []batch.Field {
	out := slices.Clone(fields)
	for i, f := range out {
		switch f.Type.Kind {
		case batch.Int32:
			out[i].Type = longType
		case batch.Struct:
			out[i].Type = batch.StructOf(longInts(f.Type.Fields())...)
		}
	}
	return out
}

// next returns the column of the next rows; io.EOF behind the last.
func (s actionScanner) next(ctx context.Context) (*batch.Vector, error) {
	b, err := s.scan.Next(ctx)
	if err != nil {
		return nil, err
	}
	return b.Cols[0], nil
}

// hasAction tells whether a row is an action of the column's kind.
func hasAction(column *batch.Vector, row int) bool {
	return !column.IsNull(row) && !column.Children[0].IsNull(row)
}

func (r *checkpointReader) readProtocol(ctx context.Context, f *parquet.File) error {
	return r.scan(ctx, f, "protocol", protocolFields, func(row rowReader) {
		p := &Protocol{MinReader: int(row.int()), MinWriter: int(row.int())}
		p.ReaderFeatures, p.WriterFeatures = row.list(), row.list()
		r.take(&commit{protocol: p})
	})
}

func (r *checkpointReader) readMetadata(ctx context.Context, f *parquet.File) error {
	var bad error
	err := r.scan(ctx, f, "metaData", metadataFields, func(row rowReader) {
		in := metadataJSON{ID: row.text(), Name: row.text(), Description: row.text()}
		if format, ok := row.within(); ok {
			in.Format.Provider = format.text()
		}
		in.SchemaString, in.PartitionColumns, in.Configuration, in.CreatedTime = row.text(), row.list(), row.textMap(), row.intOr()
		m, err := in.metadata()
		if err != nil {
			bad = err
			return
		}
		r.take(&commit{metadata: m})
	})
	return errors.Join(err, bad)
}

func (r *checkpointReader) readTxns(ctx context.Context, f *parquet.File) error {
	return r.scan(ctx, f, "txn", txnFields, func(row rowReader) {
		r.take(&commit{txns: []txnAction{{row.text(), txn{row.int(), row.int()}}}})
	})
}

func (r *checkpointReader) readDomains(ctx context.Context, f *parquet.File) error {
	return r.scan(ctx, f, "domainMetadata", domainFields, func(row rowReader) {
		r.take(&commit{domains: []domainAction{{row.text(), row.text(), row.bool()}}})
	})
}

func (r *checkpointReader) readSidecars(ctx context.Context, f *parquet.File) error {
	return r.scan(ctx, f, "sidecar", sidecarFields[:1], func(row rowReader) { r.sidecars = append(r.sidecars, row.text()) })
}

func (r *checkpointReader) readRemoves(ctx context.Context, f *parquet.File) error {
	one := commit{removes: make([]removeAction, 1)}
	return r.scan(ctx, f, "remove", removeFields, func(row rowReader) {
		a := removeAction{path: row.bytes(), deletionTimestamp: row.int()}
		row.skip() // dataChange, which is of the commit's
		a.extendedFileMetadata = row.bool()
		a.partition = r.partitions.get(row.field(), row.at)
		a.size = row.int()
		a.extra = extraOf(nil, row.deletionVector(), row.intOr(), row.intOr(), "")
		one.removes[0] = a
		r.take(&one)
	})
}

// addColumns are the fields that are read of an add: those that it must have, and others where the file has them in their place.
type addColumns struct {
	fields           []batch.Field
	parsedPartitions bool // behind the others: partitionValues_parsed
	parsedStats      bool // behind that: stats_parsed
}

// readAdds reads the statistics as text, and from the struct only where there is no text: turning them back costs more than all the rest.
func (r *checkpointReader) readAdds(ctx context.Context, f *parquet.File) error {
	c := addColumns{fields: append(slices.Clone(addFields), nullable("stats", textType))}
	if parsed := fieldOfAdd(f, "partitionValues_parsed"); parsed != nil && fieldOfAdd(f, "partitionValues") == nil {
		c.fields, c.parsedPartitions = append(c.fields, *parsed), true
	}
	parsed, text := fieldOfAdd(f, "stats_parsed"), fieldOfAdd(f, "stats")
	var rows []parquet.RowRange
	for withParsed := parsed != nil && text == nil; ; withParsed = true {
		if withParsed {
			c.fields, c.parsedStats = append(c.fields, *parsed), true
		}
		lacking, err := r.adds(ctx, f, c, rows, parsed != nil && !withParsed)
		if err != nil || lacking < 0 {
			return err
		}
		rows = []parquet.RowRange{{Start: lacking, End: f.NumRows()}}
	}
}

// fieldOfAdd is a field of a file's adds, of the type that it has there; nil without it.
func fieldOfAdd(f *parquet.File, name string) *batch.Field {
	i := f.Schema().Index("add")
	if i < 0 {
		return nil
	}
	for _, field := range f.Schema().Fields[i].Type.Fields() {
		if field.Name == name {
			return &field
		}
	}
	return nil
}

// adds reads the given rows (nil: all). With needText it stops where an add has no statistics as text, and returns the position from which
// on nothing has been taken; else -1.
func (r *checkpointReader) adds(ctx context.Context, f *parquet.File, columns addColumns, rows []parquet.RowRange, needText bool) (lacking int64, err error) {
	scan := actionScan(ctx, f, "add", columns.fields, rows)
	defer scan.scan.Close()
	var c commit
	for {
		column, err := scan.next(ctx)
		if err == io.EOF {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		c.adds = c.adds[:0]
		for i := range column.Len {
			if !hasAction(column, i) {
				continue
			}
			a := r.add(rowReader{row: column, at: i}, columns)
			if len(a.stats) == 0 && needText {
				return scan.scan.Position(), nil
			}
			c.adds = append(c.adds, a)
		}
		r.take(&c)
	}
}

func (r *checkpointReader) add(row rowReader, columns addColumns) addAction {
	a := addAction{path: row.bytes(), partition: r.partitions.get(row.field(), row.at), size: row.int(), modTime: row.int()}
	row.skip() // dataChange, which is of the commit's
	a.extra = extraOf(row.textMap(), row.deletionVector(), row.intOr(), row.intOr(), row.text())
	a.stats = row.bytes()
	if columns.parsedPartitions {
		a.partition = parsedPartition(row.field(), row.at)
	}
	if columns.parsedStats && len(a.stats) == 0 {
		a.stats = appendParsedStats(nil, row.field(), row.at)
	}
	return a
}

// extraOf returns nil when there is nothing of it.
func extraOf(tags map[string]string, dv *deletionVector, baseRowID, commitVersion *int64, clusteringProvider string) *fileExtra {
	if len(tags) == 0 && dv == nil && baseRowID == nil && commitVersion == nil && clusteringProvider == "" {
		return nil
	}
	return &fileExtra{tags: tags, dv: dv, baseRowID: baseRowID, defaultRowCommitVersion: commitVersion, clusteringProvider: clusteringProvider}
}

// partitionReader turns partition values into maps. Those that are equal are one map.
type partitionReader struct {
	seen map[string]map[string]string
	key  []byte
}

// get is the map of the row of a map column, without nulls and empty values; nil when nothing is left.
func (p *partitionReader) get(v *batch.Vector, row int) map[string]string {
	if v.IsNull(row) || v.Off[row] == v.Off[row+1] {
		return nil
	}
	p.key = p.key[:0]
	keys, values := v.Children[0], v.Children[1]
	for i := int(v.Off[row]); i < int(v.Off[row+1]); i++ {
		if values.IsNull(i) {
			continue
		}
		k, text := keys.BytesAt(i), values.BytesAt(i)
		p.key = binary.AppendUvarint(binary.AppendUvarint(p.key, uint64(len(k))), uint64(len(text)))
		p.key = append(append(p.key, k...), text...)
	}
	m, ok := p.seen[string(p.key)]
	if !ok {
		if p.seen == nil {
			p.seen = make(map[string]map[string]string)
		}
		m = textMapAt(v, row)
		p.seen[string(p.key)] = m
	}
	return m
}
