package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// steps reads n values in steps of random length, leaving some out, and calls check with what each step of values gave.
func steps(t *testing.T, r *rand.Rand, d decoder, n int, check func(at int, got raw)) {
	for at := 0; at < n; {
		step := min(n-at, 1+r.IntN(200))
		if r.IntN(4) == 0 {
			require.NoError(t, d.skip(step))
		} else {
			got, err := d.next(step)
			require.NoError(t, err)
			require.Equal(t, step, got.n)
			check(at, got)
		}
		at += step
	}
}

// Numbers in every encoding are those that parquet-go encoded.
func TestDecodeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{1, 2, 31, 32, 33, 128, 129, 1000, 5000} {
		for _, spread := range []int64{1, 2, 100, 1 << 31, 1 << 62} {
			i32, i64, f64 := make([]int32, n), make([]int64, n), make([]float64, n)
			for i := range n {
				i64[i] = r.Int64N(spread) - spread/2
				i32[i], f64[i] = int32(i64[i]), float64(i64[i])/7
			}
			for _, enc := range []encoding.Encoding{&pq.Plain, &pq.DeltaBinaryPacked, &pq.ByteStreamSplit} {
				data, err := enc.EncodeInt32(nil, i32)
				require.NoError(t, err)
				d, err := newDecoder(&leaf{physical: format.Int32}, enc.Encoding(), data)
				require.NoError(t, err)
				steps(t, r, d, n, func(at int, got raw) { require.Equal(t, i32[at:at+got.n], got.i32) })
				_, err = d.next(1)
				require.ErrorIs(t, err, ErrDamaged)

				data, err = enc.EncodeInt64(nil, i64)
				require.NoError(t, err)
				d, err = newDecoder(&leaf{physical: format.Int64}, enc.Encoding(), data)
				require.NoError(t, err)
				steps(t, r, d, n, func(at int, got raw) { require.Equal(t, i64[at:at+got.n], got.i64) })
			}
			for _, enc := range []encoding.Encoding{&pq.Plain, &pq.ByteStreamSplit} {
				data, err := enc.EncodeDouble(nil, f64)
				require.NoError(t, err)
				d, err := newDecoder(&leaf{physical: format.Double}, enc.Encoding(), data)
				require.NoError(t, err)
				steps(t, r, d, n, func(at int, got raw) { require.Equal(t, f64[at:at+got.n], got.f64) })
			}
		}
	}
}

func TestDecodeStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	for _, n := range []int{1, 5, 128, 700} {
		var text []byte
		offsets := []uint32{0}
		fixed := make([]byte, 0, 5*n)
		var values, fixedValues []string
		for i := range n {
			x := strings.Repeat("prefix ", r.IntN(4)) + fmt.Sprint(r.IntN(1000))
			if r.IntN(5) == 0 {
				x = ""
			}
			values = append(values, x)
			text = append(text, x...)
			offsets = append(offsets, uint32(len(text)))
			five := fmt.Sprintf("%05d", i*3)
			fixed, fixedValues = append(fixed, five...), append(fixedValues, five)
		}
		for _, enc := range []encoding.Encoding{&pq.Plain, &pq.DeltaLengthByteArray, &pq.DeltaByteArray} {
			data, err := enc.EncodeByteArray(nil, text, offsets)
			require.NoError(t, err)
			d, err := newDecoder(&leaf{physical: format.ByteArray}, enc.Encoding(), data)
			require.NoError(t, err)
			steps(t, r, d, n, func(at int, got raw) {
				for i := range got.n {
					require.Equal(t, values[at+i], string(got.value(i)))
				}
			})
			_, err = d.next(1)
			require.ErrorIs(t, err, ErrDamaged)
		}
		for _, enc := range []encoding.Encoding{&pq.Plain, &pq.DeltaByteArray, &pq.ByteStreamSplit} {
			data, err := enc.EncodeFixedLenByteArray(nil, fixed, 5)
			require.NoError(t, err)
			d, err := newDecoder(&leaf{physical: format.FixedLenByteArray, length: 5}, enc.Encoding(), data)
			require.NoError(t, err)
			steps(t, r, d, n, func(at int, got raw) {
				for i := range got.n {
					require.Equal(t, fixedValues[at+i], string(got.value(i)))
				}
			})
		}
	}
}

