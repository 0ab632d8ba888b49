package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/buger/jsonparser"
)

// parseCommit reads newline-delimited actions. Unknown actions, unknown fields and blank lines are ignored; a line that is
// not one JSON object is an ErrCorrupt that names the file and the line. The result aliases data.
func parseCommit(name string, version int64, data []byte) (*commit, error) {
	c := &commit{version: version}
	for line := 1; len(data) > 0; line++ {
		text := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			text, data = data[:i], data[i+1:]
		} else {
			data = nil
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		if err := c.parseLine(text); err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w: %.120q", ErrCorrupt, name, line, err, text)
		}
	}
	return c, nil
}

var errNotJSON = errors.New("not a JSON object")

// parseLine dispatches on the keys of the line; there is one.
func (c *commit) parseLine(text []byte) error {
	if text[0] != '{' || !validJSON(text) {
		return errNotJSON
	}
	return jsonparser.ObjectEach(text, func(key, value []byte, kind jsonparser.ValueType, _ int) error {
		if kind != jsonparser.Object {
			if kind == jsonparser.Null || !knownAction(string(key)) {
				return nil
			}
			return fmt.Errorf("action %s is not an object", key)
		}
		if err := c.parseAction(string(key), value); err != nil {
			return fmt.Errorf("action %s: %w", key, err)
		}
		return nil
	})
}

func knownAction(key string) bool {
	switch key {
	case "add", "remove", "txn", "commitInfo", "metaData", "protocol", "domainMetadata", "sidecar":
		return true
	}
	return false
}

func (c *commit) parseAction(key string, value []byte) error {
	switch key {
	case "add":
		a, err := parseAdd(value)
		c.adds = append(c.adds, a)
		return err
	case "remove":
		r, err := parseRemove(value)
		c.removes = append(c.removes, r)
		return err
	case "txn":
		t, err := parseTxn(value)
		c.txns = append(c.txns, t)
		return err
	case "commitInfo":
		c.info = value
	case "metaData":
		m, err := parseMetadata(value)
		c.metadata = m
		return err
	case "protocol":
		p, err := parseProtocol(value)
		c.protocol = p
		return err
	case "domainMetadata":
		d, err := parseDomain(value)
		c.domains = append(c.domains, d)
		return err
	case "sidecar":
		return eachField(value, func(f field) error {
			if f.key != "path" {
				return nil
			}
			path, err := f.string()
			c.sidecars = append(c.sidecars, path)
			return err
		})
	}
	return nil
}

func parseAdd(object []byte) (addAction, error) {
	var a addAction
	err := eachField(object, func(f field) (err error) {
		switch f.key {
		case "path":
			a.path, err = f.text()
		case "partitionValues":
			a.partition, err = f.stringMap()
		case "size":
			a.size, err = f.int()
		case "modificationTime":
			a.modTime, err = f.int()
		case "stats":
			a.stats, err = f.text()
		default:
			a.extra, err = f.extra(a.extra)
		}
		return err
	})
	if err == nil && len(a.path) == 0 {
		err = errors.New("no path")
	}
	return a, err
}

func parseRemove(object []byte) (removeAction, error) {
	var r removeAction
	err := eachField(object, func(f field) (err error) {
		switch f.key {
		case "path":
			r.path, err = f.text()
		case "deletionTimestamp":
			r.deletionTimestamp, err = f.int()
		case "extendedFileMetadata":
			r.extendedFileMetadata, err = f.bool()
		case "partitionValues":
			r.partition, err = f.stringMap()
		case "size":
			r.size, err = f.int()
		default:
			r.extra, err = f.extra(r.extra)
		}
		return err
	})
	if err == nil && len(r.path) == 0 {
		err = errors.New("no path")
	}
	return r, err
}

func parseTxn(object []byte) (t txnAction, err error) {
	err = eachField(object, func(f field) (err error) {
		switch f.key {
		case "appId":
			t.appID, err = f.string()
		case "version":
			t.version, err = f.int()
		case "lastUpdated":
			t.lastUpdated, err = f.int()
		}
		return err
	})
	return t, err
}

func parseDomain(object []byte) (d domainAction, err error) {
	err = eachField(object, func(f field) (err error) {
		switch f.key {
		case "domain":
			d.domain, err = f.string()
		case "configuration":
			d.configuration, err = f.string()
		case "removed":
			d.removed, err = f.bool()
		}
		return err
	})
	return d, err
}

// protocolJSON and metadataJSON are read and written by encoding/json: they are rare.
type protocolJSON struct {
	MinReaderVersion int       `json:"minReaderVersion"`
	MinWriterVersion int       `json:"minWriterVersion"`
	ReaderFeatures   *[]string `json:"readerFeatures,omitempty"`
	WriterFeatures   *[]string `json:"writerFeatures,omitempty"`
}

