package checkpoint

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

func FuzzOffsets(f *testing.F) {
	for _, seed := range []string{sparkOffsets35, "v1\n{}\n-", "v1\r\n{\"conf\":null}\r\n1\r\n", "", "v1", "v2\n", "v1\n{}\n\n1", "v", "v1\n{\"conf\":\x00}\n1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, kind, err := splitLog(data)
		if err != nil {
			require.Contains(t, []Kind{Damaged, UnsupportedVersion}, kind)
			return
		}
		o, err := decodeOffsets(lines)
		if err != nil {
			return
		}
		written, err := encodeOffsets(o)
		require.NoError(t, err, "what can be read can be written")
		lines, _, err = splitLog(written)
		require.NoError(t, err)
		again, err := decodeOffsets(lines)
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

func FuzzCommit(f *testing.F) {
	for _, seed := range []string{"v1\n{\"nextBatchWatermarkMs\":0}", "v1", "v1\n{}", "v1\n{\"nextBatchWatermarkMs\":1e3}", "v1\n\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines, _, err := splitLog(data)
		if err != nil {
			return
		}
		watermark, err := decodeCommit(lines)
		if err != nil {
			return
		}
		lines, _, err = splitLog(encodeCommit(watermark))
		require.NoError(t, err)
		again, err := decodeCommit(lines)
		require.NoError(t, err)
		require.Equal(t, watermark, again)
	})
}

func FuzzEntry(f *testing.F) {
	for _, seed := range []string{
		`{"path":"file:///a%20b","timestamp":1,"batchId":0}`, `{"batchId":2, "timestamp":-2, "path":"\u00e9\"\\"}`, `{"path":"","timestamp":007,"batchId":0}`,
		`{"path":"x","timestamp":1,"batchId":0,"more":{}}`, `{"path":"a","timestamp":","timestamp":1,"batchId":0}`, `{}`, `{"path":"` + "\xff" + `","timestamp":1,"batchId":0}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, err := parseEntry(line)
		if err != nil {
			return
		}
		if plain, ok := parsePlainEntry(line); ok {
			require.Equal(t, e, plain)
		}
		written, err := appendEntry(nil, e)
		require.NoError(t, err)
		again, err := parseEntry(string(written))
		require.NoError(t, err)
		require.Equal(t, e, again)
	})
}

func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{`{"id":"7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11"}`, `{"id":"{7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11}"}`, `{"id":7}`, ``, `null`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := decodeMetadata(data)
		if err != nil {
			return
		}
		again, err := decodeMetadata(encodeMetadata(id))
		require.NoError(t, err)
		require.Equal(t, id, again)
	})
}

func FuzzCopyEntry(f *testing.F) {
	for _, seed := range []string{
		"v1\n" + `{"table":"id","before":-1}` + "\n" + `{"path":"file:///a","timestamp":1,"batchId":5}`, "v1\n{\"table\":\"id\",\"before\":-1}", "v1", "v2", "",
		"v1\n{\"table\":\"id\",\"before\":5}", "v1\r\n{\"table\":\"id\",\"before\":-7}\r\n\r\n{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		st := store.NewMemory("file:///t")
		require.NoError(t, st.MakeRoot(t.Context()))
		require.NoError(t, st.PutIfAbsent(t.Context(), copyKey(5), data))
		log := NewCopyLog(st)
		got, err := log.Read(t.Context(), "id", 5, true)
		if err != nil {
			return
		}
		e, err := log.Add(t.Context(), got, 5, got.all())
		require.NoError(t, err, "what can be read can be written")
		again, err := log.Read(t.Context(), "id", e.ID, true)
		require.NoError(t, err)
		require.Equal(t, got.paths, again.paths)
	})
}

func (c *Copied) all() (out []SourceEntry) {
	for _, e := range c.chain {
		out = append(out, e.files...)
	}
	return out
}
