package format

import (
	"cmp"
	"slices"
)

// Rejects gathers what is wrong in a block of a batch's rows, and does with those rows what the mode says. A reader calls
// NewBatch; for each block of it NewBlock, Add and Settle; then Selection.
type Rejects struct {
	Mode    Mode
	OnError func(RowError) // receives each fault in the order of the rows; nil: nobody listens. Not called by FailFast

	issues  []issue // of the block
	bad     []bool  // of the block's rows
	dropped []int32 // rows of the batch that are left out, ascending
	count   int64
	sel     []int32
}

// issue is one thing wrong in a block.
type issue struct {
	row    int32 // of the block
	column string
	reason string
}

// NewBatch begins a batch.
func (r *Rejects) NewBatch() { r.dropped = r.dropped[:0] }

// NewBlock begins a block of that many rows.
func (r *Rejects) NewBlock(rows int) {
	r.issues = r.issues[:0]
	r.bad = slices.Grow(r.bad[:0], rows)[:rows]
	clear(r.bad)
}

// Add notes something wrong with a row of the block; column is "" where it is the whole record. The reason is only asked where
// somebody will read it.
func (r *Rejects) Add(row int, column string, reason func() string) {
	r.bad[row] = true
	is := issue{row: int32(row), column: column}
	if r.OnError != nil || r.Mode == FailFast {
		is.reason = reason()
	}
	r.issues = append(r.issues, is)
}

// Bad says whether something is wrong with a row of the block.
func (r *Rejects) Bad(row int) bool { return r.bad[row] }

// None says that nothing is wrong with any row of the block.
func (r *Rejects) None() bool { return len(r.issues) == 0 }

// Settle does with the block's malformed rows what the mode says: a *RecordError with FailFast. before is the number of the
// batch's rows in front of the block; raw is the line and the text of a row's record.
func (r *Rejects) Settle(before int, raw func(row int) (line int64, text []byte)) error {
	slices.SortStableFunc(r.issues, func(a, b issue) int { return cmp.Compare(a.row, b.row) })
	var e RowError
	last := int32(-1)
	for _, is := range r.issues {
		first := is.row != last
		last = is.row
		if first && r.Mode == DropMalformed {
			r.dropped = append(r.dropped, int32(before)+is.row)
			r.count++
		}
		if r.OnError == nil && r.Mode != FailFast {
			continue
		}
		if first {
			line, text := raw(int(is.row))
			e = RowError{Line: line, Raw: slices.Clone(text)}
		}
		e.Column, e.Message = is.column, is.reason
		if r.Mode == FailFast {
			return &RecordError{Row: e}
		}
		r.OnError(e)
	}
	return nil
}

// Rejected is the number of rows left out so far by DropMalformed.
func (r *Rejects) Rejected() int64 { return r.count }

// Selection is the rows that stay of a batch of that many; nil: all. It is valid until the next call.
func (r *Rejects) Selection(rows int) []int32 {
	if len(r.dropped) == 0 {
		return nil
	}
	r.sel = slices.Grow(r.sel[:0], rows) // not nil, which would be all rows
	next := 0
	for row := range int32(rows) {
		if next < len(r.dropped) && r.dropped[next] == row {
			next++
			continue
		}
		r.sel = append(r.sel, row)
	}
	return r.sel
}
