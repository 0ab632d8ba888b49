package stream

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// TestOneLogLineABatch holds the messages and keys that docs/streams.md promises.
func TestOneLogLineABatch(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,x\n2,y\n")
	l.put("b.csv", "id,name\nbad,z\n")
	var log bytes.Buffer
	s := l.serve(func(c *Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) })
	s.faults.Add(faultstore.Rule{Match: salesCommit, Nth: 2, Before: faultstore.Fail(errors.New("the disk is on fire"))})
	s.create(sales(func(d *Definition) { oneFileABatch(d); d.SelectSQL += " schema id INT, name STRING" }))
	s.caughtUp()
	require.NoError(t, s.Close())

	lines := map[string][]map[string]any{}
	for line := range strings.Lines(log.String()) {
		var l map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		lines[l["msg"].(string)] = append(lines[l["msg"].(string)], l)
	}
	batches := lines["stream batch"]
	require.Len(t, batches, 2)
	require.Equal(t, []string{"backlog_bytes", "backlog_files", "backlog_rows", "batch", "errors", "files", "level", "ms", "msg", "rows", "stream", "time", "version", "written"},
		slices.Sorted(maps.Keys(batches[0])))
	require.Equal(t, []any{"lake.sales_in", 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0}, values(batches[0], "stream", "batch", "version", "files", "rows", "written", "errors", "backlog_files"))
	require.Equal(t, []any{1.0, 1.0, 1.0, 0.0}, values(batches[1], "batch", "rows", "errors", "backlog_files"))
	faults := lines["stream fault"]
	require.Len(t, faults, 1)
	require.Equal(t, []string{"error", "level", "msg", "retry", "retry_ms", "stream", "time"}, slices.Sorted(maps.Keys(faults[0])))
	require.Equal(t, true, faults[0]["retry"])
	require.Contains(t, faults[0]["error"], "the disk is on fire")

	st := s.state()
	require.EqualValues(t, 2, st.Batches.Count)
	require.EqualValues(t, 2, st.Batches.Within[len(DurationBounds)-1])
}

func values(line map[string]any, keys ...string) (out []any) {
	for _, k := range keys {
		out = append(out, line[k])
	}
	return out
}
