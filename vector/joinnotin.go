package vector

import (
	"context"

	"lakesql/batch"
)

// notIn hands out the rows of a batch of the probe for which NOT IN is true: no build row is equal, and none would be if its nulls or those of the row were
// other values.
func (p *prober) notIn(ctx context.Context, b *batch.Batch) (*batch.Batch, error) {
	rows := &p.build.rows
	switch {
	case rows.len == 0 && !p.build.elsewhere:
		p.hits = p.hits[:0]
		return p.alone(b, p.hits), nil
	case len(p.keys) == 1 && p.join.Residual == nil:
		if rows.null {
			return nil, nil
		}
		if out := p.alone(b, p.hits); out != nil && p.keys[0].Valid != nil {
			return p.selecting(b, p.withoutNull(out)), nil
		} else {
			return out, nil
		}
	}
	p.any = resize(p.any, b.Len)
	clear(p.any)
	if err := p.equalKeys(ctx, b); err != nil {
		return nil, err
	}
	for k := range b.Rows() {
		if err := p.maybeEqual(ctx, b, b.Row(k)); err != nil {
			return nil, err
		}
	}
	p.sel = resize(p.sel, b.Rows())[:0]
	selected(b, func(i int) {
		if !p.any[i] {
			p.sel = append(p.sel, int32(i))
		}
	})
	return p.selecting(b, p.sel), nil
}

// withoutNull are the selected rows whose only key is not null.
func (p *prober) withoutNull(b *batch.Batch) []int32 {
	in := grouped{rows: b.Sel, n: b.Rows()}
	return in.valid(p.keys[0], &p.q)
}

// equalKeys sets any for the rows that have a match.
func (p *prober) equalKeys(ctx context.Context, b *batch.Batch) error {
	if p.join.Residual == nil {
		for _, i := range p.hits {
			p.any[i] = true
		}
		return nil
	}
	for p.hit, p.row = 0, 0; p.hit < len(p.hits); {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.gatherPairs()
		of, _, err := p.narrow(ctx, b, p.p, p.q, false)
		if err != nil {
			return err
		}
		for _, i := range of {
			p.any[i] = true
		}
	}
	return nil
}

// maybeEqual sets any for a row that would have a match if its nulls, or those of a build row, were other values.
func (p *prober) maybeEqual(ctx context.Context, b *batch.Batch, row int) error {
	rows := &p.build.rows
	isNull := false
	for _, v := range p.keys {
		isNull = isNull || v.IsNull(row)
	}
	n := len(rows.nulls)
	if isNull {
		n = rows.len
	}
	for lo := 0; lo < n && !p.any[row]; lo += batch.MaxRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.p, p.q = p.p[:0], p.q[:0]
		for k := lo; k < min(lo+batch.MaxRows, n); k++ {
			with := k
			if !isNull {
				with = int(rows.nulls[k])
			}
			if p.keysMayBeEqual(row, with) {
				p.p, p.q = append(p.p, int32(row)), append(p.q, int32(with))
			}
		}
		of := p.p
		if p.join.Residual != nil {
			var err error
			if of, _, err = p.narrow(ctx, b, p.p, p.q, false); err != nil {
				return err
			}
		}
		p.any[row] = len(of) > 0
	}
	return nil
}

func (p *prober) keysMayBeEqual(row, with int) bool {
	for i, v := range p.keys {
		w := p.build.rows.keys[i]
		if !v.IsNull(row) && !w.IsNull(with) && batch.Compare(v, row, w, with) != 0 {
			return false
		}
	}
	return true
}
