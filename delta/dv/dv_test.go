package dv

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var ctx = context.Background()

// from reads ranges of a file in memory.
func from(file []byte) func(context.Context, int64, int64) ([]byte, error) {
	return func(_ context.Context, off, n int64) ([]byte, error) {
		off = min(off, int64(len(file)))
		return file[off:min(off+n, int64(len(file)))], nil
	}
}

func inline(text string, size int32, rows int64) Descriptor {
	return Descriptor{StorageType: "i", PathOrInline: text, SizeInBytes: size, Cardinality: rows}
}

// TestInlineVectorsOfOtherWriters: the last one is padded in the way that is not Spark's.
func TestInlineVectorsOfOtherWriters(t *testing.T) {
	for _, c := range []struct {
		d    Descriptor
		want *Bitmap
	}{
		{inline("^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9", 40, 4), Of(0, 1, 4, 5)},
		{inline("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5", 36, 2), Of(0, 5)},
		{inline("^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093", 34, 1), Of(3)},
	} {
		b, err := Read(ctx, c.d, nil)
		require.NoError(t, err)
		require.True(t, b.Equal(c.want), "%v", slices.Collect(b.All()))
	}
}

func TestZ85(t *testing.T) {
	// The vector of ZeroMQ's RFC 32.
	data := []byte{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B}
	require.Equal(t, "HelloWorld", string(appendZ85(nil, data)))
	back, err := decodeZ85("HelloWorld", 8)
	require.NoError(t, err)
	require.Equal(t, data, back)

	// Both ways to pad, for every length.
	for n := 1; n <= 3; n++ {
		data := []byte{1, 2, 3, 4, 0xFE, 0xFD, 0xFC}[:4+n]
		spark := string(appendZ85(nil, append(slices.Clone(data), make([]byte, 4-n)...)))
		got, err := decodeZ85(spark, 4+n)
		require.NoError(t, err)
		require.Equal(t, data, got)

		number := uint32(0)
		for _, b := range data[4:] {
			number = number<<8 | uint32(b)
		}
		group := appendZ85(nil, binary.BigEndian.AppendUint32(nil, number))
		copy(group, "####"[:4-n])
		got, err = decodeZ85(spark[:5]+string(group), 4+n)
		require.NoError(t, err)
		require.Equal(t, data, got)
	}

	for text, size := range map[string]int{"Hello": 8, "HelloWorld": 4, "Hell": 4, "Hell ": 4, "#####": 4, "##HHH": 2, "#0000": 2, "": 1} {
		_, err := decodeZ85(text, size)
		require.Error(t, err, "%q", text)
	}
}

// writeFile writes the sets to one file, and returns its key and bytes.
func writeFile(t require.TestingT, sets ...*Bitmap) (key string, file []byte, descriptors []Descriptor) {
	var out bytes.Buffer
	w, err := NewWriter(func(name string) (io.Writer, error) {
		key = name
		return &out, nil
	})
	require.NoError(t, err)
	for _, b := range sets {
		d, err := w.Add(b)
		require.NoError(t, err)
		descriptors = append(descriptors, d)
	}
	require.Equal(t, int64(out.Len()), w.Size())
	return key, out.Bytes(), descriptors
}

func TestFileOfManyVectors(t *testing.T) {
	dense := new(Bitmap)
	dense.AddRange(100, 90_000)
	scattered := new(Bitmap)
	for range 20_000 {
		scattered.Add(rand.Int64N(1 << 18))
	}
	sets := []*Bitmap{Of(0), dense, Of(3, 7, 1<<33+5), scattered, Of(1<<62 + 1)}
	key, file, descriptors := writeFile(t, sets...)
	require.Equal(t, byte(1), file[0])
	require.Less(t, descriptors[1].SizeInBytes, int32(100), "a range is a run")
	for i, d := range descriptors {
		path, absolute, err := d.Path()
		require.NoError(t, err)
		require.False(t, absolute)
		require.Equal(t, key, path)
		got, err := Read(ctx, d, from(file))
		require.NoError(t, err)
		require.True(t, got.Equal(sets[i]))
		require.Equal(t, sets[i].Cardinality(), d.Cardinality)
	}
	require.True(t, sets[1].Contains(100), "writing leaves the set alone")

	first := descriptors[0]
	first.Offset = nil // stands for the first
	got, err := Read(ctx, first, from(file))
	require.NoError(t, err)
	require.True(t, got.Contains(0))
}

func TestPaths(t *testing.T) {
	id := uuid.MustParse("d2c639aa-8816-431a-aaf6-d3fe2512ff61") // of the protocol
	for in, want := range map[string]string{
		"^-aqEH.-t@S}K{vb[*k^":   "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
		"ab^-aqEH.-t@S}K{vb[*k^": "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
	} {
		path, absolute, err := Descriptor{StorageType: "u", PathOrInline: in}.Path()
		require.NoError(t, err)
		require.Equal(t, want, path)
		require.False(t, absolute)
	}
	require.Equal(t, "^-aqEH.-t@S}K{vb[*k^", string(appendZ85(nil, id[:])))
	path, absolute, err := Descriptor{StorageType: "p", PathOrInline: "s3://b/a%20b.bin"}.Path()
	require.NoError(t, err)
	require.True(t, absolute)
	require.Equal(t, "s3://b/a%20b.bin", path)
	for _, d := range []Descriptor{{StorageType: "u", PathOrInline: "short"}, {StorageType: "u", PathOrInline: "                    "}, {StorageType: "x"}} {
		_, _, err := d.Path()
		require.ErrorIs(t, err, ErrDamaged)
	}
}

