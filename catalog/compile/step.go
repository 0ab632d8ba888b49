package compile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/vector"
)

// step is an operator, and those below it, as EXPLAIN shows them.
type step struct {
	title string
	below []*step
	point *point         // where rows may be those of another step, too; nil: they are not
	reads func() float64 // how many rows a source is thought to have; nil: it is no source
	of    *pipeline      // whose rows they are; nil: nothing is thought of how many there are

	source  Source            // of a scan: what is read
	filter  vector.Expr       // by which it leaves out rows; nil: by nothing
	preview *vector.ScanStats // what the scan would leave out; nil: nobody asked
	partial bool              // preview is of files alone: they are too many to look into each
	seen    *vector.Observation
}

// previewedFiles is how many files EXPLAIN looks into: reading what is in them takes about a millisecond each, when they were not read before.
const previewedFiles = 100

// look finds out what the scans would leave out.
func (s *step) look(ctx *sql.Context) error {
	for _, b := range s.below {
		if err := b.look(ctx); err != nil {
			return err
		}
	}
	if _, ok := s.source.(Statistics); !ok {
		return nil // it has nothing to leave out by
	}
	op, err := s.source.Scan(ctx, s.filter)
	if err != nil {
		return err
	}
	if scan, ok := op.(*vector.Scan); ok {
		stats, all, err := scan.Preview(ctx, previewedFiles)
		if err != nil {
			return errors.Join(err, op.Close())
		}
		s.preview, s.partial = &stats, !all
	}
	return op.Close()
}

// String is the tree.
func (s *step) String() string {
	p := sql.NewTreePrinter()
	if s.point != nil && s.point.shared != nil && s.point.shared.from != s.point {
		_ = p.WriteNode("Rows of an equal %s", s.title)
		return p.String()
	}
	_ = p.WriteNode("%s", s.line())
	if len(s.below) > 0 {
		texts := make([]string, len(s.below))
		for i, b := range s.below {
			texts[i] = b.String()
		}
		_ = p.WriteChildren(texts...)
	}
	return p.String()
}

// line is the title with what is known of the step, in MySQL's words where it has them.
func (s *step) line() string {
	var b strings.Builder
	b.WriteString(s.title)
	if s.of != nil && s.of.size != nil {
		fmt.Fprintf(&b, " (rows=%.0f)", math.Round(s.of.size().rows))
	}
	seen := s.observation()
	if seen == nil {
		if s.preview != nil {
			fmt.Fprintf(&b, " (%s)", leftOut(*s.preview, s.partial))
		}
		return b.String()
	}
	o := seen.Seen()
	fmt.Fprintf(&b, " (actual time=%.3f rows=%d batches=%d readers=%d", float64(o.Time)/float64(time.Millisecond), o.Rows, o.Batches, o.Readers)
	if o.Memory > 0 {
		fmt.Fprintf(&b, " memory=%d spilled=%d", o.Memory, o.Spilled)
	}
	b.WriteString(")")
	if s.source != nil && o.Scan != nil {
		fmt.Fprintf(&b, " (%s rows_read=%d)", leftOut(*o.Scan, false), o.Scan.Rows)
		if l := o.Scan.Learnt; l.Files > 0 || l.RowGroups > 0 || l.PageRows > 0 || l.Rows > 0 {
			fmt.Fprintf(&b, " (skipped by runtime filters: files=%d row_groups=%d page_rows=%d rows=%d)", l.Files, l.RowGroups, l.PageRows, l.Rows)
		}
	}
	return b.String()
}

// observation is nil where the step was not observed. The operator that made the rows of a point may be below one that rearranges their columns.
func (s *step) observation() *vector.Observation {
	if s.point != nil && s.point.p.plan.seen != nil {
		return s.point.p.plan.seen
	}
	return s.seen
}

// leftOut says how many files and row groups are read, of how many, and how many rows of pages are not.
func leftOut(s vector.ScanStats, partial bool) string {
	files := fmt.Sprintf("files=%d/%d", s.Files-s.FilesSkipped, s.Files)
	if partial {
		return files
	}
	return fmt.Sprintf("%s row_groups=%d/%d page_rows_skipped=%d", files, s.RowGroups-s.RowGroupsSkipped, s.RowGroups, s.RowsSkipped)
}
