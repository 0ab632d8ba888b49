package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// foreignFile writes rows with parquet-go's own writer.
func foreignFile[T any](t testing.TB, rows []T, opts ...pq.WriterOption) *File {
	t.Helper()
	var out bytes.Buffer
	w := pq.NewGenericWriter[T](&out, opts...)
	_, err := w.Write(rows)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	f, err := openBytes(out.Bytes())
	require.NoError(t, err)
	return f
}

func column(t testing.TB, f *File, name string, typ batch.Type) *batch.Vector {
	t.Helper()
	b, err := readAll(f, ScanOptions{Columns: []batch.Field{{Name: name, Type: typ, Nullable: true}}})
	require.NoError(t, err)
	return b.Cols[0]
}

func texts(v *batch.Vector) []string {
	var out []string
	for i := range v.Len {
		out = append(out, v.Format(i))
	}
	return out
}

type widths struct {
	I8    int8    `parquet:"i8"`
	I16   int16   `parquet:"i16"`
	I32   int32   `parquet:"i32,dict"`
	I64   int64   `parquet:"i64"`
	U8    uint8   `parquet:"u8"`
	U32   uint32  `parquet:"u32"`
	F     float32 `parquet:"f"`
	Date  int32   `parquet:"day,date"`
	D9    int32   `parquet:"d9,decimal(2:9)"`
	D18   int64   `parquet:"d18,decimal(2:18)"`
	Fixed [5]byte `parquet:"fixed,decimal(3:10)"`
	Raw   [3]byte `parquet:"raw"`
	Plain []byte  `parquet:"bytes,optional"`
	Ms    int64   `parquet:"ms,timestamp(millisecond)"`
	Ns    int64   `parquet:"ns,timestamp(nanosecond)"`
}

func TestWidening(t *testing.T) {
	row := widths{I8: -5, I16: -300, I32: 70_000, I64: 1 << 40, U8: 200, U32: 4_000_000_000, F: 0.5, Date: -1, D9: -123, D18: 99_999,
		Fixed: [5]byte{0xff, 0xff, 0xff, 0xfe, 0x0c}, Raw: [3]byte{1, 2, 3}, Plain: []byte("text"), Ms: -1, Ns: -1}
	f := foreignFile(t, []widths{row})
	for _, c := range []struct {
		name string
		typ  batch.Type
		want string
	}{
		{"i8", batch.Type{Kind: batch.Int8}, "-5"},
		{"i8", batch.Type{Kind: batch.Int64}, "-5"},
		{"i16", batch.Type{Kind: batch.Int32}, "-300"},
		{"i32", batch.Type{Kind: batch.Int64}, "70000"},
		{"i32", batch.Type{Kind: batch.Float64}, "70000"},
		{"i32", batch.DecimalOf(12, 1), "70000.0"},
		{"i64", batch.DecimalOf(21, 1), "1099511627776.0"},
		{"u8", batch.Type{Kind: batch.Int16}, "200"},
		{"u32", batch.Type{Kind: batch.Int64}, "4000000000"},
		{"f", batch.Type{Kind: batch.Float32}, "0.5"},
		{"f", batch.Type{Kind: batch.Float64}, "0.5"},
		{"day", batch.Type{Kind: batch.Date}, "1969-12-31"},
		{"day", batch.Type{Kind: batch.TimestampNTZ}, "1969-12-31 00:00:00"},
		{"d9", batch.DecimalOf(9, 2), "-1.23"},
		{"d9", batch.DecimalOf(18, 4), "-1.2300"},
		{"d18", batch.DecimalOf(18, 2), "999.99"},
		{"d18", batch.DecimalOf(38, 5), "999.99000"},
		{"fixed", batch.DecimalOf(10, 3), "-0.500"},
		{"raw", batch.Type{Kind: batch.Binary}, "0x010203"},
		{"bytes", batch.Type{Kind: batch.String}, "text"},
		{"bytes", batch.Type{Kind: batch.Binary}, "0x74657874"},
		{"ms", batch.Type{Kind: batch.Timestamp}, "1969-12-31 23:59:59.999000"},
		{"ns", batch.Type{Kind: batch.Timestamp}, "1969-12-31 23:59:59.999999"},
	} {
		require.Equal(t, []string{c.want}, texts(column(t, f, c.name, c.typ)), "%s as %s", c.name, c.typ)
	}
}

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	f := foreignFile(t, []widths{{I16: 300, I32: 70_000, D18: 12_345_678_901}})
	for _, c := range []struct {
		name string
		typ  batch.Type
		want string
	}{
		{"i64", batch.Type{Kind: batch.Int32}, "the file has long, the table says integer"},
		{"i16", batch.Type{Kind: batch.Int8}, "300 does not fit byte"},
		{"i64", batch.Type{Kind: batch.Float64}, "the file has long, the table says double"},
		{"bytes", batch.Type{Kind: batch.Int32}, "the file has binary, the table says integer"},
		{"d18", batch.DecimalOf(18, 1), "the file has decimal(18,2), the table says decimal(18,1)"},
		{"d18", batch.DecimalOf(9, 2), "123456789.01 does not fit decimal(9,2)"},
		{"day", batch.Type{Kind: batch.Timestamp}, "the file has date, the table says timestamp"},
	} {
		_, err := readAll(f, ScanOptions{Columns: []batch.Field{{Name: c.name, Type: c.typ}}})
		require.ErrorIs(t, err, ErrType, c.name)
		require.ErrorContains(t, err, "read column "+c.name+" of memory:/test/f.parquet: type mismatch: "+c.want)
	}
}