func TestDecodeBooleans(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{1, 7, 8, 9, 100, 3000} {
		bits := make([]byte, (n+7)/8)
		values := make([]bool, n)
		for i := range values {
			if values[i] = r.IntN(1+i%90/30) == 0; values[i] {
				bits[i/8] |= 1 << (i % 8)
			}
		}
		for _, enc := range []encoding.Encoding{&pq.Plain, &rle.Encoding{BitWidth: 1}} {
			data, err := enc.EncodeBoolean(nil, bits)
			require.NoError(t, err)
			d, err := newDecoder(&leaf{physical: format.Boolean}, enc.Encoding(), data)
			require.NoError(t, err)
			steps(t, r, d, n, func(at int, got raw) { require.Equal(t, values[at:at+got.n], got.bools) })
		}
	}
}

// Levels and codes of every width come in any steps, from runs of both kinds.
func TestHybrid(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for width := uint(0); width <= 32; width++ {
		for _, n := range []int{1, 8, 13, 1000} {
			values := make([]int32, n)
			for i := range values {
				values[i] = int32(uint32(r.Uint64() & (1<<width - 1)))
				if i > 0 && r.IntN(3) > 0 {
					values[i] = values[i-1]
				}
			}
			data, err := (&rle.Encoding{BitWidth: int(width)}).EncodeInt32(nil, values)
			require.NoError(t, err)
			codes, levels := newHybrid(bytes.Clone(data), width, 1<<32-1), newHybrid(data, width, 1<<32-1)
			for at := 0; at < n; {
				step := min(n-at, 1+r.IntN(40))
				if r.IntN(4) == 0 {
					require.NoError(t, codes.skip(step))
					require.NoError(t, levels.skip(step))
				} else {
					got, small := make([]uint32, step), make([]byte, step)
					require.NoError(t, codes.codes(got))
					if width <= 8 {
						require.NoError(t, levels.levels(small))
					}
					for i := range step {
						require.Equal(t, uint32(values[at+i]), got[i], "width %d, %d of %d", width, at+i, n)
						if width <= 8 {
							require.Equal(t, byte(values[at+i]), small[i])
						}
					}
				}
				at += step
			}
		}
	}
	limited := newHybrid([]byte{3, 0b11_10_01_00, 0b11_10_01_00}, 2, 2)
	require.ErrorContains(t, limited.codes(make([]uint32, 8)), "3 where the highest is 2")
	run := newHybrid([]byte{4, 9}, 4, 8)
	require.ErrorContains(t, run.levels(make([]byte, 1)), "9 where the highest is 8")
}

func TestBitTricks(t *testing.T) {
	for b := range 256 {
		var bytes [8]byte
		binary.LittleEndian.PutUint64(bytes[:], spreadBits(byte(b)))
		for i, x := range bytes {
			require.Equal(t, byte(b>>i&1), x)
		}
		require.Equal(t, byte(b), gatherBits(spreadBits(byte(b))))
	}
}

// hadoopFrames compresses as Hadoop's codec does, in blocks of that many bytes, each in two pieces.
func hadoopFrames(t *testing.T, data []byte, block int) (out []byte) {
	for len(data) > 0 {
		n := min(block, len(data))
		out = binary.BigEndian.AppendUint32(out, uint32(n))
		for _, piece := range [][]byte{data[:n/2], data[n/2 : n]} {
			if len(piece) == 0 {
				continue
			}
			packed := make([]byte, lz4.CompressBlockBound(len(piece)))
			size, err := lz4.CompressBlock(piece, packed, nil)
			require.NoError(t, err)
			if size == 0 { // it cannot be compressed: a block of literals
				packed = append(literalToken(len(piece)), piece...)
				size = len(packed)
			}
			out = append(binary.BigEndian.AppendUint32(out, uint32(size)), packed[:size]...)
		}
		data = data[n:]
	}
	return out
}

// literalToken begins a block of LZ4 that is n literals.
func literalToken(n int) []byte {
	if n < 15 {
		return []byte{byte(n << 4)}
	}
	out := []byte{0xf0}
	for n -= 15; n >= 255; n -= 255 {
		out = append(out, 255)
	}
	return append(out, byte(n))
}

