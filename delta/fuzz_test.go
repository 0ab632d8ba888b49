package delta

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedFiles adds files of the shared tables to a corpus, where they are there.
func seedFiles(f *testing.F, patterns ...string) {
	dir := os.Getenv("LAKESQL_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(dir, "tables", "*", logFolder, p))
		require.NoError(f, err)
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && len(data) < 64<<10 {
				f.Add(data)
			}
		}
	}
}

// FuzzCheckpoint reads damaged checkpoints as Parquet: a table opens, or the error names the file and is ErrCorrupt, or what this build does not
// support where the damage says so.
func FuzzCheckpoint(f *testing.F) {
	for _, policy := range []string{"classic", "v2"} {
		st := richTable(f, policy)
		s, err := NewTable(st).newest(ctx)
		require.NoError(f, err)
		require.NoError(f, writeCheckpoint(ctx, st, s, richTime))
		for info, err := range st.List(ctx, logFolder, "", "") {
			require.NoError(f, err)
			if strings.HasSuffix(info.Key, ".parquet") {
				data, err := st.Get(ctx, info.Key)
				require.NoError(f, err)
				f.Add(data)
			}
		}
	}
	seedFiles(f, "*.checkpoint*.parquet", "_sidecars/*.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		st := memoryStore(t)
		require.NoError(t, st.PutIfAbsent(ctx, checkpointKey(3), data))
		s, err := NewTable(st).newest(ctx)
		var refused *UnsupportedError
		if errors.As(err, &refused) {
			require.ErrorContains(t, err, "00000000000000000003.checkpoint.parquet")
			return
		}
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			require.Regexp(t, "^checkpoint .+ cannot be read|version 3 of", err.Error(), "the file, or a sidecar that it names")
			return
		}
		for file := range s.Files() {
			_, _ = file.Stats() // damaged statistics are an error of their own
		}
	})
}

// FuzzState reads any protocol and metadata: what is taken can be checked, written and read again.
func FuzzState(f *testing.F) {
	for _, line := range strings.Split(richCommits, "\n") {
		f.Add([]byte(line))
	}
	seedFiles(f, "00000000000000000000.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCommit("f", 0, text)
		if err != nil {
			require.ErrorIs(t, err, ErrCorrupt)
			return
		}
		s := newSnapshot("mem://t")
		s.apply(newFileLog("mem://t"), c)
		if s.complete() != nil {
			return
		}
		_, _ = readable(s)
		_ = CheckWritable(s)
		again, err := parseMetadata(mustJSON(s.metadata.json()))
		require.NoError(t, err)
		require.True(t, again.Equal(s.metadata), "%+v %+v", again, s.metadata)
		_, err = parseProtocol(mustJSON(s.protocol.json()))
		require.NoError(t, err)
	})
}

// FuzzLastCheckpoint takes a hint or leaves it.
func FuzzLastCheckpoint(f *testing.F) {
	f.Add([]byte(`{"version":1,"size":2,"checksum":"x","a":[1,2,{"b":null}]}`))
	seedFiles(f, "_last_checkpoint")
	f.Fuzz(func(t *testing.T, data []byte) {
		if version, ok := parseLastCheckpoint(data); ok {
			require.True(t, json.Valid(data))
			require.GreaterOrEqual(t, version, int64(0))
		}
		if leaves, err := hintLeaves(data); err == nil {
			require.Len(t, leaves.sum(byPath), 32)
		}
	})
}

// FuzzChecksum takes a checksum or leaves it.
func FuzzChecksum(f *testing.F) {
	f.Add([]byte(`{"tableSizeBytes":1,"numFiles":1,"metadata":{"id":"i"},"protocol":{"minReaderVersion":1}}`))
	seedFiles(f, "0*.crc")
	f.Fuzz(func(t *testing.T, data []byte) {
		c := parseChecksum(data)
		if c == nil {
			return
		}
		if err := c.contradicts(newSnapshot("mem://t")); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzLogNames: a name is taken for what writing it gives back.
func FuzzLogNames(f *testing.F) {
	for _, name := range []string{"00000000000000000001.json", "00000000000000000001.crc", "00000000000000000001.00000000000000000003.compacted.json",
		"00000000000000000001.checkpoint.parquet", "00000000000000000001.checkpoint.0000000001.0000000002.parquet", "00000000000000000001.checkpoint.u.json",
		"99999999999999999999.json", "+0000000000000000001.json", "_last_checkpoint"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		switch name := parseLogName(logFolder + text); name.kind {
		case commitFile:
			require.Equal(t, logFolder+text, commitKey(name.version))
		case checksumFile:
			require.Equal(t, logFolder+text, checksumKey(name.version))
		case classicCheckpoint:
			require.Equal(t, logFolder+text, checkpointKey(name.version))
		case compactionFile:
			require.Equal(t, logFolder+text, versionRange{name.version, name.end}.key())
		case multiPartCheckpoint, uuidCheckpoint:
			require.True(t, strings.HasPrefix(text, fmt.Sprintf("%020d.checkpoint.", name.version)))
		}
	})
}
