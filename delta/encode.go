package delta

import (
	"strconv"
	"time"

	"lakesql/version"
)

// commitInfoJSON are the fields of commitInfo that this package writes, in Spark's order.
type commitInfoJSON struct {
	Timestamp           int64             `json:"timestamp"`
	Operation           string            `json:"operation"`
	OperationParameters map[string]string `json:"operationParameters"`
	ReadVersion         *int64            `json:"readVersion,omitempty"`
	IsolationLevel      string            `json:"isolationLevel"`
	IsBlindAppend       bool              `json:"isBlindAppend"`
	OperationMetrics    map[string]string `json:"operationMetrics"`
	EngineInfo          string            `json:"engineInfo"`
	TxnID               string            `json:"txnId"`
}

// engineInfo names this program in commits.
func engineInfo() string { return "lakesql/" + version.String() }

// encode writes the commit: commitInfo first, then txn, protocol, metaData, remove and add, a line each.
func (x *Transaction) encode(op Operation, id string, now time.Time) []byte {
	nowMs := now.UnixMilli()
	info := commitInfoJSON{Operation: op.Name, OperationParameters: notNil(op.Parameters), IsolationLevel: x.isolation(),
		IsBlindAppend: x.blindAppend(), OperationMetrics: notNil(op.Metrics), EngineInfo: engineInfo(), TxnID: id}
	var partitionColumns []string
	if x.read != nil {
		version := x.read.Version()
		info.ReadVersion = &version
		nowMs = max(nowMs, x.read.Timestamp().UnixMilli()+1) // a clock that was set back must not turn the history round
		partitionColumns = x.read.metadata.PartitionColumns
	}
	info.Timestamp = nowMs
	out := appendAction(nil, "commitInfo", mustJSON(info))
	for _, t := range x.txns {
		t.lastUpdated = nowMs
		out = appendAction(out, "txn", appendTxn(nil, t))
	}
	if x.protocol != nil {
		out = appendAction(out, "protocol", mustJSON(x.protocol.json()))
	}
	if x.metadata != nil {
		out = appendAction(out, "metaData", mustJSON(x.metadata.json()))
		partitionColumns = x.metadata.PartitionColumns
	}
	for _, f := range x.removes {
		out = appendAction(out, "remove", appendRemove(nil, f, partitionColumns, nowMs))
	}
	for _, f := range x.adds {
		out = appendAction(out, "add", appendAdd(nil, f, partitionColumns))
	}
	return out
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
	dst = appendInt(append(dst, `,"lastUpdated":`...), t.lastUpdated)
	return append(dst, '}')
}

func appendAdd(dst []byte, f AddFile, partitionColumns []string) []byte {
	dst = appendJSONString(append(dst, `{"path":`...), encodePath(f.Path))
	dst = appendPartitionValues(append(dst, `,"partitionValues":`...), f.PartitionValues, partitionColumns)
	dst = appendInt(append(dst, `,"size":`...), f.Size)
	dst = appendInt(append(dst, `,"modificationTime":`...), f.ModTime.UnixMilli())
	dst = append(dst, `,"dataChange":true`...)
	if f.Stats != "" {
		dst = appendJSONString(append(dst, `,"stats":`...), f.Stats)
	}
	return append(dst, '}')
}

func appendRemove(dst []byte, f File, partitionColumns []string, nowMs int64) []byte {
	dst = appendJSONString(append(dst, `{"path":`...), encodePath(f.Path))
	dst = appendInt(append(dst, `,"deletionTimestamp":`...), nowMs)
	dst = append(dst, `,"dataChange":true,"extendedFileMetadata":true,"partitionValues":`...)
	dst = appendPartitionValues(dst, f.PartitionValues, partitionColumns)
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

// appendPartitionValues writes the value of each partition column, null where there is none.
func appendPartitionValues(dst []byte, values map[string]string, columns []string) []byte {
	dst = append(dst, '{')
	for i, c := range columns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, c), ':')
		if v, ok := values[c]; ok && v != "" {
			dst = appendJSONString(dst, v)
		} else {
			dst = append(dst, "null"...)
		}
	}
	return append(dst, '}')
}
