package delta

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDamagedLineIsNamed(t *testing.T) {
	_, err := parseCommit("00000000000000000007.json", 7, []byte("{\"txn\":{\"appId\":\"a\",\"version\":1}}\n\n{\"add\":{\"path\":\"x\",\"si"))
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "00000000000000000007.json, line 3")
	for _, line := range []string{"null", "[]", "1", "{} {}", `{"add":1}`, `{"add":{"path":1}}`, `{"add":{}}`, `{"add":{"path":"x","size":"1"}}`, `{"add":{"path":"x",}}`, `{"txn":{"version":1.5}}`} {
		_, err := parseCommit("f", 0, []byte(line))
		require.ErrorIs(t, err, ErrCorrupt, line)
	}
}

func TestUnknownIsIgnored(t *testing.T) {
	c, err := parseCommit("f", 0, []byte("\r\n  \n{\"new\":{\"add\":{}}}\n{\"add\":{\"path\":\"a%20b\",\"new\":[1,{}],\"partitionValues\":{\"p\":null,\"q\":\"\\u00fc\"},\"stats\":null,\"deletionVector\":{\"storageType\":\"\"}},\"other\":3}\n{\"cdx\":{}}"))
	require.NoError(t, err)
	require.Len(t, c.adds, 1)
	require.Equal(t, "a%20b", string(c.adds[0].path))
	require.Equal(t, map[string]string{"q": "ü"}, c.adds[0].partition)
	require.Nil(t, c.adds[0].extra, "no storage type is no deletion vector")
}

// FuzzCommitLine: exactly what encoding/json takes for JSON is taken, and nothing panics.
func FuzzCommitLine(f *testing.F) {
	f.Add([]byte(`{"add":{"path":"a","partitionValues":{"p":"1","q":null},"size":1,"modificationTime":2,"dataChange":true,"stats":"{\"numRecords\":1}"}}`))
	f.Add([]byte(`{"add":{"path":"a\u00e9\ud83d\ude00\ud800","size":-0}}`))
	f.Add([]byte(`{"txn":{"appId":"x","version":9223372036854775807}}`))
	f.Add([]byte(`{"remove":{"path":"a","deletionTimestamp":1,"extendedFileMetadata":true,"tags":{"a":"b"}}}`))
	f.Add([]byte(`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["x"]}}`))
	f.Add([]byte(`{"a":[1,2.5e+10,true,false,null,"\\\"",{}]}`))
	f.Add([]byte(`{"add":`))
	files, err := filepath.Glob("../../shared/tables/*/_delta_log/00000000000000000001.json")
	require.NoError(f, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(f, err)
		for line := range bytes.Lines(data) {
			f.Add(bytes.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), nil)
		trimmed := bytes.TrimSpace(line)
		require.Equal(t, json.Valid(trimmed), validJSON(trimmed), "%q", trimmed)
		if _, err := parseCommit("f", 0, line); err == nil && len(trimmed) > 0 {
			require.True(t, json.Valid(trimmed), "%q", trimmed)
		}
	})
}

// FuzzAdd reads back adds that encoding/json wrote.
func FuzzAdd(f *testing.F) {
	f.Add("a%20b", "p", "ü\"\\\u2028", `{"numRecords":1}`, int64(5), int64(-1))
	f.Add("x", "", "", "", int64(0), int64(1<<62))
	f.Fuzz(func(t *testing.T, path, column, value, stats string, size, modTime int64) {
		if path == "" {
			return
		}
		type add struct {
			Path             string            `json:"path"`
			PartitionValues  map[string]string `json:"partitionValues"`
			Size             int64             `json:"size"`
			ModificationTime int64             `json:"modificationTime"`
			Stats            string            `json:"stats"`
		}
		line, err := json.Marshal(map[string]add{"add": {path, map[string]string{column: value}, size, modTime, stats}})
		require.NoError(t, err)
		var want map[string]add // what is no UTF-8 has become U+FFFD
		require.NoError(t, json.Unmarshal(line, &want))
		c, err := parseCommit("f", 0, line)
		require.NoError(t, err)
		require.Len(t, c.adds, 1)
		got := c.adds[0]
		require.Equal(t, want["add"], add{string(got.path), got.partition, got.size, got.modTime, string(got.stats)})
	})
}

func TestOtherDataFormatsAreRefused(t *testing.T) {
	_, err := parseCommit("00000000000000000000.json", 0, []byte(`{"metaData":{"id":"i","format":{"provider":"orc"},"schemaString":"{}"}}`))
	var refused *UnsupportedError
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, `00000000000000000000.json, line 1`)
	require.ErrorContains(t, err, `data format "orc" (only parquet is)`)
}
