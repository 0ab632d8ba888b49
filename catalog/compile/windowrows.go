package compile

import (
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/vector"
)

// windowIter executes a Window row by row. GMS's own iterators sum up doubles, take the first key of an order for all of them, know no order that
// descends, and cannot be killed. The rows come in the order of the child.
type windowIter struct {
	node  *plan.Window
	child sql.RowIter
	in    []sql.Row
	out   []sql.Row // nil until the child is read
	next  int
	calls int
}

func (b *Builder) buildWindow(ctx *sql.Context, n *plan.Window, outer sql.Row) (sql.RowIter, error) {
	if whole, err := b.buildWhole(ctx, n, outer); whole != nil || err != nil {
		return whole, err
	}
	child, err := b.base.Build(ctx, n.Child, outer)
	if err != nil {
		return nil, err
	}
	return &windowIter{node: n, child: child}, nil
}

// Next returns the next row.
func (w *windowIter) Next(ctx *sql.Context) (sql.Row, error) {
	if w.out == nil {
		if err := w.readAll(ctx); err != nil {
			return nil, err
		}
	}
	if w.next == len(w.out) {
		return nil, io.EOF
	}
	if err := w.canceled(ctx); err != nil {
		return nil, err
	}
	w.next++
	return w.out[w.next-1], nil
}

// canceled looks now and then whether the statement was cancelled.
func (w *windowIter) canceled(ctx *sql.Context) error {
	if w.calls++; w.calls%cancelInterval == 0 {
		return ctx.Err()
	}
	return nil
}

func (w *windowIter) readAll(ctx *sql.Context) error {
	for {
		row, err := w.child.Next(ctx)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = w.canceled(ctx)
		}
		if err != nil {
			return err
		}
		w.in = append(w.in, row)
	}
	w.out = make([]sql.Row, len(w.in))
	for i := range w.out {
		w.out[i] = make(sql.Row, len(w.node.SelectExprs))
	}
	sorted := make(map[string]*sortedWindow)
	for to, e := range w.node.SelectExprs {
		f, of, ok := windowOf(e)
		if !ok {
			if err := w.pass(ctx, unalias(e), to); err != nil {
				return err
			}
			continue
		}
		s := sorted[windowText(of)]
		if s == nil {
			s = &sortedWindow{windowIter: w, of: of}
			if err := s.sort(ctx); err != nil {
				return err
			}
			sorted[windowText(of)] = s
		}
		if err := s.column(ctx, f, of, to); err != nil {
			return err
		}
	}
	return nil
}

// windowText is the same for windows with the same partitions and order.
func windowText(w *sql.WindowDefinition) string {
	var out strings.Builder
	for _, e := range w.PartitionBy {
		out.WriteString(e.String() + "\n")
	}
	out.WriteString("\n")
	for _, by := range w.OrderBy {
		out.WriteString(by.String() + "\n")
	}
	return out.String()
}

// pass is a column that looks at no window.
func (w *windowIter) pass(ctx *sql.Context, e sql.Expression, to int) error {
	for i, row := range w.in {
		v, err := e.Eval(ctx, row)
		if err == nil {
			err = w.canceled(ctx)
		}
		if err != nil {
			return err
		}
		w.out[i][to] = v
	}
	return nil
}

// Close releases the rows and the child.
func (w *windowIter) Close(ctx *sql.Context) error {
	w.in, w.out, w.next = nil, []sql.Row{}, 0
	return w.child.Close(ctx)
}

// sortedWindow is the rows in the order of a window.
type sortedWindow struct {
	*windowIter
	of         *sql.WindowDefinition
	keys       []sql.Row // by row: the keys of partitions and of the order
	order      []int     // the rows
	partitions []places  // by place in order
	peers      []places
}

// places are those of rows that are side by side.
type places struct{ start, end int }

func (s *sortedWindow) sort(ctx *sql.Context) error {
	exprs := append(slices.Clone(s.of.PartitionBy), s.of.OrderBy.ToExpressions()...)
	s.keys, s.order = make([]sql.Row, len(s.in)), make([]int, len(s.in))
	for i, row := range s.in {
		s.order[i], s.keys[i] = i, make(sql.Row, len(exprs))
		for k, e := range exprs {
			v, err := e.Eval(ctx, row)
			if err == nil {
				err = s.canceled(ctx)
			}
			if err != nil {
				return err
			}
			s.keys[i][k] = v
		}
	}
	keyTypes := make([]sql.Type, len(exprs))
	for k, e := range exprs {
		keyTypes[k] = e.Type(ctx)
	}
	var failed error
	compare := func(a, b, keys int) int {
		if failed == nil {
			failed = s.canceled(ctx)
		}
		for k := range keys {
			if failed != nil {
				return 0
			}
			var o int
			if o, failed = compareKeys(ctx, keyTypes[k], s.keys[a][k], s.keys[b][k]); o != 0 {
				if by := k - len(s.of.PartitionBy); by >= 0 && s.of.OrderBy[by].Order == sql.Descending {
					o = -o
				}
				return o
			}
		}
		return 0
	}
	sort.SliceStable(s.order, func(i, j int) bool { return compare(s.order[i], s.order[j], len(exprs)) < 0 })
	s.partitions = placesOf(s.order, func(a, b int) bool { return compare(a, b, len(s.of.PartitionBy)) == 0 })
	s.peers = placesOf(s.order, func(a, b int) bool { return compare(a, b, len(exprs)) == 0 })
	return failed
}

