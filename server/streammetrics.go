package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lakesql/stream"
)

// streamCollector reads the streams' state when it is asked. A stream that is dropped has no metrics any more.
type streamCollector struct{ streams Streams }

var (
	streamLabels = []string{"database", "stream"}

	streamState = prometheus.NewDesc("lakesql_stream_state", "1 for the state that the stream is in, 0 for the others.",
		append(streamLabels[:2:2], "state"), nil)
	streamStates = []stream.State{stream.Starting, stream.Running, stream.Idle, stream.Paused, stream.Retrying, stream.Stalled,
		stream.Failed, stream.Finished}
	streamSeconds = streamDesc("batch_duration_seconds", "How long batches took, from the look that found them to their commit, since the server started.")

	workersMax     = prometheus.NewDesc("lakesql_stream_workers", "How many streams may open, look and run batches at once.", nil, nil)
	workersBusy    = prometheus.NewDesc("lakesql_stream_workers_busy", "How many streams do so.", nil, nil)
	workersWaiting = prometheus.NewDesc("lakesql_stream_workers_waiting", "How many streams stand in line for a worker.", nil, nil)

	// streamNumbers are the metrics with one value a stream. One that is not known is left out.
	streamNumbers = []streamNumber{
		gauge("last_batch_id", "The id of the last batch that was committed.", func(s stream.Status) (float64, bool) { return known(s.LastBatchID) }),
		gauge("last_commit_version", "The table's version of the last batch.", func(s stream.Status) (float64, bool) { return known(s.LastCommitVersion) }),
		gauge("last_commit_timestamp_seconds", "When the last batch was committed, since 1970.", func(s stream.Status) (float64, bool) { return unix(s.LastCommitTime) }),
		gauge("backlog_files", "Source files that are not in the table yet.", func(s stream.Status) (float64, bool) { return known(s.BacklogFiles) }),
		gauge("backlog_bytes", "Their size.", func(s stream.Status) (float64, bool) { return known(s.BacklogBytes) }),
		gauge("backlog_rows", "Rows of sources that count rows, such as Kafka's, that are not in the table yet.",
			func(s stream.Status) (float64, bool) { return known(s.BacklogRows) }),
		gauge("waiting_files", "Those of the backlog's files that are still being written.", func(s stream.Status) (float64, bool) { return known(s.WaitingFiles) }),
		gauge("failed_attempts", "Failed attempts since the last success.", func(s stream.Status) (float64, bool) { return float64(s.Attempts), true }),
		gauge("next_attempt_timestamp_seconds", "When a stream that is RETRYING tries again, since 1970.",
			func(s stream.Status) (float64, bool) { return unix(s.NextAttempt) }),
		counter("batches_total", "Batches committed since the server started.", func(s stream.Status) (float64, bool) { return float64(s.Batches.Count), true }),
		counter("rows_total", "Rows written since the server started.", func(s stream.Status) (float64, bool) { return known(s.RowsWritten) }),
		counter("error_rows_total", "Malformed rows since the server started.", func(s stream.Status) (float64, bool) { return known(s.ErrorRows) }),
		counter("restarts_total", "Starts and retries, but the first, since the server started.", func(s stream.Status) (float64, bool) { return float64(s.Restarts), true }),
	}
)

// streamNumber is a metric with one value a stream.
type streamNumber struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(stream.Status) (n float64, known bool)
}

func gauge(name, help string, value func(stream.Status) (float64, bool)) streamNumber {
	return streamNumber{streamDesc(name, help), prometheus.GaugeValue, value}
}

func counter(name, help string, value func(stream.Status) (float64, bool)) streamNumber {
	return streamNumber{streamDesc(name, help), prometheus.CounterValue, value}
}

func streamDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("lakesql_stream_"+name, help, streamLabels, nil)
}

func known(n int64) (float64, bool) { return float64(n), n >= 0 }

func unix(t time.Time) (float64, bool) { return float64(t.UnixMilli()) / 1000, !t.IsZero() }

// Describe names the metrics.
func (c streamCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{streamState, streamSeconds, workersMax, workersBusy, workersWaiting} {
		out <- d
	}
	for _, n := range streamNumbers {
		out <- n.desc
	}
}

// Collect reads them.
func (c streamCollector) Collect(out chan<- prometheus.Metric) {
	pool := c.streams.Workers()
	for desc, n := range map[*prometheus.Desc]int{workersMax: pool.Size, workersBusy: pool.Busy, workersWaiting: pool.Waiting} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n))
	}
	for _, s := range c.streams.List() {
		collectStream(out, s, s.Definition.Database, s.Definition.Name)
	}
}

func collectStream(out chan<- prometheus.Metric, s stream.Status, labels ...string) {
	for _, n := range streamNumbers {
		if value, ok := n.value(s); ok {
			out <- prometheus.MustNewConstMetric(n.desc, n.kind, value, labels...)
		}
	}
	buckets := make(map[float64]uint64, len(stream.DurationBounds))
	for i, bound := range stream.DurationBounds {
		buckets[bound.Seconds()] = s.Batches.Within[i]
	}
	out <- prometheus.MustNewConstHistogram(streamSeconds, s.Batches.Count, s.Batches.Sum.Seconds(), buckets, labels...)
	for _, state := range streamStates {
		in := 0.0
		if s.State == state {
			in = 1
		}
		out <- prometheus.MustNewConstMetric(streamState, prometheus.GaugeValue, in, append(labels[:len(labels):len(labels)], string(state))...)
	}
}
