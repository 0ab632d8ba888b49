package delta

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
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

var errNoObject = errors.New("not a JSON object")

// parseLine dispatches on the keys of the line; there is one.
func (c *commit) parseLine(text []byte) error {
	s := jsonScanner{text: text}
	if s.peek() != '{' {
		return errNoObject
	}
	for key := range s.fields {
		switch string(key) {
		case "add":
			c.adds = append(c.adds, s.add())
		case "remove":
			c.removes = append(c.removes, s.remove())
		case "cdc":
			c.changes = append(c.changes, s.add())
		case "txn":
			c.txns = append(c.txns, s.txn())
		case "commitInfo":
			c.info = s.object()
		case "metaData":
			c.repeated = c.repeated || c.metadata != nil
			c.metadata = parseObject(&s, parseMetadata)
		case "protocol":
			c.repeated = c.repeated || c.protocol != nil
			c.protocol = parseObject(&s, parseProtocol)
		case "domainMetadata":
			c.domains = append(c.domains, s.domain())
		case "sidecar":
			c.sidecars = append(c.sidecars, s.sidecar())
		default:
			s.skip()
		}
	}
	if err := s.end(); err != errNotJSON {
		return err
	}
	return errNoObject
}

// object is the text of an object.
func (s *jsonScanner) object() []byte {
	if s.peek() != '{' {
		s.expected("an object")
		return nil
	}
	return s.raw()
}

// parseObject reads an object by a function of its text.
func parseObject[T any](s *jsonScanner, parse func([]byte) (*T, error)) *T {
	text := s.object()
	if s.err != nil {
		return nil
	}
	out, err := parse(text)
	if err != nil {
		s.fail(err)
	}
	return out
}

var errNoPath = errors.New("no path")

func (s *jsonScanner) add() (a addAction) {
	for key := range s.fields {
		switch string(key) {
		case "path":
			a.path = s.bytes()
		case "partitionValues":
			a.partition = s.stringMap()
		case "size":
			a.size = s.int()
		case "modificationTime":
			a.modTime = s.int()
		case "dataChange":
			a.dataChange = s.bool()
		case "stats":
			a.stats = s.bytes()
		default:
			s.extra(string(key), &a.extra)
		}
	}
	if len(a.path) == 0 {
		s.fail(errNoPath)
	}
	return a
}

func (s *jsonScanner) remove() (r removeAction) {
	for key := range s.fields {
		switch string(key) {
		case "path":
			r.path = s.bytes()
		case "deletionTimestamp":
			r.deletionTimestamp = s.int()
		case "dataChange":
			r.dataChange = s.bool()
		case "extendedFileMetadata":
			r.extendedFileMetadata = s.bool()
		case "partitionValues":
			r.partition = s.stringMap()
		case "size":
			r.size = s.int()
		default:
			s.extra(string(key), &r.extra)
		}
	}
	if len(r.path) == 0 {
		s.fail(errNoPath)
	}
	return r
}

func (s *jsonScanner) txn() (t txnAction) {
	for key := range s.fields {
		switch string(key) {
		case "appId":
			t.appID = s.string()
		case "version":
			t.version = s.int()
		case "lastUpdated":
			t.lastUpdated = s.int()
		default:
			s.skip()
		}
	}
	return t
}

func (s *jsonScanner) domain() (d domainAction) {
	for key := range s.fields {
		switch string(key) {
		case "domain":
			d.domain = s.string()
		case "configuration":
			d.configuration = s.string()
		case "removed":
			d.removed = s.bool()
		default:
			s.skip()
		}
	}
	return d
}

// sidecar is the path of a sidecar.
func (s *jsonScanner) sidecar() (path string) {
	for key := range s.fields {
		if string(key) == "path" {
			path = s.string()
		} else {
			s.skip()
		}
	}
	return path
}

// extra takes one of the fields that few files have.
func (s *jsonScanner) extra(key string, to **fileExtra) {
	switch key {
	case "tags":
		if tags := s.stringMap(); len(tags) > 0 {
			made(to).tags = tags
		}
	case "deletionVector":
		if dv := s.deletionVector(); dv != nil {
			made(to).dv = dv
		}
	case "baseRowId":
		made(to).baseRowID = s.intPointer()
	case "defaultRowCommitVersion":
		made(to).defaultRowCommitVersion = s.intPointer()
	case "clusteringProvider":
		made(to).clusteringProvider = s.string()
	default:
		s.skip()
	}
}

// made is what to points to, which is made when it is not there.
func made[T any](to **T) *T {
	if *to == nil {
		*to = new(T)
	}
	return *to
}

// deletionVector reads a descriptor; one without storage type stands for none.
func (s *jsonScanner) deletionVector() *deletionVector {
	var d deletionVector
	for key := range s.fields {
		switch string(key) {
		case "storageType":
			d.storageType = s.string()
		case "pathOrInlineDv":
			d.pathOrInlineDv = s.string()
		case "offset":
			offset := int32(s.int())
			d.offset = &offset
		case "sizeInBytes":
			d.sizeInBytes = int32(s.int())
		case "cardinality":
			d.cardinality = s.int()
		default:
			s.skip()
		}
	}
	if d.storageType == "" {
		return nil
	}
	return &d
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
		return nil, &UnsupportedError{Op: "read", Features: []string{fmt.Sprintf("data format %q", p)}, Detail: "only parquet is"}
	}
	m := &Metadata{ID: in.ID, Name: in.Name, Description: in.Description, SchemaString: in.SchemaString,
		PartitionColumns: in.PartitionColumns, Configuration: in.Configuration}
	if in.CreatedTime != nil {
		m.CreatedTime = time.UnixMilli(*in.CreatedTime).UTC()
	}
	return m, nil
}
