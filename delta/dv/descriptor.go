package dv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/google/uuid"
)

// ErrDamaged says that a descriptor, or what it points to, is not what the protocol allows.
var ErrDamaged = errors.New("damaged deletion vector")

// The kinds of storage.
const (
	storedInline   = "i" // PathOrInline is the vector in Z85
	storedRelative = "u" // PathOrInline is an optional prefix and a UUID in Z85, of a file below the table's root
	storedAbsolute = "p" // PathOrInline is the URI of a file
)

// Descriptor is what the log says about a vector.
type Descriptor struct {
	StorageType  string // u, i or p
	PathOrInline string
	Offset       *int32 // of the vector in its file, in bytes; nil: not given
	SizeInBytes  int32  // of the serialized set, without its frame in the file
	Cardinality  int64  // rows
}

// ID tells one vector from another: it is part of a file's key in the log.
func (d Descriptor) ID() string {
	id := d.StorageType + d.PathOrInline
	if d.Offset != nil {
		id += "@" + strconv.Itoa(int(*d.Offset))
	}
	return id
}

const idDigits = 20 // of a UUID in Z85

// Path is where the vector's file is: a key below the table's root, or a URI as the log has it where absolute is set; ""
// for an inline vector.
func (d Descriptor) Path() (path string, absolute bool, err error) {
	switch d.StorageType {
	case storedInline:
		return "", false, nil
	case storedAbsolute:
		return d.PathOrInline, true, nil
	case storedRelative:
		at := len(d.PathOrInline) - idDigits
		if at < 0 {
			return "", false, fmt.Errorf("%w: %q is no name of a file", ErrDamaged, d.PathOrInline)
		}
		id, err := decodeZ85(d.PathOrInline[at:], len(uuid.UUID{}))
		if err != nil {
			return "", false, fmt.Errorf("%w: %q is no name of a file: %w", ErrDamaged, d.PathOrInline, err)
		}
		return fileName(d.PathOrInline[:at], uuid.UUID(id)), false, nil
	}
	return "", false, fmt.Errorf("%w: storage type %q is not known", ErrDamaged, d.StorageType)
}

// fileName is the key of a file of vectors.
func fileName(prefix string, id uuid.UUID) string {
	name := "deletion_vector_" + id.String() + ".bin"
	if prefix == "" {
		return name
	}
	return prefix + "/" + name
}

// A file is a version byte, then the vectors: the size and, behind the bytes, their CRC-32 are big-endian.
const (
	fileVersion = 1
	firstOffset = 1
	frameBytes  = 4 // in front of the bytes, and behind
)

// maxBytesBefore is how much is read from the front of a file, beside the vector, to save a second request for its version.
const maxBytesBefore = 8 << 10

// Read returns the set that d describes. get reads bytes [off, off+n) of the file at d.Path, fewer where the file ends; it is
// not called for an inline vector. What breaks the protocol is ErrDamaged.
func Read(ctx context.Context, d Descriptor, get func(ctx context.Context, off, n int64) ([]byte, error)) (*Bitmap, error) {
	if d.SizeInBytes <= 0 || d.Cardinality < 0 {
		return nil, fmt.Errorf("%w: %d bytes for %d rows", ErrDamaged, d.SizeInBytes, d.Cardinality)
	}
	data, err := d.bytes(ctx, get)
	if err != nil {
		return nil, err
	}
	b, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if n := b.Cardinality(); n != d.Cardinality {
		return nil, fmt.Errorf("%w: it has %d rows, not %d", ErrDamaged, n, d.Cardinality)
	}
	return b, nil
}

// bytes are the serialized set.
func (d Descriptor) bytes(ctx context.Context, get func(ctx context.Context, off, n int64) ([]byte, error)) ([]byte, error) {
	if d.StorageType == storedInline {
		data, err := decodeZ85(d.PathOrInline, int(d.SizeInBytes))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return data, nil
	}
	offset := int64(firstOffset)
	if d.Offset != nil && *d.Offset != 0 {
		offset = int64(*d.Offset)
	}
	if offset < firstOffset {
		return nil, fmt.Errorf("%w: offset %d", ErrDamaged, offset)
	}
	version, framed, err := readFramed(ctx, get, offset, int64(d.SizeInBytes)+2*frameBytes)
	switch {
	case err != nil:
		return nil, err
	case version != fileVersion:
		return nil, fmt.Errorf("%w: its file has version %d, not %d", ErrDamaged, version, fileVersion)
	}
	size, data := binary.BigEndian.Uint32(framed), framed[frameBytes:len(framed)-frameBytes]
	if size != uint32(d.SizeInBytes) {
		return nil, fmt.Errorf("%w: it has %d bytes, not %d", ErrDamaged, size, d.SizeInBytes)
	}
	if sum, want := crc32.ChecksumIEEE(data), binary.BigEndian.Uint32(framed[len(framed)-frameBytes:]); sum != want {
		return nil, fmt.Errorf("%w: its checksum is %08x, not %08x", ErrDamaged, sum, want)
	}
	return data, nil
}

// readFramed reads the version of a file, and n bytes at an offset.
func readFramed(ctx context.Context, get func(ctx context.Context, off, n int64) ([]byte, error), offset, n int64) (version byte, framed []byte, err error) {
	before := offset
	if offset > maxBytesBefore {
		first, err := get(ctx, 0, 1)
		if err != nil {
			return 0, nil, err
		}
		if len(first) < 1 {
			return 0, nil, fmt.Errorf("%w: its file is empty", ErrDamaged)
		}
		version, before = first[0], 0
	}
	data, err := get(ctx, offset-before, before+n)
	if err != nil {
		return 0, nil, err
	}
	if int64(len(data)) < before+n {
		return 0, nil, fmt.Errorf("%w: its file ends before byte %d", ErrDamaged, offset+n)
	}
	if before > 0 {
		version = data[0]
	}
	return version, data[before:], nil
}
