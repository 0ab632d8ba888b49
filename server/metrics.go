package server

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"lakesql/stream"
)

// metrics is what the server counts, in a registry of its own.
type metrics struct {
	registry   *prometheus.Registry
	started    time.Time
	threads    atomic.Int64  // clients that are connected
	questions  atomic.Uint64 // statements that have ended
	statements *prometheus.CounterVec
	seconds    prometheus.Histogram
}

func newMetrics(streams Streams) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		started:  time.Now(),
		statements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lakesql_statements_total", Help: "Statements that have ended, by MySQL's error number; 0: no error."}, []string{"errno"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lakesql_statement_seconds", Help: "How long statements took, their results sent.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10)}),
	}
	connections := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "lakesql_connections", Help: "Clients that are connected."}, func() float64 { return float64(m.threads.Load()) })
	m.registry.MustRegister(connections, m.statements, m.seconds, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if streams != nil {
		m.registry.MustRegister(streamCollector{streams})
	}
	return m
}

// observe counts a statement that has ended.
func (m *metrics) observe(took time.Duration, e *mysql.SQLError) {
	number := 0
	if e != nil {
		number = e.Num
	}
	m.questions.Add(1)
	m.statements.WithLabelValues(fmt.Sprint(number)).Inc()
	m.seconds.Observe(took.Seconds())
}

// statistics answers COM_STATISTICS, which is what a MySQL client's status command shows.
func (m *metrics) statistics() string {
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d", int(time.Since(m.started).Seconds()), m.threads.Load(), m.questions.Load())
}

// streamCollector reads the streams' state when it is asked.
type streamCollector struct{ streams Streams }

var (
	streamLabels = []string{"database", "stream"}

	streamState = prometheus.NewDesc("lakesql_stream_state", "1 for the state that the stream is in.",
		append(streamLabels[:2:2], "state"), nil)
	streamNumbers = []struct {
		desc  *prometheus.Desc
		kind  prometheus.ValueType
		value func(stream.Status) int64
	}{
		{streamDesc("last_batch", "The id of the last batch that was committed; -1: none."), prometheus.GaugeValue,
			func(s stream.Status) int64 { return s.LastBatchID }},
		{streamDesc("rows_total", "Rows written since the server started."), prometheus.CounterValue,
			func(s stream.Status) int64 { return s.RowsWritten }},
		{streamDesc("error_rows_total", "Malformed rows since the server started."), prometheus.CounterValue,
			func(s stream.Status) int64 { return s.ErrorRows }},
		{streamDesc("backlog_files", "Source files that are not in the table yet."), prometheus.GaugeValue,
			func(s stream.Status) int64 { return s.BacklogFiles }},
		{streamDesc("backlog_bytes", "Their size."), prometheus.GaugeValue,
			func(s stream.Status) int64 { return s.BacklogBytes }},
		{streamDesc("failed_attempts", "Failed attempts since the last success."), prometheus.GaugeValue,
			func(s stream.Status) int64 { return int64(s.Attempts) }},
		{streamDesc("restarts_total", "Starts and retries since the server started."), prometheus.CounterValue,
			func(s stream.Status) int64 { return int64(s.Restarts) }},
	}
	streamStates = []stream.State{stream.Starting, stream.Running, stream.Idle, stream.Paused, stream.Retrying, stream.Stalled,
		stream.Failed, stream.Finished}
)

func streamDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("lakesql_stream_"+name, help, streamLabels, nil)
}

// Describe names the metrics.
func (c streamCollector) Describe(out chan<- *prometheus.Desc) {
	out <- streamState
	for _, n := range streamNumbers {
		out <- n.desc
	}
}

// Collect reads them.
func (c streamCollector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.streams.List() {
		database, name := s.Definition.Database, s.Definition.Name
		for _, n := range streamNumbers {
			out <- prometheus.MustNewConstMetric(n.desc, n.kind, float64(n.value(s)), database, name)
		}
		for _, state := range streamStates {
			in := 0.0
			if s.State == state {
				in = 1
			}
			out <- prometheus.MustNewConstMetric(streamState, prometheus.GaugeValue, in, database, name, string(state))
		}
	}
}
