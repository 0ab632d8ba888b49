package server

import (
	"fmt"
	"net/http"
	"net/http/pprof"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpHandler serves /healthz, /metrics and /debug/pprof.
func (s *Server) httpHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{Registry: s.metrics.registry}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// health answers as long as the server takes clients. A stream that has failed does not make the server ill: /metrics tells.
func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	if s.handler.base.Err() != nil {
		http.Error(w, errShutdown.Error(), http.StatusServiceUnavailable)
		return
	}
	if _, err := fmt.Fprintln(w, "ok"); err != nil {
		s.cfg.Logger.Debug("answer a health check", "error", err)
	}
}
