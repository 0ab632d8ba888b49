package vector

import "lakesql/batch"

// firsts is the value in the first row of each group.
type firsts struct {
	values *batch.Vector // a row a group
}

func newFirsts(t batch.Type) *firsts { return &firsts{values: batch.NewVector(t, 0)} }

func (f *firsts) size() int64 { return vectorSize(f.values) }

func (f *firsts) add(in *grouped) error {
	if len(in.began) > 0 { // nil would be all rows
		f.values.AppendRows(in.args[0], in.began)
	}
	return nil
}

// begin takes over groups of another one, which come next here.
func (f *firsts) begin(from *firsts, groups []int32) {
	if len(groups) > 0 {
		f.values.AppendRows(from.values, groups)
	}
}

// merge does nothing: begin has done it.
func (f *firsts) merge(accumulator, []uint32, int) error { return nil }

func (f *firsts) result(lo, hi int) (*batch.Vector, error) {
	if hi > f.values.Len { // no row, and yet a result
		return batch.NewNulls(f.values.Type, hi-lo), nil
	}
	return f.values.Slice(lo, hi), nil
}

// vectorSize is about how many bytes a vector takes.
func vectorSize(v *batch.Vector) int64 {
	n := int64(0)
	for _, child := range v.Children {
		n += vectorSize(child)
	}
	return n + int64(cap(v.Bools)+cap(v.I8)+cap(v.Bytes)) + 2*int64(cap(v.I16)) + 4*int64(cap(v.I32)+cap(v.F32)+cap(v.Off)+cap(v.Codes)) +
		8*int64(cap(v.I64)+cap(v.F64)+cap(v.Valid)) + 16*int64(cap(v.Dec))
}
