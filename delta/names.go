package delta

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	logFolder         = "_delta_log/"
	lastCheckpointKey = logFolder + "_last_checkpoint"
	versionDigits     = 20
)

func commitKey(version int64) string { return fmt.Sprintf("%s%020d.json", logFolder, version) }

func checkpointKey(version int64) string {
	return fmt.Sprintf("%s%020d.checkpoint.parquet", logFolder, version)
}

// logFileName is the name of a file of the log for messages.
func logFileName(key string) string { return strings.TrimPrefix(key, logFolder) }

// fileKind is what a file of the log is by its name.
type fileKind uint8

const (
	otherFile fileKind = iota // checksums, compactions, and what we do not know
	commitFile
	classicCheckpoint // one Parquet file, of any content
	multiPartCheckpoint
	uuidCheckpoint // a V2 checkpoint, Parquet or JSON
)

// logName is the parsed name of a file of the log.
type logName struct {
	kind        fileKind
	version     int64
	part, parts int // of a multi-part checkpoint, from 1
}

// parseLogName reads a key below the log's folder.
func parseLogName(key string) logName {
	name := logFileName(key)
	if len(name) < versionDigits+1 || name[versionDigits] != '.' {
		return logName{}
	}
	version, err := strconv.ParseInt(name[:versionDigits], 10, 64)
	if err != nil || version < 0 {
		return logName{}
	}
	out := logName{version: version}
	words := strings.Split(name[versionDigits+1:], ".")
	switch {
	case len(words) == 1 && words[0] == "json":
		out.kind = commitFile
	case words[0] != "checkpoint":
	case len(words) == 2 && words[1] == "parquet":
		out.kind = classicCheckpoint
	case len(words) == 3 && (words[2] == "parquet" || words[2] == "json"):
		out.kind = uuidCheckpoint
	case len(words) == 4 && words[3] == "parquet":
		part, err1 := strconv.Atoi(words[1])
		parts, err2 := strconv.Atoi(words[2])
		if err1 == nil && err2 == nil && 1 <= part && part <= parts {
			out.kind, out.part, out.parts = multiPartCheckpoint, part, parts
		}
	}
	return out
}
