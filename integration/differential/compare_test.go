package differential

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// answer is all that a client sees of a query.
type answer struct {
	fields   []*querypb.Field
	rows     [][]string
	number   int // of the error; 0: none
	message  string
	warnings []string
	cut      bool // there were more warnings than are kept
}

// keptWarnings is how many a statement keeps, MySQL's max_error_count.
const keptWarnings = 1024

func (c *client) ask(query string) (answer, error) {
	r, warnings, err := c.conn.ExecuteFetchWithWarningCount(query, maxRows, true)
	var failed *mysql.SQLError
	if errors.As(err, &failed) && failed.Num != mysql.CRServerLost && failed.Num != mysql.CRServerGone {
		return answer{number: failed.Num, message: failed.Message}, nil
	}
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", query, err)
	}
	out := answer{fields: r.Fields, rows: texts(r)}
	if warnings > 0 {
		all, err := c.conn.ExecuteFetch("SHOW WARNINGS", maxRows, false)
		if err != nil {
			return answer{}, err
		}
		for _, row := range texts(all) {
			out.warnings = append(out.warnings, strings.Join(row, " "))
		}
		out.cut = len(out.warnings) >= keptWarnings
		slices.Sort(out.warnings)
	}
	return out, nil
}

// difference says how two answers to a query differ; "" when they do not. The first word is what differs.
func difference(q *query, vector, rows answer) string {
	switch {
	case (vector.number == outOfRange || rows.number == outOfRange) && !q.plain():
		return "" // which rows an expression meets depends on the plan, in MySQL too
	case vector.number == 0 && rows.number == outOfRange && q.first.where != nil && len(vector.rows) == 0:
		return "" // statistics rule all files out, as where a column of the condition has NULLs alone: nothing is computed
	case vector.number != rows.number:
		return fmt.Sprintf("error %d %s, on rows %d %s", vector.number, vector.message, rows.number, rows.message)
	case vector.number != 0:
		return ""
	case !sameFields(vector.fields, rows.fields):
		return fmt.Sprintf("fields %v, on rows %v", vector.fields, rows.fields)
	case len(vector.rows) != len(rows.rows):
		return fmt.Sprintf("count %d, on rows %d\n%s", len(vector.rows), len(rows.rows), shown(vector.rows, rows.rows))
	}
	c := comparison{floats: make([]bool, len(vector.fields)), ordered: q.total, summed: q.addsUp()}
	for i, f := range vector.fields {
		c.floats[i] = f.Type == querypb.Type_FLOAT32 || f.Type == querypb.Type_FLOAT64
	}
	if !c.same(vector.rows, rows.rows) {
		return "rows\n" + shown(vector.rows, rows.rows)
	}
	if key, ok := q.leadingOrdinal(); ok {
		for i := range vector.rows {
			if !c.sameCell(key, vector.rows[i][key], rows.rows[i][key]) {
				return fmt.Sprintf("order of row %d: %s, on rows %s", i, vector.rows[i][key], rows.rows[i][key])
			}
		}
	}
	if vector.cut && rows.cut {
		return "" // which are kept depends on the order of the rows, and of the columns in a batch
	}
	if q.plain() && !sameWarnings(vector.warnings, rows.warnings, q.first.where != nil, keys.MatchString(q.String())) {
		return fmt.Sprintf("warnings %.300q, on rows %.300q", vector.warnings, rows.warnings)
	}
	return ""
}

// sameWarnings compares those of a query. A condition is computed for the rows, and as far, as the plan needs it, in MySQL too, where it may use an index: files are
// skipped by their statistics. filtered: one side may lack some. How often keys are computed is the plan's, too. keyed: a warning counts once.
func sameWarnings(a, b []string, filtered, keyed bool) bool {
	if !filtered && !keyed {
		return slices.Equal(a, b)
	}
	a, b = slices.Compact(slices.Clone(a)), slices.Compact(slices.Clone(b))
	if len(a) > len(b) {
		a, b = b, a
	}
	return (filtered || len(a) == len(b)) && !slices.ContainsFunc(a, func(w string) bool { return !slices.Contains(b, w) })
}

