package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"lakesql/stream"
)

// httpHandler serves /healthz, /healthz/streams, /metrics and /debug/pprof.
func (s *Server) httpHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { s.health(w, false) })
	mux.HandleFunc("GET /healthz/streams", func(w http.ResponseWriter, _ *http.Request) { s.health(w, true) })
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{Registry: s.metrics.registry}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// health names the streams that are FAILED or STALLED. It is 503 when the server takes no clients, and where streams counts also when there is
// such a stream: who restarts a server that is ill would do so for nothing, because a stream that has failed stays failed.
func (s *Server) health(w http.ResponseWriter, streams bool) {
	if s.handler.base.Err() != nil {
		http.Error(w, errShutdown.Error(), http.StatusServiceUnavailable)
		return
	}
	ill := s.illStreams()
	status, text := http.StatusOK, "ok\n"
	if len(ill) > 0 {
		if streams {
			status = http.StatusServiceUnavailable
		}
		text = fmt.Sprintf("%d streams are FAILED or STALLED\n%s", len(ill), strings.Join(ill, ""))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	if _, err := io.WriteString(w, text); err != nil {
		s.cfg.Logger.Debug("answer a health check", "error", err)
	}
}

// illStreams has a line for each stream that does not go on by itself.
func (s *Server) illStreams() (lines []string) {
	if s.cfg.Streams == nil {
		return nil
	}
	for _, st := range s.cfg.Streams.List() {
		if st.State == stream.Failed || st.State == stream.Stalled {
			lines = append(lines, fmt.Sprintf("%s %s since %s: %s\n", st.Definition.FullName(), st.State, st.Since.UTC().Format(time.RFC3339),
				strings.ReplaceAll(st.Reason, "\n", " ")))
		}
	}
	return lines
}
