package delta

import (
	"fmt"
	"slices"
	"strconv"

	"lakesql/version"
)

// commitInfoJSON are the fields of commitInfo that this package writes, in Spark's order.
type commitInfoJSON struct {
	InCommitTimestamp   int64             `json:"inCommitTimestamp,omitempty"`
	Timestamp           int64             `json:"timestamp"`
	Operation           string            `json:"operation"`
	OperationParameters map[string]string `json:"operationParameters"`
	ReadVersion         *int64            `json:"readVersion,omitempty"`
	IsolationLevel      string            `json:"isolationLevel"`
	IsBlindAppend       bool              `json:"isBlindAppend"`
	OperationMetrics    map[string]string `json:"operationMetrics"`
	Tags                map[string]string `json:"tags,omitempty"`
	EngineInfo          string            `json:"engineInfo"`
	TxnID               string            `json:"txnId"`
}

// engineInfo names this program in commits.
func engineInfo() string { return "lakesql/" + version.String() }

// attempt is one try to write a version.
type attempt struct {
	op       Operation
	id       string
	version  int64
	nowMs    int64 // milliseconds since the epoch
	inCommit int64 // the in-commit timestamp, likewise; 0: none
}

// encode writes the commit as it follows on base: commitInfo first, then txn, protocol, metaData, remove, add, cdc and
// domainMetadata, a line each.
func (x *Transaction) encode(a attempt) ([]byte, error) {
	after := x.after()
	info := commitInfoJSON{InCommitTimestamp: a.inCommit, Operation: a.op.Name, OperationParameters: notNil(a.op.Parameters), IsolationLevel: x.isolation(),
		IsBlindAppend: x.blindAppend(), OperationMetrics: notNil(a.op.Metrics), Tags: x.tags(after), EngineInfo: engineInfo(), TxnID: a.id}
	if x.read != nil {
		version := x.read.Version()
		info.ReadVersion = &version
		a.nowMs = max(a.nowMs, x.read.Timestamp().UnixMilli()+1) // a clock that was set back must not turn the history round
	}
	info.Timestamp = a.nowMs
	out := appendAction(nil, "commitInfo", mustJSON(info))
	for _, t := range x.txns {
		t.lastUpdated = a.nowMs
		out = appendAction(out, "txn", appendTxn(nil, t))
	}
	if x.protocol != nil {
		out = appendAction(out, "protocol", mustJSON(x.protocol.json()))
	}
	if x.metadata != nil {
		out = appendAction(out, "metaData", mustJSON(x.metadata.withoutProtocolProperties().withEnablement(x.base, a.version, a.inCommit).json()))
	}
	ids, err := newRowIDs(x.base, after, a.version)
	if err != nil {
		return nil, err
	}
	if out, err = x.appendFiles(out, a, ids); err != nil {
		return nil, err
	}
	domains := x.domains
	if mark, moved := ids.domain(); moved {
		domains = append(slices.Clone(domains), mark)
	}
	for _, d := range domains {
		out = appendAction(out, "domainMetadata", appendDomain(nil, d))
	}
	return out, nil
}

// appendFiles writes the actions of files. Removed ones are described as they were, those whose rows were deleted are added again.
func (x *Transaction) appendFiles(out []byte, a attempt, ids *rowIDs) ([]byte, error) {
	var removedFrom []partitionKey
	if x.base.metadata != nil {
		removedFrom = x.base.metadata.partitionKeys()
	}
	addedTo := removedFrom
	if x.metadata != nil {
		addedTo = x.metadata.partitionKeys()
	}
	for _, t := range x.files.touched {
		out = appendAction(out, "remove", appendRemove(nil, t.file, removedFrom, a.nowMs, !x.rearrange))
	}
	add := func(f AddFile, vector *deletionVector) (err error) {
		if vector != nil {
			f.extra = f.extra.withVector(vector)
			if f.Stats, err = looseBounds(f.Stats); err != nil {
				return fmt.Errorf("file %s of %s: %w", f.Path, x.base.uri, err)
			}
		}
		if f.extra, err = ids.assign(f.extra, f.Path, f.NumRecords); err != nil {
			return err
		}
		out = appendAction(out, "add", appendAdd(nil, f, addedTo, !x.rearrange))
		return nil
	}
	for _, t := range x.files.touched {
		if t.rows == nil {
			continue
		}
		if err := add(t.file.AddFile(), t.vector); err != nil {
			return nil, err
		}
	}
	for f := range x.files.live {
		if err := add(f.AddFile, f.vector); err != nil {
			return nil, err
		}
	}
	for _, f := range x.changes {
		out = appendAction(out, "cdc", appendChange(nil, f, addedTo))
	}
	return out, nil
}

// tags are what other engines must know of the commit and cannot see in its actions.
func (x *Transaction) tags(after *Snapshot) map[string]string {
	tags := make(map[string]string)
	if x.metadata != nil && x.base.metadata != nil && identityOnly(x.base.metadata, x.metadata) {
		tags[identityTag] = "true"
	}
	if after.metadata.on(rowTrackingProperty) {
		tags[rowTrackingKept] = strconv.FormatBool(!x.idsLost)
	}
	return tags
}

func notNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func appendAction(dst []byte, name string, object []byte) []byte {
	dst = append(append(append(dst, `{"`...), name...), `":`...)
	return append(append(dst, object...), "}\n"...)
}

