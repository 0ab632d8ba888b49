package dv

import (
	"context"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/stretchr/testify/require"
)

// FuzzDecode: any bytes are a set or an error, and a set that is read is one that can be written and read again.
func FuzzDecode(f *testing.F) {
	runs := roaring.New()
	runs.AddRange(10, 100_000)
	runs.RunOptimize()
	dense := new(Bitmap)
	for i := range int64(10_000) {
		dense.Add(3 * i)
	}
	f.Add(encode(Of(1, 2, 70_000)))
	f.Add(encode(dense))
	f.Add(native(f, roaring.BitmapOf(1, 2), runs))
	f.Add(encode(Of(1 << 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(encode(b))
		require.NoError(t, err)
		require.True(t, b.Equal(again))
		require.NoError(t, b.rows.Validate())
	})
}

// FuzzRead: any descriptor over any file is a set or an error.
func FuzzRead(f *testing.F) {
	_, file, descriptors := writeFile(f, Of(1, 2, 3), Of(70_000))
	for _, d := range descriptors {
		f.Add(d.StorageType, d.PathOrInline, *d.Offset, d.SizeInBytes, d.Cardinality, file)
	}
	f.Add("i", "^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093", int32(-1), int32(34), int64(1), []byte(nil))
	f.Add("p", "file:///x.bin", int32(0), int32(34), int64(1), framed(encode(Of(9))))
	f.Fuzz(func(t *testing.T, kind, path string, offset, size int32, rows int64, file []byte) {
		d := Descriptor{StorageType: kind, PathOrInline: path, SizeInBytes: size, Cardinality: rows}
		if offset >= 0 {
			d.Offset = &offset
		}
		if _, _, err := d.Path(); err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		b, err := Read(context.Background(), d, from(file))
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		require.Equal(t, rows, b.Cardinality())
	})
}