// int96Of encodes microseconds as Impala and Spark do.
func int96Of(us int64) deprecated.Int96 {
	days := us / batch.MicrosPerDay
	rest := us % batch.MicrosPerDay
	if rest < 0 {
		days, rest = days-1, rest+batch.MicrosPerDay
	}
	nanos := uint64(rest) * 1000
	return deprecated.Int96{uint32(nanos), uint32(nanos >> 32), uint32(days + julianEpoch)}
}

func TestInt96(t *testing.T) {
	type row struct {
		TS deprecated.Int96 `parquet:"ts"`
	}
	var rows []row
	want := []string{"9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00", "-0001-02-03 04:05:06.700000", "+12000-01-01 00:00:00"}
	for _, text := range want {
		us, err := batch.ParseTimestamp([]byte(text), nil)
		require.NoError(t, err)
		rows = append(rows, row{int96Of(us)})
	}
	f := foreignFile(t, rows)
	require.Equal(t, want, texts(column(t, f, "ts", batch.Type{Kind: batch.Timestamp})))
	require.False(t, f.RowGroups()[0].Stats(batch.Field{Name: "ts", Type: batch.Type{Kind: batch.Timestamp}}, nil, false).HasMinMax)

	_, ok := int96Micros(deprecated.Int96{0, 0, math.MaxInt32})
	require.False(t, ok)
}

func TestBigEndian(t *testing.T) {
	for _, x := range []int64{0, 1, -1, 127, -128, 1 << 40, math.MinInt64} {
		long := bytes.Repeat([]byte{byte(x >> 63)}, 24)
		binary.BigEndian.PutUint64(long[16:], uint64(x))
		for _, data := range [][]byte{long, long[8:], long[16:]} {
			got, err := bigEndian(data)
			require.NoError(t, err)
			require.Equal(t, x, int64(got.LowBits()))
		}
	}
	_, err := bigEndian(append([]byte{1}, make([]byte, 16)...))
	require.ErrorIs(t, err, ErrDamaged)
}

// The two libraries agree on what the other wrote, over all encodings that parquet-go writes.
func TestForeignEncodings(t *testing.T) {
	type row struct {
		Plain  string  `parquet:"plain,optional,plain"`
		Dict   string  `parquet:"dict,optional,dict"`
		Delta  string  `parquet:"delta,optional,delta"`
		Long   int64   `parquet:"long,optional,delta"`
		Split  float64 `parquet:"split,optional,split"`
		Bool   *bool   `parquet:"bool"`
		Zstd   int64   `parquet:"zstd,optional,dict,zstd"`
		Gzip   int32   `parquet:"gzip,optional,gzip"`
		Lz4    string  `parquet:"lz4,optional,plain,lz4"`
		Brotli int64   `parquet:"brotli,optional,brotli"`
		Snappy int64   `parquet:"snappy,optional,snappy"`
	}
	rows := make([]row, 30_000)
	for i := range rows {
		if i%7 == 0 || i > 10_000 && i < 20_000 {
			continue // zero is null
		}
		s, n, f, b, n32 := string(rune('a'+i%20))+"-value", int64(i*i), float64(i)/8, i%3 == 0, int32(i)
		rows[i] = row{s, s, s, n, f, &b, n, n32, s, n, n}
	}
	for _, version := range []int{1, 2} {
		f := foreignFile(t, rows, pq.DataPageVersion(version), pq.PageBufferSize(10_000))
		got, err := readAll(f, ScanOptions{Columns: f.Schema().Fields})
		require.NoError(t, err)
		require.Equal(t, len(rows), got.Len)
		for i, r := range rows {
			if r.Plain == "" {
				for _, c := range got.Cols {
					require.True(t, c.IsNull(i))
				}
				continue
			}
			want := []any{r.Plain, r.Dict, r.Delta, r.Long, r.Split, *r.Bool, r.Zstd, r.Gzip, r.Lz4, r.Brotli, r.Snappy}
			for c, w := range want {
				if v := got.Cols[c].Value(i); v != w { // require.Equal for each would take most of the test's time
					require.Equal(t, w, v, "row %d column %d", i, c)
				}
			}
		}
	}
}

// What this package writes is what parquet-go's own reader reads.
func TestForeignReader(t *testing.T) {
	type row struct {
		ID   int64    `parquet:"id"`
		Name *string  `parquet:"name"`
		F    *float64 `parquet:"f"`
		B    *bool    `parquet:"b"`
		Code *string  `parquet:"code"`
	}
	s := batch.NewSchema(
		batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}},
		batch.Field{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true},
		batch.Field{Name: "f", Type: batch.Type{Kind: batch.Float64}, Nullable: true},
		batch.Field{Name: "b", Type: batch.Type{Kind: batch.Bool}, Nullable: true},
		batch.Field{Name: "code", Type: batch.Type{Kind: batch.String}, Nullable: true},
	)
	bld := batch.NewBuilder(s)
	for i := range 10_000 {
		values := []any{int64(i), string(rune('a' + i%5)), float64(i) / 4, i%2 == 0, string(rune(i + 300))}
		if i%11 == 0 {
			values = []any{int64(i), nil, nil, nil, nil}
		}
		require.NoError(t, bld.AppendRow(values...))
	}
	data, _ := encodeFile(t, s, WriterOptions{PageBytes: 5000, RowGroupRows: 4000}, bld.Finish())
	rows, err := pq.Read[row](bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	require.Len(t, rows, 10_000)
	for i, r := range rows {
		require.Equal(t, int64(i), r.ID)
		if i%11 == 0 {
			require.Nil(t, r.Name)
			continue
		}
		require.Equal(t, string(rune('a'+i%5)), *r.Name)
		require.Equal(t, float64(i)/4, *r.F)
		require.Equal(t, i%2 == 0, *r.B)
		require.Equal(t, string(rune(i+300)), *r.Code)
	}
}
