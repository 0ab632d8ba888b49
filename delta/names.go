package delta

import (
	"strconv"
	"strings"
)

const (
	logFolder         = "_delta_log/"
	lastCheckpointKey = logFolder + "_last_checkpoint"
	versionDigits     = 20
)

func commitKey(version int64) string { return versionKey(version, ".json") }

func checksumKey(version int64) string { return versionKey(version, ".crc") }

func checkpointKey(version int64) string { return versionKey(version, ".checkpoint.parquet") }

// versionKey is the key of a file of a version. A replay asks for thousands.
func versionKey(version int64, suffix string) string {
	const zeros = "00000000000000000000"
	digits := strconv.FormatInt(version, 10)
	return logFolder + zeros[len(digits):versionDigits] + digits + suffix
}

// logFileName is the name of a file of the log for messages.
func logFileName(key string) string { return strings.TrimPrefix(key, logFolder) }

// fileKind is what a file of the log is by its name.
type fileKind uint8

const (
	otherFile fileKind = iota // what we do not know
	commitFile
	compactionFile // the commits of several versions in one
	checksumFile
	classicCheckpoint // one Parquet file, of any content
	multiPartCheckpoint
	uuidCheckpoint // a V2 checkpoint, Parquet or JSON
)

// logName is the parsed name of a file of the log.
type logName struct {
	kind        fileKind
	version     int64
	end         int64 // the last version of a compaction
	part, parts int   // of a multi-part checkpoint, from 1
}

// parseLogName reads a key below the log's folder.
func parseLogName(key string) logName {
	name := logFileName(key)
	if len(name) < versionDigits+1 || name[versionDigits] != '.' {
		return logName{}
	}
	version, ok := parseVersion(name[:versionDigits])
	if !ok {
		return logName{}
	}
	out := logName{version: version}
	words := strings.Split(name[versionDigits+1:], ".")
	switch {
	case len(words) == 1 && words[0] == "json":
		out.kind = commitFile
	case len(words) == 1 && words[0] == "crc":
		out.kind = checksumFile
	case len(words) == 3 && words[1] == "compacted" && words[2] == "json":
		if end, ok := parseVersion(words[0]); ok && end > version {
			out.kind, out.end = compactionFile, end
		}
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

// parseVersion reads a version as names have it.
func parseVersion(digits string) (version int64, ok bool) {
	if len(digits) != versionDigits || digits[0] < '0' { // a sign
		return 0, false
	}
	version, err := strconv.ParseInt(digits, 10, 64)
	return version, err == nil
}