var keys = regexp.MustCompile(`\b(OVER|GROUP BY|ORDER BY|DISTINCT)\b`)

// outOfRange is the error of a value that its type does not hold.
const outOfRange = 1690

// plain tells whether all expressions of a query are computed for the rows of one table, so that it has the same warnings on every plan. Under a LIMIT the plan
// says for which rows.
func (q *query) plain() bool {
	return q.limit == "" && len(q.first.from) <= 1 && q.first.having == nil && strings.Count(q.String(), "SELECT") == 1
}

var sums = regexp.MustCompile(`\b(SUM|AVG|STD|STDDEV_POP|STDDEV_SAMP|VARIANCE|VAR_POP|VAR_SAMP)\(`)

// addsUp tells whether numbers are added up in an order that is the plan's: of DOUBLEs such as 1e308, -1e308 and 0.1 the sum hangs on it, in MySQL too.
func (q *query) addsUp() bool {
	text := q.String()
	return sums.MatchString(text) && (!q.plain() || strings.Contains(text, "(DISTINCT "))
}

// leadingOrdinal is the column by which the whole result is ordered first.
func (q *query) leadingOrdinal() (int, bool) {
	if len(q.order) == 0 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(q.order[0].text, " DESC"))
	return n - 1, err == nil
}

func sameFields(a, b []*querypb.Field) bool {
	return slices.EqualFunc(a, b, func(x, y *querypb.Field) bool {
		return x.Name == y.Name && x.Type == y.Type && x.Charset == y.Charset && x.Decimals == y.Decimals && x.Flags == y.Flags && x.ColumnLength == y.ColumnLength
	})
}

// comparison compares rows: as a multiset where no order was asked for, and floating point numbers, which aggregates add up in any order, as
// far as they are exact.
type comparison struct {
	floats  []bool
	ordered bool
	summed  bool // a number may be a sum in another order
}

const tolerance = 1e-12

func (c comparison) same(a, b [][]string) bool {
	if !c.ordered {
		a, b = slices.Clone(a), slices.Clone(b)
		slices.SortFunc(a, c.compare)
		slices.SortFunc(b, c.compare)
	}
	for i := range a {
		for j := range a[i] {
			if !c.sameCell(j, a[i][j], b[i][j]) {
				return false
			}
		}
	}
	return true
}

func (c comparison) sameCell(column int, a, b string) bool {
	if a == b {
		return true
	}
	if !c.floats[column] || a == null || b == null {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	isFinite := x-x == 0 && y-y == 0
	return x == y || isFinite && c.summed || math.Abs(x-y) <= tolerance*max(math.Abs(x), math.Abs(y))
}

// compare orders rows, by the columns that are exact first.
func (c comparison) compare(a, b []string) int {
	for j := range a {
		if !c.floats[j] {
			if n := cmp.Compare(a[j], b[j]); n != 0 {
				return n
			}
		}
	}
	for j := range a {
		if c.floats[j] {
			x, _ := strconv.ParseFloat(a[j], 64)
			y, _ := strconv.ParseFloat(b[j], 64)
			if n := cmp.Or(cmp.Compare(x, y), cmp.Compare(b2i(a[j] == null), b2i(b[j] == null))); n != 0 {
				return n
			}
		}
	}
	return 0
}

// shownRows is how many rows of each side a difference shows.
const shownRows = 6

// shown are rows that only one side has.
func shown(vector, rows [][]string) string {
	var b strings.Builder
	for _, side := range []struct {
		name    string
		of, not [][]string
	}{{"vector", vector, rows}, {"rows", rows, vector}} {
		left := make(map[string]int)
		for _, r := range side.not {
			left[strings.Join(r, "|")]++
		}
		n := 0
		for _, r := range side.of {
			line := strings.Join(r, "|")
			if left[line]--; left[line] >= 0 {
				continue
			}
			if n++; n <= shownRows {
				fmt.Fprintf(&b, "  only %-6s %.300q\n", side.name, line)
			}
		}
	}
	return b.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
