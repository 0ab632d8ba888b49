package catalog

import (
	"context"
	"fmt"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/sqlext"
)

// rowCounts are the numbers of rows of data files whose statistics lack them, as ANALYZE TABLE has read them from the files. A data file never
// changes.
type rowCounts struct {
	mu    sync.RWMutex
	files map[string]int64 // by the table's URI and the file's path
}

func countKey(t *delta.Table, f delta.File) string { return t.Store().URI() + "\x00" + f.Path }

// live is how many rows of a file are not deleted, where that is known.
func (r *rowCounts) live(t *delta.Table, f delta.File) (int64, bool) {
	if n, ok := f.NumLiveRecords(); ok {
		return n, true
	}
	r.mu.RLock()
	n, ok := r.files[countKey(t, f)]
	r.mu.RUnlock()
	if dv := f.DeletionVector(); dv != nil {
		n -= dv.Cardinality
	}
	return n, ok
}

func (r *rowCounts) keep(t *delta.Table, f delta.File, rows int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = make(map[string]int64)
	}
	r.files[countKey(t, f)] = rows
}

// analyzeTable is ANALYZE TABLE. The planner goes by the statistics of a table's files, which are always those of the version
// that it reads; what is to be found out is how many rows files without statistics have.
func (c *Catalog) analyzeTable(s *sqlext.AnalyzeTable) action {
	return c.reportTables("analyze", s.Tables, func(ctx *sql.Context, t *table) ([]error, error) { return nil, c.countRows(ctx, t) })
}

// countRows reads the number of rows from the footers of files whose statistics do not have it.
func (c *Catalog) countRows(ctx context.Context, t *table) error {
	for f := range t.snap.Files() {
		if _, known := c.counts.live(t.handle, f); known {
			continue
		}
		r, err := t.handle.OpenFile(ctx, t.snap, f, delta.FileReaderOptions{Cache: c.dataFiles})
		if err != nil {
			return fmt.Errorf("analyze %s.%s: %w", t.database, t.name, err)
		}
		c.counts.keep(t.handle, f, r.Parquet().NumRows())
		if err := r.Close(); err != nil {
			return fmt.Errorf("analyze %s.%s: %w", t.database, t.name, err)
		}
	}
	return nil
}
