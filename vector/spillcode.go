package vector

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"

	"lakesql/batch"
)

// A vector in a spill is a word that says what follows, then its validity, and its values as they are in memory or the codes of its dictionary. Each of
// these is padded to a multiple of eight bytes.
const (
	spillAbsent  = iota // nobody looks at the column: nothing follows
	spillPlain          // the values
	spillNewDict        // a dictionary as a vector of its own with its length before it, and codes
	spillDict           // codes of a dictionary that came before
	spillNulls   = 1 << 8
	dictShift    = 32 // the number of the dictionary is in the upper half
)

// dictionaryBytes bounds the dictionaries of one file: they are kept in memory by whoever reads it. Beyond that values are written out, and so are
// those of a block that has fewer rows than its dictionary.
const dictionaryBytes = 1 << 20

// vectorWriter writes vectors. Dictionaries are written once.
type vectorWriter struct {
	known map[*batch.Vector]uint64
	bytes int64 // of them
}

func putWord(to []byte, w uint64) { binary.NativeEndian.PutUint64(to, w) }

func appendWord(out []byte, w uint64) []byte { return binary.NativeEndian.AppendUint64(out, w) }

// append writes the rows of v; nil: all.
func (w *vectorWriter) append(out []byte, v *batch.Vector, rows []int32) []byte {
	if v == nil {
		return appendWord(out, spillAbsent)
	}
	n := len(rows)
	if rows == nil {
		n = v.Len
	}
	head := uint64(spillPlain)
	if v.Valid != nil {
		head |= spillNulls
	}
	if v.Dict == nil {
		out = appendValidity(appendWord(out, head), v, rows, n)
		return w.values(out, v, rows)
	}
	number, isKnown := w.known[v.Dict]
	if size := vectorSize(v.Dict); !isKnown && (v.Dict.Len > n || w.bytes+size > dictionaryBytes) {
		return w.append(out, v.Gather(rows).Decode(), nil)
	} else if !isKnown {
		if w.known == nil {
			w.known = map[*batch.Vector]uint64{}
		}
		number = uint64(len(w.known))
		w.known[v.Dict], w.bytes = number, w.bytes+size
	}
	head = head&^0xff | spillDict | number<<dictShift
	if isKnown {
		out = appendWord(out, head)
	} else {
		out = appendWord(out, head&^0xff|spillNewDict|number<<dictShift)
		out = appendWord(out, uint64(v.Dict.Len))
		out = w.append(out, v.Dict, nil)
	}
	return appendValues(appendValidity(out, v, rows, n), v.Codes[:v.Len], rows)
}

func appendValidity(out []byte, v *batch.Vector, rows []int32, n int) []byte {
	if v.Valid == nil {
		return out
	}
	valid := v.Valid
	if rows != nil {
		valid = make(batch.Bitmap, len(batch.Bitmap(nil).Grow(n)))
		for k, i := range rows {
			if v.Valid.Get(int(i)) {
				valid.Set(k)
			}
		}
	}
	return append(out, wordBytes(valid[:(n+63)/64])...)
}

// values writes those of a plain vector.
func (w *vectorWriter) values(out []byte, v *batch.Vector, rows []int32) []byte {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		return appendValues(out, v.Bools[:v.Len], rows)
	case batch.LayoutI8:
		return appendValues(out, v.I8[:v.Len], rows)
	case batch.LayoutI16:
		return appendValues(out, v.I16[:v.Len], rows)
	case batch.LayoutI32:
		return appendValues(out, v.I32[:v.Len], rows)
	case batch.LayoutI64:
		return appendValues(out, v.I64[:v.Len], rows)
	case batch.LayoutF32:
		return appendValues(out, v.F32[:v.Len], rows)
	case batch.LayoutF64:
		return appendValues(out, v.F64[:v.Len], rows)
	case batch.LayoutDec:
		return appendValues(out, v.Dec[:v.Len], rows)
	case batch.LayoutBytes:
		return appendTexts(out, v, rows)
	case batch.LayoutStruct:
		for _, child := range v.Children {
			out = w.append(out, child, rows)
		}
	case batch.LayoutList:
		if rows != nil {
			v = v.Gather(rows)
		}
		first, end := int(v.Off[0]), int(v.Off[v.Len])
		out = appendOffsets(out, v.Off[:v.Len+1])
		for _, child := range v.Children {
			out = w.append(out, child.Slice(first, end), nil)
		}
	}
	return out
}

