package vector

import (
	"context"

	"lakesql/batch"
)

// column computes a column.
func (r *windowRows) column(ctx context.Context, c *WindowColumn, args []int, in boundInputs) (*batch.Vector, error) {
	switch c.Func {
	case RowNumber, Rank, DenseRank, Ntile:
		return r.numbers(ctx, c)
	case PercentRank, CumeDist:
		return r.shares(ctx, c)
	case Lag, Lead:
		return r.moved(ctx, c, args)
	}
	f, err := r.framesOf(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if c.Func == FrameAggregate {
		arg := (*batch.Vector)(nil)
		if len(args) > 0 {
			arg = r.inputs[args[0]]
		}
		return frameAggregates[c.Aggregate](ctx, &frameInput{frames: f, column: c, arg: arg})
	}
	at := make([]int32, r.n)
	err = inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := f.lo[i]
			switch c.Func {
			case LastValue:
				row = f.hi[i] - 1
			case NthValue:
				row += int32(min(c.N-1, int64(r.n)))
			}
			if at[i] = -1; row >= f.lo[i] && row < f.hi[i] {
				at[i] = row
			}
		}
		return nil
	})
	return gatherOrNull(r.inputs[args[0]], at), err
}

// numbers are the functions that number rows.
func (r *windowRows) numbers(ctx context.Context, c *WindowColumn) (*batch.Vector, error) {
	out := &batch.Vector{Type: c.Field.Type, Len: r.n, I64: make([]int64, r.n)}
	parts, peers := r.partitions, r.peersOf(c.Peers)
	return out, inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			start := int(parts.start[i])
			switch c.Func {
			case RowNumber:
				out.I64[i] = int64(i - start + 1)
			case Rank:
				out.I64[i] = int64(peers.start[i] - parts.start[i] + 1)
			case DenseRank:
				switch {
				case i == start:
					out.I64[i] = 1
				case int(peers.start[i]) == i:
					out.I64[i] = out.I64[i-1] + 1
				default:
					out.I64[i] = out.I64[i-1]
				}
			default:
				out.I64[i] = Tile(int64(i-start), int64(int(parts.end[i])-start), c.N)
			}
		}
		return nil
	})
}

// Tile is the part, of so many, of a row at a place among rows: the first parts have one row more where they are not all equal.
func Tile(at, rows, parts int64) int64 {
	small, longer := rows/parts, rows%parts
	if at < longer*(small+1) {
		return at/(small+1) + 1
	}
	return longer + (at-longer*(small+1))/small + 1
}

// shares are the functions that say how far a row is.
func (r *windowRows) shares(ctx context.Context, c *WindowColumn) (*batch.Vector, error) {
	out := &batch.Vector{Type: c.Field.Type, Len: r.n, F64: make([]float64, r.n)}
	parts, peers := r.partitions, r.peersOf(c.Peers)
	return out, inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			rows := parts.end[i] - parts.start[i]
			switch {
			case c.Func == CumeDist:
				out.F64[i] = float64(peers.end[i]-parts.start[i]) / float64(rows)
			case rows > 1:
				out.F64[i] = float64(peers.start[i]-parts.start[i]) / float64(rows-1)
			}
		}
		return nil
	})
}

// moved is LAG or LEAD.
func (r *windowRows) moved(ctx context.Context, c *WindowColumn, args []int) (*batch.Vector, error) {
	from := r.inputs[args[0]]
	if len(args) > 1 { // the defaults are behind the values
		both := batch.NewVector(from.Type, 2*r.n)
		both.AppendRows(from, nil)
		both.AppendRows(r.inputs[args[1]], nil)
		from = both.Decode()
	}
	by := min(c.N, int64(r.n))
	if c.Func == Lag {
		by = -by
	}
	at := make([]int32, r.n)
	err := inBlocks(ctx, r.n, func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			row := int64(i) + by
			switch {
			case row >= int64(r.partitions.start[i]) && row < int64(r.partitions.end[i]):
				at[i] = int32(row)
			case len(args) > 1:
				at[i] = int32(r.n + i)
			default:
				at[i] = -1
			}
		}
		return nil
	})
	return gatherOrNull(from, at), err
}

// gatherOrNull is the rows of a plain vector at these positions; null where one is -1.
func gatherOrNull(v *batch.Vector, at []int32) *batch.Vector {
	valid := batch.Bitmap(nil)
	for i, row := range at {
		if row >= 0 {
			continue
		}
		if valid == nil {
			valid = batch.NewBitmap(len(at))
		}
		valid.Clear(i)
		at[i] = 0
	}
	out := v.Gather(at)
	for i := range at {
		if valid != nil && !valid.Get(i) {
			if out.Valid == nil {
				out.Valid = batch.NewBitmap(len(at))
			}
			out.Valid.Clear(i)
		}
	}
	return out
}