// compareKeys orders two values; NULL is below all.
func compareKeys(ctx *sql.Context, t sql.Type, a, b any) (int, error) {
	switch {
	case a == nil && b == nil:
		return 0, nil
	case a == nil:
		return -1, nil
	case b == nil:
		return 1, nil
	}
	if text, ok := a.(string); ok && text == b {
		return 0, nil // without the collation's weights
	}
	return t.Compare(ctx, a, b)
}

func placesOf(order []int, same func(a, b int) bool) []places {
	out := make([]places, len(order))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && same(order[to-1], order[to]) {
			to++
		}
		for at := from; at < to; at++ {
			out[at] = places{from, to}
		}
		from = to
	}
	return out
}

// column computes a window function.
func (s *sortedWindow) column(ctx *sql.Context, e sql.WindowAdaptableExpression, w *sql.WindowDefinition, to int) error {
	f, ok := e.(WindowFunction)
	if !ok {
		return s.aggregate(ctx, e, w, to)
	}
	n, err := f.Number(ctx)
	if err != nil {
		return err
	}
	kind := f.WindowFunc()
	var frames []places
	if kind == vector.FirstValue || kind == vector.LastValue || kind == vector.NthValue {
		if frames, err = s.frames(ctx, w); err != nil {
			return err
		}
	}
	values, err := s.valuesOf(ctx, f)
	if err != nil {
		return err
	}
	dense := uint64(0)
	for at, i := range s.order {
		if err := s.canceled(ctx); err != nil {
			return err
		}
		part, peers := s.partitions[at], s.peers[at]
		rows := part.end - part.start
		if at == part.start {
			dense = 0
		}
		if at == peers.start {
			dense++
		}
		out := &s.out[i][to]
		switch kind {
		case vector.RowNumber:
			*out = uint64(at - part.start + 1)
		case vector.Rank:
			*out = uint64(peers.start - part.start + 1)
		case vector.DenseRank:
			*out = dense
		case vector.PercentRank:
			*out = float64(peers.start-part.start) / float64(max(1, rows-1))
		case vector.CumeDist:
			*out = float64(peers.end-part.start) / float64(rows)
		case vector.Ntile:
			*out = uint64(vector.Tile(int64(at-part.start), int64(rows), n))
		case vector.Lag:
			*out = s.value(values, part, at, int64(at)-min(n, int64(at)+1))
		case vector.Lead:
			*out = s.value(values, part, at, int64(at)+min(n, int64(len(s.order))))
		case vector.FirstValue:
			*out = s.value(values, frames[at], at, int64(frames[at].start))
		case vector.LastValue:
			*out = s.value(values, frames[at], at, int64(frames[at].end)-1)
		case vector.NthValue:
			*out = s.value(values, frames[at], at, int64(frames[at].start)+min(n, int64(len(s.order)))-1)
		}
	}
	return nil
}

