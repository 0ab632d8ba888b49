package parquet

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// maxInt32Precision is the largest precision of a decimal in an INT32.
const maxInt32Precision = 9

// physicalType returns how a column is stored, and the bytes of a value where that is FIXED_LEN_BYTE_ARRAY.
func physicalType(t batch.Type) (format.Type, int) {
	switch t.Kind {
	case batch.Bool:
		return format.Boolean, 0
	case batch.Int8, batch.Int16, batch.Int32, batch.Date:
		return format.Int32, 0
	case batch.Int64, batch.Timestamp, batch.TimestampNTZ:
		return format.Int64, 0
	case batch.Float32:
		return format.Float, 0
	case batch.Float64:
		return format.Double, 0
	case batch.Decimal:
		switch {
		case t.Precision <= maxInt32Precision:
			return format.Int32, 0
		case t.Precision <= batch.MaxInt64Precision:
			return format.Int64, 0
		}
		return format.FixedLenByteArray, decimalBytes(t.Precision)
	}
	return format.ByteArray, 0
}

// decimalBytes returns the fewest bytes whose two's complement holds every number of so many digits.
func decimalBytes(precision uint8) int {
	limit := decimal128.GetScaleMultiplier(int(precision)) // 10^precision: its bits and a sign
	n := bits.Len64(limit.LowBits())
	if limit.HighBits() > 0 {
		n = 64 + bits.Len64(uint64(limit.HighBits()))
	}
	return n/8 + 1
}

// appendPlain appends the values of a plain vector without nulls in the PLAIN encoding of its column.
func appendPlain(dst []byte, v *batch.Vector) []byte {
	switch v.Type.Layout() {
	case batch.LayoutBools:
		return appendBools(dst, v.Bools[:v.Len])
	case batch.LayoutI8:
		return appendInt32s(dst, v.I8[:v.Len])
	case batch.LayoutI16:
		return appendInt32s(dst, v.I16[:v.Len])
	case batch.LayoutI32:
		return append(dst, bytesOf(v.I32[:v.Len])...)
	case batch.LayoutI64:
		if physical, _ := physicalType(v.Type); physical == format.Int32 {
			return appendInt32s(dst, v.I64[:v.Len])
		}
		return append(dst, bytesOf(v.I64[:v.Len])...)
	case batch.LayoutF32:
		return append(dst, bytesOf(v.F32[:v.Len])...)
	case batch.LayoutF64:
		return append(dst, bytesOf(v.F64[:v.Len])...)
	case batch.LayoutDec:
		size := decimalBytes(v.Type.Precision)
		for _, x := range v.Dec[:v.Len] {
			dst = appendBigEndian(dst, x, size)
		}
		return dst
	}
	for i := range v.Len {
		x := v.Bytes[v.Off[i]:v.Off[i+1]]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(x)))
		dst = append(dst, x...)
	}
	return dst
}

// bytesOf views fixed-width values as little-endian bytes, which is how the machines that this program is built for keep them.
func bytesOf[T int32 | int64 | float32 | float64](xs []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(xs))), len(xs)*int(unsafe.Sizeof(one)))
}

func appendInt32s[T int8 | int16 | int64](dst []byte, xs []T) []byte {
	for _, x := range xs {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(int32(x)))
	}
	return dst
}

func appendBools(dst []byte, xs []bool) []byte {
	for len(xs) > 0 {
		n := min(8, len(xs))
		var b byte
		for i, x := range xs[:n] {
			if x {
				b |= 1 << i
			}
		}
		dst, xs = append(dst, b), xs[n:]
	}
	return dst
}

func appendBigEndian(dst []byte, x decimal128.Num, size int) []byte {
	var wide [16]byte
	binary.BigEndian.PutUint64(wide[:8], uint64(x.HighBits()))
	binary.BigEndian.PutUint64(wide[8:], x.LowBits())
	return append(dst, wide[16-size:]...)
}

// appendLevelsV1 appends repetition or definition levels as a version 1 data page has them: a length, then runs. nil means that all n levels
// are top, the greatest there is.
func appendLevelsV1(dst []byte, levels []uint8, n int, top uint8) ([]byte, error) {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	if levels == nil {
		dst = append(binary.AppendUvarint(dst, uint64(n)<<1), top)
	} else {
		runs, err := (&rle.Encoding{BitWidth: bits.Len8(top)}).EncodeLevels(nil, levels)
		if err != nil {
			return nil, err
		}
		dst = append(dst, runs...)
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst, nil
}

// appendCodes appends indices into a dictionary of size values: the bit width, then runs.
func appendCodes(dst []byte, codes []int32, size int) ([]byte, error) {
	width := max(1, bits.Len(uint(size-1)))
	runs, err := (&rle.Encoding{BitWidth: width}).EncodeInt32(nil, codes)
	if err != nil {
		return nil, err
	}
	return append(append(dst, byte(width)), runs...), nil
}