// native serializes as old engines did.
func native(t testing.TB, sets ...*roaring.Bitmap) []byte {
	out := binary.LittleEndian.AppendUint32(nil, magicNative)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(sets)))
	for _, s := range sets {
		data, err := s.ToBytes()
		require.NoError(t, err)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(data)))
		out = append(out, data...)
	}
	return out
}

func TestNativeFormat(t *testing.T) {
	runs := roaring.New()
	runs.AddRange(10, 100_000)
	runs.RunOptimize()
	data := native(t, roaring.BitmapOf(1, 70_000), roaring.New(), runs)
	got, err := decode(data)
	require.NoError(t, err)
	want := Of(1, 70_000)
	want.AddRange(2<<32+10, 2<<32+100_000)
	require.True(t, got.Equal(want))
}

// framed is a file of one vector.
func framed(data []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{1}, uint32(len(data)))
	return binary.BigEndian.AppendUint32(append(out, data...), crc32.ChecksumIEEE(data))
}

func TestDamage(t *testing.T) {
	_, file, descriptors := writeFile(t, Of(1, 2, 3))
	d := descriptors[0]
	change := func(at int, with byte) []byte {
		out := slices.Clone(file)
		out[at] = with
		return out
	}
	at := func(offset int32) Descriptor {
		out := d
		out.Offset = &offset
		return out
	}
	size, cardinality := d, d
	size.SizeInBytes++
	cardinality.Cardinality++
	for name, c := range map[string]struct {
		d    Descriptor
		file []byte
		want string
	}{
		"version":     {d, change(0, 2), "version 2"},
		"size":        {d, change(4, 99), "99 bytes"},
		"content":     {d, change(9, 99), "checksum"},
		"checksum":    {d, change(len(file)-1, 0), "checksum"},
		"cut":         {d, file[:len(file)-1], "ends before byte"},
		"empty":       {d, nil, "ends before byte"},
		"beyond":      {at(1 << 20), file, "ends before byte"},
		"negative":    {at(-1), file, "offset -1"},
		"longer":      {size, file, "ends before byte"},
		"cardinality": {cardinality, file, "3 rows, not 4"},
		"no size":     {inline("", 0, 0), nil, "0 bytes"},
		"magic":       {inline("00000", 4, 0), nil, "no known format"},
	} {
		_, err := Read(ctx, c.d, from(c.file))
		require.ErrorIs(t, err, ErrDamaged, name)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := Read(ctx, d, func(context.Context, int64, int64) ([]byte, error) { return nil, io.ErrClosedPipe })
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.NotErrorIs(t, err, ErrDamaged, "what a store says is no damage")

	good := encode(Of(1, 2, 70_000))
	for n := range good {
		_, err := decode(good[:n])
		require.Error(t, err)
	}
	_, err = decode(append(good, 0))
	require.ErrorContains(t, err, "left over")
}

func TestLive(t *testing.T) {
	b := Of(0, 5, 6, 99, 1000)
	live, all := b.Live(nil, 0, 8)
	require.False(t, all)
	require.Equal(t, []int32{1, 2, 3, 4, 7}, live)
	live, all = b.Live([]int32{42}, 4, 3)
	require.False(t, all)
	require.Equal(t, []int32{42, 0}, live)
	live, all = b.Live(nil, 7, 92)
	require.True(t, all)
	require.Nil(t, live)
	live, all = b.Live(nil, 99, 1)
	require.False(t, all)
	require.Empty(t, live)
	_, all = (*Bitmap)(nil).Live(nil, 0, 10)
	require.True(t, all)
}

// TestSets compares with a map.
func TestSets(t *testing.T) {
	row := rapid.Int64Range(0, 1<<17)
	rapid.Check(t, func(t *rapid.T) {
		one, two := rapid.SliceOf(row).Draw(t, "one"), rapid.SliceOf(row).Draw(t, "two")
		in := func(rows []int64) map[int64]bool {
			m := map[int64]bool{}
			for _, r := range rows {
				m[r] = true
			}
			return m
		}
		a, b := in(one), in(two)
		or, without := Of(one...), Of(one...)
		or.Or(Of(two...))
		without.AndNot(Of(two...))
		var union, rest []int64
		common := false
		for r := range a {
			union = append(union, r)
			common = common || b[r]
			if !b[r] {
				rest = append(rest, r)
			}
		}
		for r := range b {
			if !a[r] {
				union = append(union, r)
			}
		}
		slices.Sort(union)
		slices.Sort(rest)
		require.Equal(t, union, slices.Collect(or.All()))
		require.Equal(t, rest, slices.Collect(without.All()))
		require.Equal(t, common, Of(one...).Intersects(Of(two...)))
		if len(union) > 0 {
			require.Equal(t, union[len(union)-1], or.Max())
			_, file, descriptors := writeFile(t, or)
			back, err := Read(ctx, descriptors[0], from(file))
			require.NoError(t, err)
			require.True(t, back.Equal(or))
		}
	})
}

func TestNilIsEmpty(t *testing.T) {
	var none *Bitmap
	require.Zero(t, none.Cardinality())
	require.Equal(t, int64(-1), none.Max())
	require.False(t, none.Contains(0))
	require.False(t, none.Intersects(Of(1)))
	require.True(t, none.Equal(new(Bitmap)))
	require.False(t, none.Equal(Of(1)))
	require.Empty(t, slices.Collect(none.All()))
	require.Zero(t, none.Clone().Cardinality())
}