// valuesOf are a function's arguments in all rows, as batches compute them: also those that no row gives.
func (s *sortedWindow) valuesOf(ctx *sql.Context, f WindowFunction) ([][]any, error) {
	out := make([][]any, len(f.Values()))
	for arg, e := range f.Values() {
		out[arg] = make([]any, len(s.in))
		for i, row := range s.in {
			if err := s.canceled(ctx); err != nil {
				return nil, err
			}
			v, err := e.Eval(ctx, row)
			if err != nil {
				return nil, err
			}
			if out[arg][i], err = f.Convert(ctx, v); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// value is a function's argument in the row at a place, or of the current row what stands for one that is not there.
func (s *sortedWindow) value(values [][]any, within places, current int, at int64) any {
	switch {
	case at >= int64(within.start) && at < int64(within.end):
		return values[0][s.order[at]]
	case len(values) > 1:
		return values[1][s.order[current]]
	}
	return nil
}

// aggregate computes an aggregate over frames. A frame that only grows has its new rows added.
func (s *sortedWindow) aggregate(ctx *sql.Context, e sql.WindowAdaptableExpression, w *sql.WindowDefinition, to int) error {
	a, ok := e.(sql.Aggregation)
	if !ok {
		return sql.ErrWindowUnsupported.New(e.String())
	}
	if _, isDistinct := a.Children()[0].(*expression.DistinctExpression); isDistinct {
		return sql.ErrUnsupportedFeature.New("DISTINCT in a window function")
	}
	frames, err := s.frames(ctx, w)
	if err != nil {
		return err
	}
	var buffer sql.AggregationBuffer
	var value any
	held := places{0, -1}
	for at, i := range s.order {
		f := frames[at]
		grows := buffer != nil && f.start == held.start && f.end >= held.end
		if !grows {
			if buffer != nil {
				buffer.Dispose(ctx)
			}
			if buffer, err = a.NewBuffer(ctx); err != nil {
				return err
			}
			held = places{f.start, f.start}
		}
		changed := !grows || held.end < f.end
		for ; held.end < f.end; held.end++ {
			if err := s.canceled(ctx); err != nil {
				return err
			}
			if err := buffer.Update(ctx, s.in[s.order[held.end]]); err != nil {
				return err
			}
		}
		if changed {
			if value, err = buffer.Eval(ctx); err != nil {
				return err
			}
		}
		s.out[i][to] = value
	}
	if buffer != nil {
		buffer.Dispose(ctx)
	}
	return nil
}

// frames are the frames of all rows, by place.
func (s *sortedWindow) frames(ctx *sql.Context, w *sql.WindowDefinition) ([]places, error) {
	b := boundsOf(w)
	starts, err := s.bounds(ctx, w, b, b.start, false)
	if err != nil {
		return nil, err
	}
	ends, err := s.bounds(ctx, w, b, b.end, true)
	out := make([]places, len(ends))
	for at, end := range ends {
		out[at] = places{min(starts[at], end), end}
	}
	return out, err
}

func (s *sortedWindow) bounds(ctx *sql.Context, w *sql.WindowDefinition, f frameBounds, b frameBound, end bool) ([]int, error) {
	away := int64(0)
	if b.distance != nil {
		if !f.rows {
			return s.rangeBounds(ctx, w, b, end)
		}
		var err error
		if away, err = b.rowsAway(ctx); err != nil {
			return nil, err
		}
		away = min(away, int64(len(s.order)))
	}
	behind := 0
	if end {
		behind = 1
	}
	out := make([]int, len(s.order))
	for at := range out {
		part := s.partitions[at]
		switch {
		case b.kind == vector.UnboundedPreceding:
			out[at] = part.start
		case b.kind == vector.UnboundedFollowing:
			out[at] = part.end
		case b.kind == vector.Preceding:
			out[at] = max(part.start, at-int(away)+behind)
		case b.kind == vector.Following:
			out[at] = min(part.end, at+int(away)+behind)
		case f.rows:
			out[at] = at + behind
		case end:
			out[at] = s.peers[at].end
		default:
			out[at] = s.peers[at].start
		}
	}
	return out, nil
}

// rangeBounds are bounds by the value of the key.
func (s *sortedWindow) rangeBounds(ctx *sql.Context, w *sql.WindowDefinition, b frameBound, end bool) ([]int, error) {
	key, moved, err := b.movedKey(ctx, w)
	if err != nil {
		return nil, err
	}
	compareType := types.GetCompareType(key.Type(ctx), moved.Type(ctx))
	column := len(w.PartitionBy)
	isNull := func(at int) bool { return s.keys[s.order[at]][column] == nil }
	out := make([]int, len(s.order))
	for at, i := range s.order {
		first, last := s.partitions[at].start, s.partitions[at].end
		if isNull(at) {
			if out[at] = s.peers[at].start; end {
				out[at] = s.peers[at].end
			}
			continue
		}
		if isNull(first) {
			first = s.peers[first].end
		}
		if isNull(last - 1) {
			last = s.peers[last-1].start
		}
		value, err := moved.Eval(ctx, s.in[i])
		if err != nil {
			return nil, err
		}
		if value == nil { // beyond all
			if out[at] = last; b.kind == vector.Preceding {
				out[at] = first
			}
			continue
		}
		var failed error
		out[at] = first + sort.Search(last-first, func(k int) bool {
			o, err := compareType.Compare(ctx, s.keys[s.order[first+k]][column], value)
			if err == nil {
				err = s.canceled(ctx)
			}
			if err != nil {
				failed = err
			}
			if w.OrderBy[0].Order == sql.Descending {
				o = -o
			}
			return o > 0 || !end && o == 0
		})
		if failed != nil {
			return nil, failed
		}
	}
	return out, nil
}
