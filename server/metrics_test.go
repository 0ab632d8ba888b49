package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"lakesql/stream"
)

// scrape reads /metrics as Prometheus does.
func scrape(t *testing.T, ts *testServer) (text string, families map[string]*dto.MetricFamily) {
	t.Helper()
	status, text := get(t, ts, "/metrics")
	require.Equal(t, http.StatusOK, status)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return text, families
}

// of returns the metric with these labels.
func of(t *testing.T, family *dto.MetricFamily, labels map[string]string) *dto.Metric {
	t.Helper()
	for _, m := range family.GetMetric() {
		same := len(m.GetLabel()) == len(labels)
		for _, l := range m.GetLabel() {
			same = same && labels[l.GetName()] == l.GetValue()
		}
		if same {
			return m
		}
	}
	require.Fail(t, "no such metric", "%s %v", family.GetName(), labels)
	return nil
}

func TestMetrics(t *testing.T) {
	ts := startServer(t)
	committed := time.UnixMilli(1_700_000_000_500)
	st := stream.Status{Definition: stream.Definition{Database: "lake", Name: `odd"name`}, State: stream.Retrying, LastBatchID: 7, LastCommitVersion: -1,
		LastCommitTime: committed, RowsWritten: 12, ErrorRows: 3, Restarts: 2, Attempts: 1, BacklogFiles: 5, BacklogBytes: 1024, NextAttempt: committed.Add(time.Second)}
	st.Batches = stream.Durations{Count: 2, Sum: 3 * time.Second}
	for i := range st.Batches.Within {
		st.Batches.Within[i] = uint64(min(i, 2))
	}
	ts.streams.list = []stream.Status{st}
	require.NoError(t, ts.open(t, "").Ping())
	require.Error(t, drainRows(ts.open(t, "").Query("SELECT nothing")))

	text, families := scrape(t, ts)
	labels := map[string]string{"database": "lake", "stream": `odd"name`}
	for name, want := range map[string]float64{
		"last_batch_id": 7, "last_commit_timestamp_seconds": 1_700_000_000.5, "backlog_files": 5, "backlog_bytes": 1024, "backlog_rows": 0, "waiting_files": 0,
		"failed_attempts": 1, "next_attempt_timestamp_seconds": 1_700_000_001.5,
	} {
		require.Equal(t, want, of(t, families["lakesql_stream_"+name], labels).GetGauge().GetValue(), name)
	}
	for name, want := range map[string]float64{"batches_total": 2, "rows_total": 12, "error_rows_total": 3, "restarts_total": 2} {
		require.Equal(t, want, of(t, families["lakesql_stream_"+name], labels).GetCounter().GetValue(), name)
	}
	require.NotContains(t, families, "lakesql_stream_last_commit_version", "it is not known")
	took := of(t, families["lakesql_stream_batch_duration_seconds"], labels).GetHistogram()
	require.EqualValues(t, 2, took.GetSampleCount())
	require.Equal(t, 3.0, took.GetSampleSum())
	require.Len(t, took.GetBucket(), len(stream.DurationBounds)+1)
	require.Len(t, families["lakesql_stream_state"].GetMetric(), 8)
	for state, want := range map[string]float64{"RETRYING": 1, "RUNNING": 0} {
		require.Equal(t, want, of(t, families["lakesql_stream_state"], map[string]string{"database": "lake", "stream": `odd"name`, "state": state}).GetGauge().GetValue())
	}
	none := map[string]string{}
	for name, want := range map[string]float64{
		"stream_workers": 8, "stream_workers_busy": 3, "stream_workers_waiting": 0, "memory_used_bytes": 10, "memory_limit_bytes": 100, "connections": 2,
	} {
		require.Equal(t, want, of(t, families["lakesql_"+name], none).GetGauge().GetValue(), name)
	}
	require.EqualValues(t, 1, of(t, families["lakesql_statements_total"], map[string]string{"errno": "1054"}).GetCounter().GetValue())
	require.NotZero(t, of(t, families["lakesql_statement_duration_seconds"], none).GetHistogram().GetSampleCount())
	build := families["lakesql_build_info"].GetMetric()[0]
	require.Equal(t, 1.0, build.GetGauge().GetValue())
	require.Equal(t, "test", build.GetLabel()[1].GetValue())

	for name, f := range families {
		require.NotEmpty(t, f.GetHelp(), name)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	require.NoError(t, err)
	for _, p := range problems {
		require.NotContains(t, p.Metric, "lakesql", "%s", p.Text)
	}
}

func TestHealth(t *testing.T) {
	ts := startServer(t)
	ask := func(path string, want int) string {
		status, body := get(t, ts, path)
		require.Equal(t, want, status, path)
		return body
	}
	since := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	of := func(name string, state stream.State, reason string) stream.Status {
		return stream.Status{Definition: stream.Definition{Database: "lake", Name: name}, State: state, Reason: reason, Since: since}
	}
	set := func(list ...stream.Status) {
		ts.streams.mu.Lock()
		defer ts.streams.mu.Unlock()
		ts.streams.list = list
	}
	set(of("a", stream.Idle, ""), of("b", stream.Paused, "stopped"), of("c", stream.Retrying, "the disk is full"))
	require.Equal(t, "ok\n", ask("/healthz", http.StatusOK))
	require.Equal(t, "ok\n", ask("/healthz/streams", http.StatusOK), "it goes on by itself")

	set(of("a", stream.Failed, "two\nlines"), of("b", stream.Stalled, "no commit"), of("c", stream.Idle, ""))
	want := "2 streams are FAILED or STALLED\nlake.a FAILED since 2026-11-30T12:00:00Z: two lines\nlake.b STALLED since 2026-11-30T12:00:00Z: no commit\n"
	require.Equal(t, want, ask("/healthz", http.StatusOK), "the server is well")
	require.Equal(t, want, ask("/healthz/streams", http.StatusServiceUnavailable))

	ts.stop(errShutdown)
	require.Contains(t, ask("/healthz", http.StatusServiceUnavailable), "shuts down")
}

func TestProfiles(t *testing.T) {
	status, body := get(t, startServer(t), "/debug/pprof/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "goroutine")
}

func get(t *testing.T, ts *testServer, path string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+ts.cfg.HTTP.Addr().String()+path, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(all)
}
