package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	vitesslog "github.com/dolthub/vitess/go/vt/log"
	"github.com/sirupsen/logrus"
)

// BridgeLogs sends what GMS and vitess log to a logger. Both have one log for the whole process, so this is called once, at start.
// They tell of each connection and each statement that failed, which is ordinary life here: all but their errors become debug
// messages, and vitess' errors too, because most of them say that a client left.
func BridgeLogs(log *slog.Logger) {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.InfoLevel)
	logrus.StandardLogger().ReplaceHooks(logrus.LevelHooks{})
	logrus.AddHook(logrusHook{log.With("from", "engine")})

	vitess := log.With("from", "protocol")
	printf := func(format string, args ...any) { vitess.Debug(fmt.Sprintf(format, args...)) }
	print := func(args ...any) { vitess.Debug(fmt.Sprint(args...)) }
	vitesslog.Infof, vitesslog.Warningf, vitesslog.Errorf = printf, printf, printf
	vitesslog.Info, vitesslog.Warning, vitesslog.Error = print, print, print
}

// logrusHook hands logrus' entries on.
type logrusHook struct{ log *slog.Logger }

// Levels are those that the hook is called for.
func (logrusHook) Levels() []logrus.Level { return logrus.AllLevels }

// Fire hands one entry on.
func (h logrusHook) Fire(e *logrus.Entry) error {
	level := slog.LevelDebug
	if e.Level <= logrus.ErrorLevel {
		level = slog.LevelError
	}
	attrs := make([]slog.Attr, 0, len(e.Data))
	for key, value := range e.Data {
		attrs = append(attrs, slog.Any(key, value))
	}
	h.log.LogAttrs(context.Background(), level, e.Message, attrs...)
	return nil
}
