package dv

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/google/uuid"
)

// Writer writes one file of vectors. It belongs to one goroutine.
type Writer struct {
	w      io.Writer
	id     uuid.UUID
	offset int64 // bytes that have been written
}

// NewWriter returns a writer of a file with a new name, whose bytes go to what open returns for that name: a key below
// the table's root.
func NewWriter(open func(key string) (io.Writer, error)) (*Writer, error) {
	id := uuid.New()
	w, err := open(fileName("", id))
	if err != nil {
		return nil, err
	}
	return &Writer{w: w, id: id}, nil
}

// Size is the number of bytes so far.
func (w *Writer) Size() int64 { return w.offset }

// Add writes a set that is not empty, and returns its descriptor.
func (w *Writer) Add(b *Bitmap) (Descriptor, error) {
	var out []byte
	if w.offset == 0 {
		out = append(out, fileVersion)
	}
	start, data := w.offset+int64(len(out)), encode(b)
	if start > math.MaxInt32 || len(data) > math.MaxInt32-2*frameBytes {
		return Descriptor{}, fmt.Errorf("a deletion vector of %d bytes at byte %d: a file of vectors cannot be larger than 2 GiB", len(data), start)
	}
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	out = append(out, data...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	n, err := w.w.Write(out)
	w.offset += int64(n)
	if err != nil {
		return Descriptor{}, err
	}
	offset := int32(start)
	return Descriptor{StorageType: storedRelative, PathOrInline: string(appendZ85(nil, w.id[:])), Offset: &offset,
		SizeInBytes: int32(len(data)), Cardinality: b.Cardinality()}, nil
}