func (p *Protocol) json() protocolJSON {
	out := protocolJSON{MinReaderVersion: p.MinReader, MinWriterVersion: p.MinWriter}
	if p.MinReader == maxReader {
		features := notNilList(p.ReaderFeatures)
		out.ReaderFeatures = &features
	}
	if p.MinWriter == maxWriter {
		features := notNilList(p.WriterFeatures)
		out.WriterFeatures = &features
	}
	return out
}

func notNilList(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

func (m *Metadata) json() metadataJSON {
	out := metadataJSON{ID: m.ID, Name: m.Name, Description: m.Description, Format: formatJSON{"parquet", map[string]string{}},
		SchemaString: m.SchemaString, PartitionColumns: notNilList(m.PartitionColumns), Configuration: notNil(m.Configuration)}
	if !m.CreatedTime.IsZero() {
		created := m.CreatedTime.UnixMilli()
		out.CreatedTime = &created
	}
	return out
}

func appendTxn(dst []byte, t txnAction) []byte {
	dst = appendJSONString(append(dst, `{"appId":`...), t.appID)
	dst = appendInt(append(dst, `,"version":`...), t.version)
	if t.lastUpdated != 0 {
		dst = appendInt(append(dst, `,"lastUpdated":`...), t.lastUpdated)
	}
	return append(dst, '}')
}

func appendDomain(dst []byte, d domainAction) []byte {
	dst = appendJSONString(append(dst, `{"domain":`...), d.domain)
	dst = appendJSONString(append(dst, `,"configuration":`...), d.configuration)
	return append(strconv.AppendBool(append(dst, `,"removed":`...), d.removed), '}')
}

func appendChange(dst []byte, f AddFile, partitions []partitionKey) []byte {
	dst = appendJSONString(append(dst, `{"path":`...), encodePath(f.Path))
	dst = appendPartitionValues(append(dst, `,"partitionValues":`...), f.PartitionValues, partitions)
	dst = appendInt(append(dst, `,"size":`...), f.Size)
	return append(dst, `,"dataChange":false}`...)
}

func appendAdd(dst []byte, f AddFile, partitions []partitionKey, dataChange bool) []byte {
	dst = appendJSONString(append(dst, `{"path":`...), encodePath(f.Path))
	dst = appendPartitionValues(append(dst, `,"partitionValues":`...), f.PartitionValues, partitions)
	dst = appendInt(append(dst, `,"size":`...), f.Size)
	dst = appendInt(append(dst, `,"modificationTime":`...), f.ModTime.UnixMilli())
	dst = strconv.AppendBool(append(dst, `,"dataChange":`...), dataChange)
	if f.Stats != "" {
		dst = appendJSONString(append(dst, `,"stats":`...), f.Stats)
	}
	if f.extra != nil {
		dst = f.extra.append(dst)
	}
	return append(dst, '}')
}

func appendRemove(dst []byte, f File, partitions []partitionKey, nowMs int64, dataChange bool) []byte {
	dst = appendJSONString(append(dst, `{"path":`...), encodePath(f.Path))
	dst = appendInt(append(dst, `,"deletionTimestamp":`...), nowMs)
	dst = strconv.AppendBool(append(dst, `,"dataChange":`...), dataChange)
	dst = append(dst, `,"extendedFileMetadata":true,"partitionValues":`...)
	dst = appendPartitionValues(dst, f.PartitionValues, partitions)
	dst = appendInt(append(dst, `,"size":`...), f.Size)
	if f.extra != nil {
		dst = f.extra.append(dst)
	}
	return append(dst, '}')
}

// append writes the fields as further fields of an action.
func (e *fileExtra) append(dst []byte) []byte {
	if len(e.tags) > 0 {
		dst = append(append(dst, `,"tags":`...), mustJSON(e.tags)...)
	}
	if e.dv != nil {
		dst = appendJSONString(append(dst, `,"deletionVector":{"storageType":`...), e.dv.storageType)
		dst = appendJSONString(append(dst, `,"pathOrInlineDv":`...), e.dv.pathOrInlineDv)
		if e.dv.offset != nil {
			dst = appendInt(append(dst, `,"offset":`...), int64(*e.dv.offset))
		}
		dst = appendInt(append(dst, `,"sizeInBytes":`...), int64(e.dv.sizeInBytes))
		dst = appendInt(append(dst, `,"cardinality":`...), e.dv.cardinality)
		dst = append(dst, '}')
	}
	if e.baseRowID != nil {
		dst = appendInt(append(dst, `,"baseRowId":`...), *e.baseRowID)
	}
	if e.defaultRowCommitVersion != nil {
		dst = appendInt(append(dst, `,"defaultRowCommitVersion":`...), *e.defaultRowCommitVersion)
	}
	if e.clusteringProvider != "" {
		dst = appendJSONString(append(dst, `,"clusteringProvider":`...), e.clusteringProvider)
	}
	return dst
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// appendPartitionValues writes the value of each partition column, null where there is none, by the names that files have.
func appendPartitionValues(dst []byte, values map[string]string, partitions []partitionKey) []byte {
	dst = append(dst, '{')
	for i, p := range partitions {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, p.stored), ':')
		if v := values[p.column]; v != "" {
			dst = appendJSONString(dst, v)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}
