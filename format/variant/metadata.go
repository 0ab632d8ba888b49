package variant

import "fmt"

// version is the only version of the encoding.
const version = 1

// Metadata is the dictionary of the field names of a variant.
type Metadata struct {
	raw     []byte
	size    int // bytes of each offset
	names   int
	offsets []byte // names+1 of them
	text    []byte // the names behind one another
}

// ParseMetadata reads the header of a variant's metadata. The names themselves are only checked where Name reads them.
func ParseMetadata(raw []byte) (Metadata, error) {
	if len(raw) == 0 {
		return Metadata{}, damaged("metadata of no bytes")
	}
	if v := raw[0] & 0x0F; v != version {
		return Metadata{}, damaged("metadata of version %d; only version %d is known", v, version)
	}
	m := Metadata{raw: raw, size: int(raw[0]>>6) + 1}
	rest := raw[1:]
	if len(rest) < m.size {
		return Metadata{}, damaged("metadata of %d bytes", len(raw))
	}
	m.names, rest = readUint(rest, 0, m.size), rest[m.size:]
	if (m.names+1)*m.size > len(rest) {
		return Metadata{}, damaged("metadata of %d bytes with %d names", len(raw), m.names)
	}
	m.offsets, m.text = rest[:(m.names+1)*m.size], rest[(m.names+1)*m.size:]
	return m, nil
}

// Len returns the number of names.
func (m Metadata) Len() int { return m.names }

// Name returns the name with that id. It aliases the metadata.
func (m Metadata) Name(id int) ([]byte, error) {
	if id < 0 || id >= m.names {
		return nil, damaged("field id %d; the metadata has %d names", id, m.names)
	}
	lo, hi := readUint(m.offsets, id, m.size), readUint(m.offsets, id+1, m.size)
	if lo > hi || hi > len(m.text) {
		return nil, damaged("field name %d at bytes %d to %d of %d", id, lo, hi, len(m.text))
	}
	return m.text[lo:hi], nil
}

// readUint reads the i-th of a list of little-endian numbers of size bytes, 1 to 4.
func readUint(b []byte, i, size int) int {
	n := 0
	for at := size - 1; at >= 0; at-- {
		n = n<<8 | int(b[i*size+at])
	}
	return n
}

// DamagedError says what is wrong with the bytes of a variant.
type DamagedError struct{ Found string }

func (e *DamagedError) Error() string { return "damaged variant: " + e.Found }

func damaged(format string, args ...any) error {
	return &DamagedError{Found: fmt.Sprintf(format, args...)}
}
