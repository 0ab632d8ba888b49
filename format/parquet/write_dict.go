package parquet

import "lakesql/batch"

// Limits of a column chunk's dictionary.
const (
	// maxDictBytes keeps the dictionary in the second-level cache of whoever writes or reads it. The pages after it is reached are plain.
	maxDictBytes = 512 << 10
	// maxDictShare is the largest number of distinct values per value of the first page for which codes pay off.
	maxDictShare = 0.5
	// dictSample is the number of values from which the first page can be judged before it is full.
	dictSample = 4096
)

// dictionary numbers the distinct values of a column chunk. Integers, dates, timestamps, short decimals, strings and binaries have one.
type dictionary struct {
	values *batch.Vector // by code
	ints   map[int64]int32
	texts  map[string]int32

	// The codes of the source dictionary last seen; -1: not met yet.
	source *batch.Vector
	remap  []int32

	// Scratch of distinct.
	marks  []int32 // by code: the last round in which it was met
	round  int32
	picked []int32
}

// newDictionary returns nil for types whose values seldom repeat or are as small as a code.
func newDictionary(t batch.Type) *dictionary {
	d := &dictionary{values: batch.NewVector(t, 0)}
	switch t.Layout() {
	case batch.LayoutI32, batch.LayoutI64:
		d.ints = map[int64]int32{}
	case batch.LayoutBytes:
		d.texts = map[string]int32{}
	default:
		return nil
	}
	return d
}

// distinct appends the values that codes stand for to dst, each once.
func (d *dictionary) distinct(dst *batch.Vector, codes []int32) {
	d.round++
	d.marks = append(d.marks, make([]int32, d.values.Len-len(d.marks))...)
	d.picked = d.picked[:0]
	for _, code := range codes {
		if d.marks[code] != d.round {
			d.marks[code] = d.round
			d.picked = append(d.picked, code)
		}
	}
	dst.AppendRows(d.values, d.picked)
}

// bytes returns the size of the plain values.
func (d *dictionary) bytes() int { return plainBytes(d.values) }

// memory estimates the bytes held: the values, and an entry of the map for each.
func (d *dictionary) memory() int {
	const entry = 40 // a key's header, a code, the spare room of a map
	return 2*d.bytes() + entry*d.values.Len
}

// plainBytes estimates the size of a vector's values in the PLAIN encoding.
func plainBytes(v *batch.Vector) int {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		return v.Len / 8
	case batch.LayoutI64, batch.LayoutF64:
		return v.Len * 8
	case batch.LayoutDec:
		return v.Len * 16
	case batch.LayoutBytes:
		return v.Len*4 + len(v.Bytes)
	}
	return v.Len * 4
}

// appendCodes appends the codes of rows, none of them null, of a vector.
func (d *dictionary) appendCodes(codes []int32, v *batch.Vector, rows []int32) []int32 {
	switch {
	case v.Dict != nil:
		d.follow(v.Dict)
		for _, r := range rows {
			code := d.remap[v.Codes[r]]
			if code < 0 {
				code = d.code(v.Dict, int(v.Codes[r]))
				d.remap[v.Codes[r]] = code
			}
			codes = append(codes, code)
		}
	default:
		for _, r := range rows {
			codes = append(codes, d.code(v, int(r)))
		}
	}
	return codes
}

// follow prepares the remapping of another dictionary's codes.
func (d *dictionary) follow(source *batch.Vector) {
	if d.source == source {
		return
	}
	d.source, d.remap = source, make([]int32, source.Len)
	for i := range d.remap {
		d.remap[i] = -1
	}
}

// code returns the number of a value of a plain vector, a new one when it is met for the first time.
func (d *dictionary) code(v *batch.Vector, row int) int32 {
	if d.texts != nil {
		x := v.BytesAt(row)
		code, ok := d.texts[string(x)]
		if !ok {
			code = int32(d.values.Len)
			d.texts[string(x)] = code
			d.values.AppendBytes(x)
		}
		return code
	}
	var x int64
	if v.Type.Layout() == batch.LayoutI32 {
		x = int64(v.I32[row])
	} else {
		x = v.I64[row]
	}
	code, ok := d.ints[x]
	if !ok {
		code = int32(d.values.Len)
		d.ints[x] = code
		d.values.AppendFrom(v, row)
	}
	return code
}
