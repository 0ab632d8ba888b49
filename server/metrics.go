package server

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
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

func newMetrics(cfg Config) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		started:  time.Now(),
		statements: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lakesql_statements_total", Help: "Statements that have ended, by MySQL's error number; 0: no error."}, []string{"errno"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "lakesql_statement_duration_seconds", Help: "How long statements took, their results sent.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10)}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "lakesql_build_info", Help: "1, with the version as a label.",
		ConstLabels: prometheus.Labels{"version": cfg.Version, "goversion": runtime.Version()}})
	build.Set(1)
	m.registry.MustRegister(build, m.statements, m.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		gaugeFunc("lakesql_connections", "Clients that are connected.", func() int64 { return m.threads.Load() }))
	if cfg.Memory != nil {
		m.registry.MustRegister(
			gaugeFunc("lakesql_memory_used_bytes", "What statements and the batches of streams hold in memory.", func() int64 { used, _ := cfg.Memory(); return used }),
			gaugeFunc("lakesql_memory_limit_bytes", "What they may hold together; what is more is spilled to disk.", func() int64 { _, limit := cfg.Memory(); return limit }))
	}
	if cfg.Streams != nil {
		m.registry.MustRegister(streamCollector{cfg.Streams})
	}
	return m
}

func gaugeFunc(name, help string, value func() int64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
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

// statistics answers COM_STATISTICS, which is what a MySQL client's status command shows: those of MySQL's numbers that there are here.
func (m *metrics) statistics() string {
	uptime, questions := time.Since(m.started), m.questions.Load()
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Queries per second avg: %.3f",
		int(uptime.Seconds()), m.threads.Load(), questions, float64(questions)/max(1, uptime.Seconds()))
}
