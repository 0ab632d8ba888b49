package vector

import (
	"context"

	"lakesql/batch"
)

// DatePart is a part of a date or of a time in UTC.
type DatePart uint8

// The parts.
const (
	Year DatePart = iota
	Quarter
	Month
	Day
	Hour
	Minute
	Second
)

// datePart is YEAR(arg) and its like.
type datePart struct {
	part DatePart
	arg  Expr
	out  batch.Vector
}

// NewDatePart returns a part of a date or timestamp as an integer. A date is a time at midnight.
func NewDatePart(part DatePart, arg Expr) (Expr, error) {
	if t := arg.Type().Kind; !isTimestamp(t) && t != batch.Date {
		return nil, unsupported("the part of a %s", arg.Type())
	}
	return &datePart{part: part, arg: arg}, nil
}

func (e *datePart) Type() batch.Type { return batch.Type{Kind: batch.Int32} }

func (e *datePart) children() []Expr { return []Expr{e.arg} }

func (e *datePart) Clone() Expr { return &datePart{part: e.part, arg: e.arg.Clone()} }

func (e *datePart) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	in, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, e.Type(), b.Len)
	e.out.Valid = in.Valid
	last, part := int64(-1), civilPart(e.part, -1) // rows of one day often come together
	ofDay := func(days int64) int32 {
		if days != last {
			last, part = days, civilPart(e.part, days)
		}
		return part
	}
	values := in
	if in.Dict != nil {
		values = in.Decode()
	}
	selected(b, func(i int) {
		switch {
		case in.IsNull(i):
		case values.Type.Kind == batch.Date:
			e.out.I32[i] = e.ofDate(int64(values.I32[i]), ofDay)
		default:
			e.out.I32[i] = e.ofTime(values.I64[i], ofDay)
		}
	})
	return &e.out, nil
}

// zeroDay is the day that MySQL writes as 0000-00-00.
var zeroDay = batch.DaysFromCivil(-1, 11, 30)

func (e *datePart) ofDate(days int64, part func(int64) int32) int32 {
	if days == zeroDay || e.part >= Hour {
		return 0
	}
	return part(days)
}

func (e *datePart) ofTime(micros int64, part func(int64) int32) int32 {
	days := floorDiv(micros, microsPerDay)
	seconds := (micros - days*microsPerDay) / microsPerSecond
	switch {
	case e.part == Hour:
		return int32(seconds / 3600)
	case e.part == Minute:
		return int32(seconds / 60 % 60)
	case e.part == Second:
		return int32(seconds % 60)
	case micros == zeroDay*microsPerDay:
		return 0
	}
	return part(days)
}

func civilPart(part DatePart, days int64) int32 {
	year, month, day := batch.CivilFromDays(days)
	switch part {
	case Year:
		return int32(year)
	case Quarter:
		return int32(month-1)/3 + 1
	case Month:
		return int32(month)
	default:
		return int32(day)
	}
}
