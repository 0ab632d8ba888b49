package delta

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go"

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
	sink := &checkpointSink{snapshot: s, log: log, version: files.version}
	sink.readers = []actionReader{sink.readProtocol, sink.readMetadata, sink.readTxns, sink.readDomains, sink.readSidecars, sink.readRemoves, sink.readAdds}
	for _, info := range files.files {
		if err := readCheckpointFile(ctx, st, info.Key, sink); err != nil {
			return err
		}
	}
	for _, name := range sink.sidecars {
		if err := readCheckpointFile(ctx, st, sidecarKey(name), sink); err != nil {
			return err
		}
	}
	s.files.version = files.version
	return nil
}

// checkpointSidecars are the keys of the sidecars that a checkpoint names.
func checkpointSidecars(ctx context.Context, st store.Store, files checkpointFiles) ([]string, error) {
	sink := &checkpointSink{snapshot: newSnapshot(st.URI()), log: newFileLog(st.URI()), version: files.version}
	sink.readers = []actionReader{sink.readSidecars}
	for _, info := range files.files {
		if err := readCheckpointFile(ctx, st, info.Key, sink); err != nil {
			return nil, err
		}
	}
	keys := make([]string, len(sink.sidecars))
	for i, name := range sink.sidecars {
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

func readCheckpointFile(ctx context.Context, st store.Store, key string, sink *checkpointSink) error {
	data, release, err := objectBytes(ctx, st, key)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			return &checkpointError{key, err}
		}
		return fmt.Errorf("read checkpoint %s of %s: %w", logFileName(key), st.URI(), err)
	}
	defer release()
	if strings.HasSuffix(key, ".json") {
		err = sink.readJSON(logFileName(key), data)
	} else {
		err = sink.readParquet(data)
	}
	if err != nil {
		return &checkpointError{key, err}
	}
	return nil
}

// objectBytes maps an object where the store can, else reads it.
func objectBytes(ctx context.Context, st store.Store, key string) (data []byte, release func(), err error) {
	if m, ok := st.(store.Mapper); ok {
		return m.Map(ctx, key)
	}
	data, err = st.Get(ctx, key)
	return data, func() {}, err
}

// checkpointSink takes actions in any order.
type checkpointSink struct {
	snapshot *Snapshot
	log      *fileLog
	version  int64
	sidecars []string
	readers  []actionReader // what of Parquet files is read
}

// actionReader reads one kind of action from a row group.
type actionReader func(*actionColumns) error

func (k *checkpointSink) take(c *commit) {
	c.version = k.version
	k.snapshot.applyState(c)
	k.log.applyCheckpoint(&k.snapshot.files, c)
}

func (k *checkpointSink) readJSON(name string, data []byte) error {
	c, err := parseCommit(name, k.version, data)
	if err != nil {
		return err
	}
	k.sidecars = append(k.sidecars, c.sidecars...)
	k.take(c)
	return nil
}

func (k *checkpointSink) readParquet(data []byte) (err error) {
	defer func() { // parquet-go panics on some damaged pages
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged Parquet: %v", r)
		}
	}()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	for _, group := range file.RowGroups() {
		for _, read := range k.readers {
			columns := &actionColumns{schema: file.Schema(), group: group}
			err := read(columns)
			columns.close()
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *checkpointSink) readProtocol(c *actionColumns) error {
	id, writer := c.leaf("protocol", "minReaderVersion"), c.leaf("protocol", "minWriterVersion")
	readers, writers := c.list("protocol", "readerFeatures"), c.list("protocol", "writerFeatures")
	return c.each(id, func() {
		k.take(&commit{protocol: &Protocol{MinReader: int(id.int()), MinWriter: int(writer.int()),
			ReaderFeatures: readers.strings(), WriterFeatures: writers.strings()}})
	})
}

func (k *checkpointSink) readMetadata(c *actionColumns) error {
	id, name, description := c.leaf("metaData", "id"), c.leaf("metaData", "name"), c.leaf("metaData", "description")
	provider, schema, created := c.leaf("metaData", "format", "provider"), c.leaf("metaData", "schemaString"), c.leaf("metaData", "createdTime")
	partitions, config := c.list("metaData", "partitionColumns"), c.stringMap("metaData", "configuration")
	var bad error
	err := c.each(id, func() {
		in := metadataJSON{ID: id.string(), Name: name.string(), Description: description.string(), SchemaString: schema.string(),
			Format: formatJSON{Provider: provider.string()}, PartitionColumns: partitions.strings(), Configuration: config.get(),
			CreatedTime: created.intPointer()}
		m, err := in.metadata()
		if err != nil {
			bad = err
			return
		}
		k.take(&commit{metadata: m})
	})
	return errors.Join(err, bad)
}

func (k *checkpointSink) readTxns(c *actionColumns) error {
	id, version, updated := c.leaf("txn", "appId"), c.leaf("txn", "version"), c.leaf("txn", "lastUpdated")
	return c.each(id, func() {
		k.take(&commit{txns: []txnAction{{id.string(), txn{version.int(), updated.int()}}}})
	})
}

func (k *checkpointSink) readDomains(c *actionColumns) error {
	domain, config, removed := c.leaf("domainMetadata", "domain"), c.leaf("domainMetadata", "configuration"), c.leaf("domainMetadata", "removed")
	return c.each(domain, func() {
		k.take(&commit{domains: []domainAction{{domain.string(), config.string(), removed.bool()}}})
	})
}

func (k *checkpointSink) readSidecars(c *actionColumns) error {
	path := c.leaf("sidecar", "path")
	return c.each(path, func() { k.sidecars = append(k.sidecars, path.string()) })
}

func (k *checkpointSink) readRemoves(c *actionColumns) error {
	path, deleted, size := c.leaf("remove", "path"), c.leaf("remove", "deletionTimestamp"), c.leaf("remove", "size")
	extended, partition, extra := c.leaf("remove", "extendedFileMetadata"), c.stringMap("remove", "partitionValues"), c.extra("remove")
	one := commit{removes: make([]removeAction, 1)}
	return c.each(path, func() {
		one.removes[0] = removeAction{path: path.bytes(), deletionTimestamp: deleted.int(), size: size.int(),
			extendedFileMetadata: extended.bool(), partition: partition.get(), extra: extra.get()}
		k.take(&one)
	})
}

func (k *checkpointSink) readAdds(c *actionColumns) error {
	path, size, modified := c.leaf("add", "path"), c.leaf("add", "size"), c.leaf("add", "modificationTime")
	stats, partition, extra := c.leaf("add", "stats"), c.stringMap("add", "partitionValues"), c.extra("add")
	parsed := c.parsedStats("add", "stats_parsed")
	one := commit{adds: make([]addAction, 1)}
	return c.each(path, func() {
		text := stats.bytes()
		if len(text) == 0 {
			text = parsed.json()
		}
		one.adds[0] = addAction{path: path.bytes(), size: size.int(), modTime: modified.int(), stats: text,
			partition: partition.get(), extra: extra.get()}
		k.take(&one)
	})
}
