package parquet

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
)

// allocated returns how much memory a step takes altogether, in MiB.
func allocated(step func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	step()
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) >> 20
}

// manyLevels is a run of n levels.
func manyLevels(n int, level byte) []byte {
	return append(binary.AppendUvarint(nil, uint64(n)<<1), level)
}

// handPage is a page of the first version whose body is given.
func handPage(t testing.TB, n int, encoding format.Encoding, body []byte, size int) []byte {
	return headedPage(t, format.DataPageHeader{NumValues: int32(n), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}, body, size)
}

func headedPage(t testing.TB, h format.DataPageHeader, body []byte, size int) []byte {
	return append(thriftOf(t, &format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(size), CompressedPageSize: int32(len(body)), DataPageHeader: thrift.New(h)}), body...)
}

// handFile is a file of one column with these pages.
func handFile(t testing.TB, schema string, rows int64, codec format.CompressionCodec, pages []byte) []byte {
	meta := format.FileMetaData{Version: 1, Schema: parseSchema(t, schema), NumRows: rows}
	_, leaves, err := readSchema(meta.Schema)
	require.NoError(t, err)
	m := format.ColumnMetaData{Type: leaves[0].physical, Codec: codec, NumValues: rows, DataPageOffset: 4, TotalCompressedSize: int64(len(pages)), TotalUncompressedSize: int64(len(pages))}
	meta.RowGroups = []format.RowGroup{{NumRows: rows, Columns: []format.ColumnChunk{{MetaData: m}}}}
	return withFooter(append([]byte(magic), pages...), thriftOf(t, &meta))
}

// Few bytes that say they are many take little memory, and end in an error where they lie.
func TestSmallFilesTakeLittleMemory(t *testing.T) {
	const many = 1<<31 - 1
	deltas := append(binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 1<<30), 1), many), 0, 0, 0, 0, 0)
	zeros, err := pq.LookupCompressionCodec(format.Zstd).Encode(nil, make([]byte, 8<<20))
	require.NoError(t, err)
	one := sizedBytes(manyLevels(many, 1))
	for _, c := range []struct {
		name string
		data []byte
		mib  uint64
		want string // of the error; "": there is none in the first batches
	}{
		{"nulls", handFile(t, "optional int64 c", many, 0, handPage(t, many, format.Plain, sizedBytes(manyLevels(many, 0)), 9)), 4, ""},
		{"values that are not there", handFile(t, "optional int64 c", many, 0, handPage(t, many, format.Plain, one, len(one))), 4, "8192 more values"},
		{"strings that are not there", handFile(t, "required binary c", many, 0, handPage(t, many, format.Plain, int64s(1), 8)), 4, "8192 more values"},
		{"equal numbers", handFile(t, "required int64 c", many, 0, handPage(t, many, format.DeltaBinaryPacked, deltas, len(deltas))), 4, ""},
		{"empty strings", handFile(t, "required binary c", many, 0, handPage(t, many, format.DeltaLengthByteArray, deltas, len(deltas))), 4, ""},
		{"elements of one row", handFile(t, "repeated int64 c", 1, 0, handPage(t, many, format.Plain, append(sizedBytes(append([]byte{2, 0}, manyLevels(many-1, 1)...)), sizedBytes(manyLevels(many, 1))...), 20)), 4, "4096 more values"},
		{"empty elements of one row", handFile(t, "optional group c (LIST) { repeated group list { optional int64 element } }", 1, 0,
			handPage(t, many, format.Plain, append(sizedBytes(append([]byte{2, 0}, manyLevels(many-1, 1)...)), sizedBytes(manyLevels(many, 2))...), 20)), 400, "elements in 1 rows"},
		{"a page in snappy", handFile(t, "required int64 c", 1, format.Snappy, handPage(t, 1, format.Plain, []byte("\xff\xff\xff\xff\x07"), many)), 4, "is said to have"},
		{"a string in snappy", handFile(t, "required int64 c", 1, format.Snappy, handPage(t, 1, format.Plain, []byte("\xff\xff\xff\xff\x07"), 100)), 4, "said to have 100"},
		{"a page in gzip", handFile(t, "required int64 c", 1, format.Gzip, handPage(t, 1, format.Plain, make([]byte, 100), 1<<30)), 4, "is said to have"},
		{"a page in zstd", handFile(t, "required int64 c", 1, format.Zstd, handPage(t, 1, format.Plain, zeros, 255<<20)), 60, "has 8388608"},
		{"a larger page in zstd", handFile(t, "required int64 c", 1, format.Zstd, handPage(t, 1, format.Plain, zeros, 257<<20)), 4, "is said to have"},
		{"a page in brotli", handFile(t, "required int64 c", 1, format.Brotli, handPage(t, 1, format.Plain, make([]byte, 10), 255<<20)), 20, "said to have"},
		{"old levels", handFile(t, "optional int64 c", many, 0, headedPage(t, format.DataPageHeader{NumValues: many, DefinitionLevelEncoding: format.BitPacked}, []byte{1, 2, 3}, 3)), 4, "its levels end too early"},
		{"a list in the footer", withFooter([]byte(magic), []byte{0x15, 2, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}), 4, "whole"},
		{"depth in the footer", withFooter([]byte(magic), bytes.Repeat([]byte{0x1c}, 1<<20)), 8, "whole"},
		{"a footer of structs", withFooter([]byte(magic), append([]byte{0x15, 2, 0x19, 0xfc, 0x80, 0x80, 0x40}, make([]byte, 1<<20)...)), 8, "whole"},
		{"column chunks", withFooter([]byte(magic), append(append([]byte{0x15, 2, 0x49, 0x1c, 0x19, 0xfc, 0x80, 0x80, 0x10}, bytes.Repeat([]byte{0x26, 0, 0}, 1<<18)...), 0)), 8, "row groups are not whole"},
	} {
		var err error
		mib := allocated(func() { err = scanDamaged(c.data) })
		if c.want == "" {
			require.NoError(t, err, c.name)
		} else {
			require.ErrorContains(t, err, c.want, c.name)
		}
		require.LessOrEqual(t, mib, c.mib, c.name)
	}
}
