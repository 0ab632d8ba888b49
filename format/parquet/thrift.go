package parquet

// Thrift's compact protocol, as far as reading untrusted bytes needs it: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

// The types of the compact protocol's values.
const (
	thriftStop   = 0
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13
)

const (
	// maxThriftDepth is how deep structs and lists may nest. Parquet's own nest seven deep.
	maxThriftDepth = 32
	// minListStruct is how many bytes a struct in a list of Parquet's takes at least, so that a list's count can be checked before
	// memory is taken for it.
	minListStruct = 3
	// minColumnChunk is the same for a column chunk of a row group, whose Go value is by far the largest.
	minColumnChunk = 16
)

// thriftReader reads values one after the other. It never leaves its bytes: what they do not hold reads as zero and sets bad.
type thriftReader struct {
	data []byte
	pos  int
	bad  bool
}

func (t *thriftReader) byte() byte {
	if t.pos >= len(t.data) {
		t.bad = true
		return 0
	}
	t.pos++
	return t.data[t.pos-1]
}

func (t *thriftReader) uvarint() (x uint64) {
	for shift := uint(0); shift < 64; shift += 7 {
		b := t.byte()
		x |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return x
		}
	}
	t.bad = true
	return 0
}

// int reads a zigzag number: one of 16, 32 or 64 bits.
func (t *thriftReader) int() int64 {
	x := t.uvarint()
	return int64(x>>1) ^ -int64(x&1)
}

// field reads the header of a struct's next field; last is the field before. The kind is thriftStop behind the last one.
func (t *thriftReader) field(last int16) (id int16, kind byte) {
	head := t.byte()
	kind = head & 0x0f
	switch {
	case t.bad || head == thriftStop:
		return 0, thriftStop
	case head>>4 != 0:
		return last + int16(head>>4), kind
	}
	return int16(t.int()), kind
}

// skip leaves out n bytes.
func (t *thriftReader) skip(n uint64) {
	if n > uint64(len(t.data)-t.pos) {
		t.bad = true
		return
	}
	t.pos += int(n)
}

// skipValue leaves out a value of a field.
func (t *thriftReader) skipValue(kind byte, depth int) {
	switch kind {
	case thriftTrue, thriftFalse: // the header is the value
	default:
		t.skipItem(kind, depth)
	}
}

// skipItem leaves out a value that stands alone, as in a list.
func (t *thriftReader) skipItem(kind byte, depth int) {
	if depth > maxThriftDepth {
		t.bad = true
	}
	if t.bad {
		return
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.skip(1)
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		t.skip(8)
	case thriftUUID:
		t.skip(16)
	case thriftBinary:
		t.skip(t.uvarint())
	case thriftList, thriftSet:
		t.skipList(depth)
	case thriftMap:
		t.skipMap(depth)
	case thriftStruct:
		t.skipStruct(depth)
	default:
		t.bad = true
	}
}

func (t *thriftReader) skipStruct(depth int) {
	var id int16
	for !t.bad {
		var kind byte
		if id, kind = t.field(id); kind == thriftStop {
			return
		}
		t.skipValue(kind, depth+1)
	}
}

func (t *thriftReader) skipList(depth int) {
	kind, n := t.list(minListStruct)
	for ; n > 0 && !t.bad; n-- {
		t.skipItem(kind, depth+1)
	}
}

// list reads the header of a list: the type of its elements, and how many there are. There can be that many, if a struct takes so many bytes.
func (t *thriftReader) list(minStruct uint64) (kind byte, n uint64) {
	head := t.byte()
	if kind, n = head&0x0f, uint64(head>>4); n == 15 {
		n = t.uvarint()
	}
	each := uint64(1)
	if kind == thriftStruct {
		each = minStruct
	}
	if n > uint64(len(t.data)-t.pos)/each {
		t.bad = true
	}
	return kind, n
}

// fields calls read for each field of a struct; it reads the field's value, or returns false and has it left out.
func (t *thriftReader) fields(read func(id int16, kind byte) bool) {
	var id int16
	for !t.bad {
		var kind byte
		if id, kind = t.field(id); kind == thriftStop {
			return
		}
		if !read(id, kind) {
			t.skipValue(kind, 1)
		}
	}
}

func (t *thriftReader) skipMap(depth int) {
	n := t.uvarint()
	if n == 0 {
		return
	}
	kinds := t.byte()
	for ; n > 0 && !t.bad; n-- {
		t.skipItem(kinds>>4, depth+1)
		t.skipItem(kinds&0x0f, depth+1)
	}
}

// checkThrift says whether the bytes begin with a whole struct, whose lists are not longer than the bytes can hold. The decoder that makes Go
// values of it takes a list's word for its length, and follows any depth.
func checkThrift(data []byte) bool {
	t := thriftReader{data: data}
	t.skipStruct(0)
	return !t.bad
}

// readChunks checks the lists of column chunks in a footer likewise, and tells of each chunk, by row group, whether it says how many nulls it has: the decoder has 0 where it
// does not, too.
func readChunks(footer []byte) (counted [][]bool, ok bool) {
	t := &thriftReader{data: footer}
	t.fields(func(id int16, kind byte) bool {
		if id != 4 || kind != thriftList { // FileMetaData.row_groups
			return false
		}
		counted = nil
		kind, groups := t.list(minListStruct)
		for ; groups > 0 && !t.bad; groups-- {
			if kind != thriftStruct {
				t.skipItem(kind, 1)
				continue
			}
			counted = append(counted, t.countedChunks())
		}
		return true
	})
	return counted, !t.bad
}

// countedChunks tells which column chunks of a row group say how many nulls they have.
func (t *thriftReader) countedChunks() (counted []bool) {
	t.fields(func(id int16, kind byte) bool {
		if id != 1 || kind != thriftList { // RowGroup.columns
			return false
		}
		counted = nil
		kind, chunks := t.list(minColumnChunk)
		for ; chunks > 0 && !t.bad; chunks-- {
			if kind != thriftStruct {
				t.skipItem(kind, 1)
				continue
			}
			counts := false
			t.inField(3, func() { // ColumnChunk.meta_data
				t.inField(12, func() { // ColumnMetaData.statistics
					t.fields(func(id int16, kind byte) bool {
						counts = counts || id == 3 && kind == thriftI64 // Statistics.null_count
						return false
					})
				})
			})
			counted = append(counted, counts)
		}
		return true
	})
	return counted
}

// inField reads a struct: read reads the struct that one of its fields is, the others are left out.
func (t *thriftReader) inField(field int16, read func()) {
	t.fields(func(id int16, kind byte) bool {
		if id != field || kind != thriftStruct {
			return false
		}
		read()
		return true
	})
}
