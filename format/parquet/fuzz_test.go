package parquet

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// readFuzzed reads a damaged file: it ends, and an error says which file it is.
func readFuzzed(t *testing.T, data []byte) {
	if err := scanDamaged(data); err != nil {
		var typed *Error
		require.ErrorAs(t, err, &typed)
	}
}

// fuzzSeeds are small whole files: flat, nested, with a shredded variant.
func fuzzSeeds(f *testing.F) (files [][]byte) {
	r := rand.New(rand.NewPCG(9, 9))
	flat := batch.NewSchema(
		batch.Field{Name: "i", Type: batch.Type{Kind: batch.Int32}, Nullable: true},
		batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}, Nullable: true},
		batch.Field{Name: "d", Type: batch.DecimalOf(30, 2)})
	var nested []batch.Field
	for _, text := range []string{"struct<a:int,l:array<string>>", "map<string,array<double>>", "variant", "struct<metadata:binary,value:binary,typed_value:struct<k:struct<value:binary,typed_value:bigint>>>"} {
		typ, err := batch.ParseType(text)
		require.NoError(f, err)
		nested = append(nested, batch.Field{Name: text, Type: typ, Nullable: true})
	}
	for _, c := range []Compression{Snappy, Uncompressed, Zstd} {
		for _, s := range []*batch.Schema{flat, batch.NewSchema(nested...)} {
			data, _ := encodeFile(f, s, WriterOptions{Compression: c, PageBytes: 100}, randomNested(r, s, 20, 0.2, true))
			files = append(files, data)
		}
	}
	return files
}

// FuzzOpen reads files whose bytes are damaged anywhere.
func FuzzOpen(f *testing.F) {
	for _, data := range fuzzSeeds(f) {
		f.Add(data)
	}
	f.Fuzz(readFuzzed)
}

// FuzzFooter reads whole pages under damaged footers.
func FuzzFooter(f *testing.F) {
	files := fuzzSeeds(f)
	for i, data := range files {
		footer := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		f.Add(uint8(i), data[len(data)-8-footer:len(data)-8])
		files[i] = data[:len(data)-8-footer]
	}
	f.Fuzz(func(t *testing.T, file uint8, footer []byte) {
		readFuzzed(t, withFooter(files[int(file)%len(files)], footer))
	})
}

// fuzzSchemas are the columns that FuzzPages reads pages as.
var fuzzSchemas = []string{
	"optional boolean c", "optional int32 c", "required int64 c", "optional int96 c", "required float c", "optional double c", "optional binary c (UTF8)",
	"required fixed_len_byte_array(5) c (DECIMAL 11 2)", "repeated int32 c (DATE)", "optional group c (LIST) { repeated group list { optional binary element } }",
	"optional group c { required group l (LIST) { repeated group list { optional group element (LIST) { repeated int64 array } } } }",
}

// FuzzPages reads damaged pages of one column under a footer that tells where they are.
func FuzzPages(f *testing.F) {
	add := func(schema int, codec format.CompressionCodec, rows uint16, pages ...rawPage) {
		_, leaves, err := readSchema(parseSchema(f, fuzzSchemas[schema]))
		require.NoError(f, err)
		var data []byte
		for _, p := range pages {
			data = append(data, p.page(f, leaves[0].maxRep, leaves[0].maxDef)...)
		}
		f.Add(uint8(schema), uint8(codec), rows, data)
	}
	must := func(data []byte, err error) []byte {
		require.NoError(f, err)
		return data
	}
	i32, i64 := []int32{5, 7, 7, -1, 1 << 30}, []int64{1, 2, 3, 1 << 40, -9}
	text, offsets := []byte("aababcabcdabcde"), []uint32{0, 1, 3, 6, 10, 15}
	add(0, 0, 6, rawPage{defs: "110111", values: []byte{0b10110}}, rawPage{defs: "0", encoding: format.RLE})
	add(0, 0, 5, rawPage{defs: "11111", encoding: format.RLE, values: must((&rle.Encoding{BitWidth: 1}).EncodeBoolean(nil, []byte{0b10110}))})
	add(1, 0, 5, rawPage{defs: "11111", encoding: format.DeltaBinaryPacked, values: must(pq.DeltaBinaryPacked.EncodeInt32(nil, i32))})
	add(1, 0, 5, rawPage{v2: true, rows: 5, defs: "11111", encoding: format.ByteStreamSplit, values: must(pq.ByteStreamSplit.EncodeInt32(nil, i32))})
	add(2, 0, 5, rawPage{n: 5, encoding: format.DeltaBinaryPacked, values: must(pq.DeltaBinaryPacked.EncodeInt64(nil, i64))})
	add(3, 0, 2, rawPage{defs: "01", values: make([]byte, 12)})
	add(4, 0, 2, rawPage{n: 2, values: int32s(1, 2)})
	add(5, 0, 2, rawPage{defs: "11", oldLevels: true, values: int64s(1, 2)})
	add(6, 0, 5, rawPage{defs: "11111", encoding: format.DeltaLengthByteArray, values: must(pq.DeltaLengthByteArray.EncodeByteArray(nil, text, offsets))})
	add(6, 0, 5, rawPage{defs: "11111", encoding: format.DeltaByteArray, values: must(pq.DeltaByteArray.EncodeByteArray(nil, text, offsets))})
	add(7, 0, 3, rawPage{n: 3, encoding: format.DeltaByteArray, values: must(pq.DeltaByteArray.EncodeFixedLenByteArray(nil, text, 5))})
	add(8, 0, 3, rawPage{reps: "01010", defs: "11110", values: int32s(i32[:4]...)})
	add(9, 0, 3, rawPage{reps: "01001", defs: "32013", values: strings32("a", "b")}, rawPage{v2: true, rows: 1, reps: "0", defs: "0"})
	add(10, 0, 3, rawPage{reps: "0212001", defs: "4444012", values: int64s(1, 2, 3, 4)})
	for codec, schema := range map[format.CompressionCodec]int{format.Snappy: 1, format.Gzip: 2, format.Zstd: 2, format.Brotli: 2, format.Lz4Raw: 2} {
		body := must(pq.LookupCompressionCodec(codec).Encode(nil, append(sizedBytes(rleLevels("11111")), int32s(i32...)...)))
		f.Add(uint8(schema), uint8(codec), uint16(5), handPage(f, 5, format.Plain, body, 26))
	}
	f.Fuzz(func(t *testing.T, schema, codec uint8, rows uint16, pages []byte) {
		readFuzzed(t, handFile(t, fuzzSchemas[int(schema)%len(fuzzSchemas)], int64(rows), format.CompressionCodec(codec%8), pages))
	})
}