// Pages of every codec, as other programs write them, and as much of them as they say.
func TestDecompress(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{0, 1, 10, 1000, 300_000} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(r.IntN(3)) * byte(i>>6)
		}
		for _, codec := range []format.CompressionCodec{format.Snappy, format.Gzip, format.Brotli, format.Zstd, format.Lz4Raw, format.Lz4} {
			var packed []byte
			var err error
			if codec == format.Lz4 {
				packed = hadoopFrames(t, data, 1000)
			} else {
				packed, err = pq.LookupCompressionCodec(codec).Encode(nil, data)
				require.NoError(t, err)
			}
			got, err := decompress(nil, codec, nil, packed, n)
			require.NoError(t, err, "%s %d", codec, n)
			require.True(t, bytes.Equal(data, got), "%s %d", codec, n)
			if n > 1 {
				for _, wrong := range []int{n - 1, n + 1} {
					_, err = decompress(nil, codec, nil, packed, wrong)
					require.ErrorIs(t, err, ErrDamaged, "%s %d", codec, wrong)
				}
				_, err = decompress(nil, codec, nil, packed[:len(packed)/2], n)
				require.ErrorIs(t, err, ErrDamaged, codec)
			}
		}
		if raw, err := pq.LookupCompressionCodec(format.Lz4Raw).Encode(nil, data); err == nil && n > 0 {
			got, err := decompress(nil, format.Lz4, nil, raw, n)
			require.NoError(t, err, "without frames")
			require.Equal(t, data, got)
		}
	}
	require.ErrorIs(t, checkCodec(format.LZO), ErrUnsupported)
}

// A page of zeros that is far smaller than what it stands for is read in pieces.
func TestDecompressSlowly(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, codec := range []format.CompressionCodec{format.Zstd, format.Brotli} {
		packed, err := pq.LookupCompressionCodec(codec).Encode(nil, zeros)
		require.NoError(t, err)
		require.Greater(t, len(zeros), suspicious*len(packed)+1<<16)
		got, err := decompress(nil, codec, nil, packed, len(zeros))
		require.NoError(t, err)
		require.True(t, bytes.Equal(zeros, got))
		for _, wrong := range []int{len(zeros) - 1, len(zeros) + 1, maxPageBytes} {
			_, err = decompress(nil, codec, nil, packed, wrong)
			require.ErrorIs(t, err, ErrDamaged)
		}
	}
}

// All physical types in the encodings that nobody writes often, through whole files.
func TestForeignNumbers(t *testing.T) {
	var days []deprecated.Int96
	var want []string
	for i := range int64(20) {
		us := (i*987_654_321 - 5_000_000_000) * 1000
		days = append(days, int96Of(us))
		want = append(want, string(batch.AppendTimestamp(nil, us)))
	}
	plain, err := pq.Plain.EncodeInt96(nil, days)
	require.NoError(t, err)
	f := (&rawFile{schema: "required int96 t", rows: 20, chunks: []rawChunk{{pages: []rawPage{{n: 20, values: plain}}}}}).open(t)
	require.Equal(t, want, texts(column(t, f, "t", batch.Type{Kind: batch.Timestamp})))

	codes, err := pq.RLEDictionary.EncodeInt32(nil, []int32{1, 0, 1, 1})
	require.NoError(t, err)
	for _, enc := range []format.Encoding{format.RLEDictionary, oldDictionary} {
		f = (&rawFile{schema: "optional fixed_len_byte_array(3) d (DECIMAL 6 2)", rows: 5, chunks: []rawChunk{{
			dict: []byte{0xff, 0xff, 0xfe, 0, 1, 0}, count: 2, pages: []rawPage{{defs: "11011", encoding: enc, values: codes}}}}}).open(t)
		require.Equal(t, []string{"2.56", "-0.02", "NULL", "2.56", "2.56"}, texts(column(t, f, "d", batch.DecimalOf(6, 2))))
	}
}

func TestAnyAbove(t *testing.T) {
	for n := range 9 {
		xs := make([]uint32, n)
		require.False(t, anyAbove(xs, 0))
		for i := range xs {
			xs[i] = 7
			require.False(t, anyAbove(xs, 7))
			require.True(t, anyAbove(xs, 6))
			xs[i] = math.MaxUint32
			require.True(t, anyAbove(xs, 7))
			require.False(t, anyAbove(xs, math.MaxUint32))
			xs[i] = 0
		}
	}
}
