package parquet

import (
	"encoding/binary"

	"lakesql/batch"
)

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
	met    *[metEntries]metValue // values met of late, which spares the maps what repeats soon; nil: there were no more than a few rows

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
	if d.met == nil && len(rows) >= metRows {
		d.met = new([metEntries]metValue)
	}
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
	case d.met == nil:
		for _, r := range rows {
			codes = append(codes, d.code(v, int(r)))
		}
	case d.texts != nil:
		for _, r := range rows {
			codes = append(codes, d.codeOfText(v, int(r)))
		}
	case v.Type.Layout() == batch.LayoutI32:
		for _, r := range rows {
			codes = append(codes, d.codeOfInt(v, int(r), int64(v.I32[r])))
		}
	default:
		for _, r := range rows {
			codes = append(codes, d.codeOfInt(v, int(r), v.I64[r]))
		}
	}
	return codes
}

const (
	metBits    = 9
	metEntries = 1 << metBits
	maxMetText = 16  // bytes
	metRows    = 128 // at once, from which on its memory is worth having
)

// metValue is a value and its code: an integer, or a text of no more than maxMetText bytes, which its first and last eight bytes and its length tell.
type metValue struct {
	first, last uint64
	length      int32
	code        int32 // + 1; 0: none
}

// metAt is the place of a value among those met of late.
func (d *dictionary) metAt(first, last uint64) *metValue {
	const golden, other = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
	return &d.met[(first*golden^last*other)>>(64-metBits)]
}

func (d *dictionary) codeOfInt(v *batch.Vector, row int, x int64) int32 {
	met := d.metAt(uint64(x), 0)
	if met.code == 0 || met.first != uint64(x) {
		*met = metValue{first: uint64(x), code: d.code(v, row) + 1}
	}
	return met.code - 1
}

func (d *dictionary) codeOfText(v *batch.Vector, row int) int32 {
	x := v.Bytes[v.Off[row]:v.Off[row+1]]
	if len(x) > maxMetText {
		return d.code(v, row)
	}
	first, last := ends(x)
	met := d.metAt(first, last)
	if met.code == 0 || met.first != first || met.last != last || int(met.length) != len(x) {
		*met = metValue{first, last, int32(len(x)), d.code(v, row) + 1}
	}
	return met.code - 1
}

// ends are the first and the last eight bytes of a short text, or all of it.
func ends(x []byte) (first, last uint64) {
	switch n := len(x); {
	case n >= 8:
		return binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(x[n-8:])
	case n >= 4:
		return uint64(binary.LittleEndian.Uint32(x)) | uint64(binary.LittleEndian.Uint32(x[n-4:]))<<32, 0
	case n > 0:
		return uint64(x[0]) | uint64(x[n/2])<<8 | uint64(x[n-1])<<16, 0
	}
	return 0, 0
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