// appendValues appends values as they are in memory.
func appendValues[T any](out []byte, values []T, rows []int32) []byte {
	size := int(unsafe.Sizeof(*new(T)))
	if rows == nil {
		out = append(out, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), size*len(values))...)
		return pad(out)
	}
	at := len(out)
	out = slices.Grow(out, size*len(rows)+7)[:at+size*len(rows)]
	to := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(out[at:]))), len(rows))
	for k, i := range rows {
		to[k] = values[i]
	}
	return pad(out)
}

func pad(out []byte) []byte {
	for len(out)&7 != 0 {
		out = append(out, 0)
	}
	return out
}

// appendOffsets appends them as counted from the first one.
func appendOffsets(out []byte, off []int32) []byte {
	for _, x := range off {
		out = binary.NativeEndian.AppendUint32(out, uint32(x-off[0]))
	}
	return pad(out)
}

func appendTexts(out []byte, v *batch.Vector, rows []int32) []byte {
	if rows == nil {
		out = appendOffsets(out, v.Off[:v.Len+1])
		return pad(append(out, v.Bytes[v.Off[0]:v.Off[v.Len]]...))
	}
	end := uint32(0)
	out = binary.NativeEndian.AppendUint32(out, end)
	for _, i := range rows {
		end += uint32(v.Off[i+1] - v.Off[i])
		out = binary.NativeEndian.AppendUint32(out, end)
	}
	out = pad(out)
	for _, i := range rows {
		out = append(out, v.Bytes[v.Off[i]:v.Off[i+1]]...)
	}
	return pad(out)
}

// vectorReader reads what a vectorWriter has written. The vectors share its memory, but for dictionaries.
type vectorReader struct {
	bytes []byte
	dicts []*batch.Vector
}

func (r *vectorReader) word() uint64 {
	w := binary.NativeEndian.Uint64(r.bytes)
	r.bytes = r.bytes[8:]
	return w
}

// vector reads n rows of a type; nil where they were left out.
func (r *vectorReader) vector(t batch.Type, n int) *batch.Vector {
	head := r.word()
	v := &batch.Vector{Type: t, Len: n}
	switch head & 0xff {
	case spillAbsent:
		return nil
	case spillNewDict:
		dict := r.vector(t, int(r.word())).Clone()
		for uint64(len(r.dicts)) <= head>>dictShift {
			r.dicts = append(r.dicts, dict)
		}
		v.Dict = r.dicts[head>>dictShift]
	case spillDict:
		v.Dict = r.dicts[head>>dictShift]
	}
	if head&spillNulls != 0 {
		v.Valid = batch.Bitmap(inPlace[uint64](r, (n+63)/64))
	}
	if v.Dict != nil {
		v.Codes = inPlace[uint32](r, n)
		return v
	}
	r.values(v, n)
	return v
}

func (r *vectorReader) values(v *batch.Vector, n int) {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		v.Bools = inPlace[bool](r, n)
	case batch.LayoutI8:
		v.I8 = inPlace[int8](r, n)
	case batch.LayoutI16:
		v.I16 = inPlace[int16](r, n)
	case batch.LayoutI32:
		v.I32 = inPlace[int32](r, n)
	case batch.LayoutI64:
		v.I64 = inPlace[int64](r, n)
	case batch.LayoutF32:
		v.F32 = inPlace[float32](r, n)
	case batch.LayoutF64:
		v.F64 = inPlace[float64](r, n)
	case batch.LayoutDec:
		v.Dec = inPlace[decimal128.Num](r, n)
	case batch.LayoutBytes:
		v.Off = inPlace[int32](r, n+1)
		v.Bytes = inPlace[byte](r, int(v.Off[n]))
	case batch.LayoutStruct:
		for _, f := range v.Type.Fields() {
			v.Children = append(v.Children, r.vector(f.Type, n))
		}
	case batch.LayoutList:
		v.Off = inPlace[int32](r, n+1)
		for _, f := range v.Type.Fields() {
			v.Children = append(v.Children, r.vector(f.Type, int(v.Off[n])))
		}
	}
}

// inPlace returns n values in place.
func inPlace[T any](r *vectorReader, n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(r.bytes))), n)
	r.bytes = r.bytes[(size+7)&^7:]
	return values
}
