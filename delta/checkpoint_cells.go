package delta

import "lakesql/batch"

// rowReader takes the fields of a row of a struct, in order: what rowWriter gives. A null has the zero value. Byte slices are views of the
// batch.
type rowReader struct {
	row  *batch.Vector
	at   int
	next int
}

func (r *rowReader) field() *batch.Vector {
	r.next++
	return r.row.Children[r.next-1]
}

func (r *rowReader) skip() { r.next++ }

func (r *rowReader) bytes() []byte {
	if v := r.field(); !v.IsNull(r.at) {
		return v.BytesAt(r.at)
	}
	return nil
}

func (r *rowReader) text() string { return string(r.bytes()) }

func (r *rowReader) int() int64 {
	v := r.field()
	if v.IsNull(r.at) {
		return 0
	}
	return v.I64[r.at]
}

// intOr is int, but nil for null.
func (r *rowReader) intOr() *int64 {
	if r.row.Children[r.next].IsNull(r.at) {
		r.next++
		return nil
	}
	return new(r.int())
}

func (r *rowReader) bool() bool {
	v := r.field()
	return !v.IsNull(r.at) && v.Bools[r.at]
}

// list is the elements that are not null.
func (r *rowReader) list() []string {
	v := r.field()
	if v.IsNull(r.at) {
		return nil
	}
	var out []string
	elements := v.Children[0]
	for i := int(v.Off[r.at]); i < int(v.Off[r.at+1]); i++ {
		if !elements.IsNull(i) {
			out = append(out, string(elements.BytesAt(i)))
		}
	}
	return out
}

func (r *rowReader) textMap() map[string]string { return textMapAt(r.field(), r.at) }

// textMapAt is the entries of a row of a map whose value is not null; nil for null.
func textMapAt(v *batch.Vector, row int) map[string]string {
	if v.IsNull(row) {
		return nil
	}
	out := make(map[string]string, v.Off[row+1]-v.Off[row])
	keys, values := v.Children[0], v.Children[1]
	for i := int(v.Off[row]); i < int(v.Off[row+1]); i++ {
		if !values.IsNull(i) {
			out[string(keys.BytesAt(i))] = string(values.BytesAt(i))
		}
	}
	return out
}

// within reads the fields of a struct in the row; false for null.
func (r *rowReader) within() (rowReader, bool) {
	v := r.field()
	return rowReader{row: v, at: r.at}, !v.IsNull(r.at)
}

// deletionVector is nil for null, and without a storage type: a struct of nulls stands for none.
func (r *rowReader) deletionVector() *deletionVector {
	in, ok := r.within()
	if !ok {
		return nil
	}
	storageType := in.text()
	if storageType == "" {
		return nil
	}
	d := &deletionVector{storageType: storageType, pathOrInlineDv: in.text()}
	if offset := in.intOr(); offset != nil {
		d.offset = new(int32(*offset))
	}
	d.sizeInBytes, d.cardinality = int32(in.int()), in.int()
	return d
}
