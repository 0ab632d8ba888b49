package deltatable

import (
	"encoding/json"
	"fmt"

	"lakesql/stream/source"
)

// position is a place in the table: behind file index of a version; -1 is before its first file.
type position struct {
	id      string // metaData.id of the table
	version int64
	index   int64
	initial bool // index counts the files of the snapshot, not those of the commit
}

// before is the position before the first file of a commit.
func before(id string, version int64) position {
	return position{id: id, version: version, index: beforeFirst}
}

const beforeFirst = -1

// offsetText is DeltaSourceOffset of delta-spark, in the order of its fields.
type offsetText struct {
	SourceVersion     int64  `json:"sourceVersion"`
	ReservoirID       string `json:"reservoirId"`
	ReservoirVersion  int64  `json:"reservoirVersion"`
	Index             int64  `json:"index"`
	IsStartingVersion bool   `json:"isStartingVersion"`
}

// The versions of the format of offsets. Delta writes 1, and 3 where it has marks of changes of the schema.
const (
	plainOffset  = 1
	markedOffset = 3
)

// Indexes that only offsets of version 3 have.
const (
	beforeFirst3     = -100
	metadataChange   = -20
	metadataChanged  = -19
	invalidOffsetFmt = "[DELTA_INVALID_SOURCE_OFFSET_FORMAT] offset %s in the checkpoint is not one of a Delta table: %s"
)

func formatOffset(p position) (source.Offset, error) {
	text, err := json.Marshal(offsetText{plainOffset, p.id, p.version, p.index, p.initial})
	return source.Offset(text), err
}

// parseOffset reads an offset that is not None.
func parseOffset(o source.Offset) (position, error) {
	var t offsetText
	if err := json.Unmarshal([]byte(o), &t); err != nil {
		return position{}, refuse(source.ErrChanged, invalidOffsetFmt, o, err)
	}
	bad := func(what string) (position, error) {
		return position{}, refuse(source.ErrChanged, invalidOffsetFmt, o, what)
	}
	switch {
	case t.SourceVersion != plainOffset && t.SourceVersion != markedOffset:
		return bad(fmt.Sprintf("its sourceVersion is %d, and 1 and 3 can be read", t.SourceVersion))
	case t.ReservoirID == "" || t.ReservoirVersion < 0:
		return bad("it names no version of a table")
	case t.SourceVersion == markedOffset && (t.Index == metadataChange || t.Index == metadataChanged):
		return bad("it marks a change of the schema that Spark follows by schemaTrackingLocation, which cannot be continued here. Let Spark run one more batch, " +
			"or begin a new stream with startingVersion")
	case t.SourceVersion == markedOffset && t.Index == beforeFirst3:
		t.Index = beforeFirst
	case t.Index < beforeFirst:
		return bad(fmt.Sprintf("it has index %d", t.Index))
	}
	return position{t.ReservoirID, t.ReservoirVersion, t.Index, t.IsStartingVersion}, nil
}
