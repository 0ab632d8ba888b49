package compile

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// maxWarnings is how many warnings of one batch are kept: MySQL's max_error_count.
const maxWarnings = 1024

// warnings are those of batches, until the statement's goroutine, which alone may touch the session, takes them there.
type warnings struct {
	mu  sync.Mutex
	all []vector.Warning
}

func (w *warnings) add(warning vector.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) < maxWarnings {
		w.all = append(w.all, warning)
	}
}

// flush gives them to the session.
func (w *warnings) flush(ctx *sql.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, warning := range w.all {
		ctx.Warn(warning.Code, "%s", warning.Message)
	}
	w.all = w.all[:0]
}