func parseProtocol(object []byte) (*Protocol, error) {
	var in protocolJSON
	if err := json.Unmarshal(object, &in); err != nil {
		return nil, err
	}
	p := &Protocol{MinReader: in.MinReaderVersion, MinWriter: in.MinWriterVersion}
	if in.ReaderFeatures != nil {
		p.ReaderFeatures = *in.ReaderFeatures
	}
	if in.WriterFeatures != nil {
		p.WriterFeatures = *in.WriterFeatures
	}
	return p, nil
}

type metadataJSON struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           formatJSON        `json:"format"`
	SchemaString     string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      *int64            `json:"createdTime,omitempty"`
}

type formatJSON struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

func parseMetadata(object []byte) (*Metadata, error) {
	var in metadataJSON
	if err := json.Unmarshal(object, &in); err != nil {
		return nil, err
	}
	return in.metadata()
}

func (in *metadataJSON) metadata() (*Metadata, error) {
	if p := in.Format.Provider; p != "" && p != "parquet" {
		return nil, fmt.Errorf("data format %q is not supported: only parquet is", p)
	}
	m := &Metadata{ID: in.ID, Name: in.Name, Description: in.Description, SchemaString: in.SchemaString,
		PartitionColumns: in.PartitionColumns, Configuration: in.Configuration}
	if in.CreatedTime != nil {
		m.CreatedTime = time.UnixMilli(*in.CreatedTime).UTC()
	}
	return m, nil
}

// field is one key and value of an action.
type field struct {
	key   string
	value []byte
	kind  jsonparser.ValueType
}

// eachField calls fn for every field that is not null.
func eachField(object []byte, fn func(field) error) error {
	return jsonparser.ObjectEach(object, func(key, value []byte, kind jsonparser.ValueType, _ int) error {
		if kind == jsonparser.Null {
			return nil
		}
		if err := fn(field{string(key), value, kind}); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	})
}

func (f field) text() ([]byte, error) {
	if f.kind != jsonparser.String {
		return nil, fmt.Errorf("a string is expected, not %.40s", f.value)
	}
	return unescape(f.value)
}

// unescape decodes the inside of a JSON string; without escapes it copies nothing.
func unescape(raw []byte) ([]byte, error) {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, nil
	}
	if out, err := jsonparser.Unescape(raw, make([]byte, 0, len(raw))); err == nil {
		return out, nil
	}
	// Half of a surrogate pair: encoding/json makes it U+FFFD.
	var s string
	quoted := append(append([]byte{'"'}, raw...), '"')
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, err
	}
	return []byte(s), nil
}

func (f field) string() (string, error) {
	b, err := f.text()
	return string(b), err
}

func (f field) int() (int64, error) {
	if f.kind != jsonparser.Number {
		return 0, fmt.Errorf("a number is expected, not %.40s", f.value)
	}
	return strconv.ParseInt(string(f.value), 10, 64)
}

func (f field) bool() (bool, error) {
	if f.kind != jsonparser.Boolean {
		return false, fmt.Errorf("true or false is expected, not %.40s", f.value)
	}
	return f.value[0] == 't', nil
}

// stringMap reads an object of strings; entries that are null are left out.
func (f field) stringMap() (map[string]string, error) {
	if f.kind != jsonparser.Object {
		return nil, fmt.Errorf("an object is expected, not %.40s", f.value)
	}
	var out map[string]string
	err := eachField(f.value, func(entry field) error {
		v, err := entry.string()
		if out == nil {
			out = make(map[string]string)
		}
		out[entry.key] = v
		return err
	})
	return out, err
}

// extra takes one of the fields that few files have.
func (f field) extra(e *fileExtra) (*fileExtra, error) {
	var out fileExtra
	if e != nil {
		out = *e
	}
	var err error
	switch f.key {
	case "tags":
		if out.tags, err = f.stringMap(); len(out.tags) == 0 {
			return e, err
		}
	case "deletionVector":
		if out.dv, err = f.deletionVector(); out.dv == nil {
			return e, err
		}
	case "baseRowId":
		out.baseRowID, err = f.intPointer()
	case "defaultRowCommitVersion":
		out.defaultRowCommitVersion, err = f.intPointer()
	case "clusteringProvider":
		out.clusteringProvider, err = f.string()
	default:
		return e, nil
	}
	return &out, err
}

func (f field) intPointer() (*int64, error) {
	n, err := f.int()
	return &n, err
}

// deletionVector reads a descriptor; one without storage type stands for none.
func (f field) deletionVector() (*deletionVector, error) {
	if f.kind != jsonparser.Object {
		return nil, fmt.Errorf("an object is expected, not %.40s", f.value)
	}
	var d deletionVector
	err := eachField(f.value, func(f field) (err error) {
		var n int64
		switch f.key {
		case "storageType":
			d.storageType, err = f.string()
		case "pathOrInlineDv":
			d.pathOrInlineDv, err = f.string()
		case "offset":
			n, err = f.int()
			offset := int32(n)
			d.offset = &offset
		case "sizeInBytes":
			n, err = f.int()
			d.sizeInBytes = int32(n)
		case "cardinality":
			d.cardinality, err = f.int()
		}
		return err
	})
	if d.storageType == "" {
		return nil, err
	}
	return &d, err
}
