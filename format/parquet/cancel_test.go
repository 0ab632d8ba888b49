package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// clockedContext keeps the longest time of the processor between two questions whether it has ended; it ends when it was asked so many times.
type clockedContext struct {
	context.Context
	asked, last   int
	before, worst time.Duration
}

func (c *clockedContext) Err() error {
	now := processorTime()
	c.worst, c.before = max(c.worst, now-c.before), now
	if c.asked++; c.last > 0 && c.asked > c.last {
		return context.Canceled
	}
	return nil
}

func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// someLines are n texts as logs have them.
func someLines(n int) []byte {
	var out []byte
	for i := range n {
		line := fmt.Sprintf("2026-01-02 03:04:%02d GET /shop/article/%d?session=%x HTTP/1.1 200 %d", i%60, i*7919%100_003, uint64(i)*0x9E3779B97F4A7C15, i*31%5000)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(line))), line...)
	}
	return out
}

// largePages are files of one column of n texts, in one page or dictionary, by what there is to it.
func largePages(t testing.TB, n int) map[string][]byte {
	lines := someLines(n)
	out := map[string][]byte{}
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Snappy, format.Zstd, format.Gzip, format.Brotli, format.Lz4Raw} {
		packed, err := pq.LookupCompressionCodec(codec).Encode(nil, lines)
		require.NoError(t, err)
		page := handPage(t, n, format.Plain, packed, len(lines))
		out[codec.String()] = handFile(t, "required binary c (UTF8)", int64(n), codec, page)
		if codec == format.Snappy {
			h := format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(lines)), CompressedPageSize: int32(len(packed)),
				DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain})}
			codes, err := pq.LookupCompressionCodec(codec).Encode(nil, append([]byte{1}, manyLevels(n, 1)...))
			require.NoError(t, err)
			pages := append(append(thriftOf(t, &h), packed...), handPage(t, n, format.RLEDictionary, codes, 1+len(manyLevels(n, 1)))...)
			out["dictionary"] = handFile(t, "required binary c (UTF8)", int64(n), codec, pages)
		}
	}
	return out
}

// scanUntil reads a file by an Advance and a Column at a time until its end, or an error.
func scanUntil(ctx context.Context, t testing.TB, data []byte) error {
	f, err := openBytes(data)
	require.NoError(t, err)
	s := f.Scan(context.Background(), ScanOptions{Columns: []batch.Field{{Name: "c", Type: batch.Type{Kind: batch.String}}}})
	defer func() { require.NoError(t, s.Close()) }()
	for {
		if _, err := s.Next(ctx); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}

// TestScansEndInsideAPage: what goes by pieces asks for the end between them, and then ends; no other page is begun.
func TestScansEndInsideAPage(t *testing.T) {
	const n = 30_000 // of some 90 bytes
	pieces := map[string]int{"GZIP": 2, "BROTLI": 2, "dictionary": n / dictionaryPiece}
	for name, data := range largePages(t, n) {
		t.Run(name, func(t *testing.T) {
			scan := func(last int) (asked int, err error) {
				ctx := &clockedContext{Context: context.Background(), last: last}
				err = scanUntil(ctx, t, data)
				return ctx.asked, err
			}
			all, err := scan(0)
			require.NoError(t, err)
			require.Greater(t, all, pieces[name]+n/batch.MaxRows)
			for last := 1; last < all; last += 1 + all/4 {
				asked, err := scan(last)
				require.ErrorIs(t, err, context.Canceled)
				require.LessOrEqual(t, asked, last+2)
			}
		})
	}
}

// TestLargePagesOfZstd: they go by pieces, which give what the whole does, and an error where the page is not whole.
func TestLargePagesOfZstd(t *testing.T) {
	plain := make([]byte, largePage+pieceBytes/2)
	for i := range plain {
		plain[i] = byte(i * i >> 7)
	}
	packed, err := pq.LookupCompressionCodec(format.Zstd).Encode(nil, plain)
	require.NoError(t, err)
	got, err := decompress(nil, format.Zstd, nil, packed, len(plain))
	require.NoError(t, err)
	require.True(t, bytes.Equal(plain, got))
	for _, wrong := range []int{-1, 1} {
		_, err = decompress(nil, format.Zstd, nil, packed, len(plain)+wrong)
		require.ErrorIs(t, err, ErrDamaged)
	}
	_, err = decompress(nil, format.Zstd, nil, packed[:len(packed)/2], len(plain))
	require.ErrorIs(t, err, ErrDamaged)
	ctx := &clockedContext{Context: context.Background(), last: 10}
	_, err = decompress(&ending{ctx}, format.Zstd, nil, packed, len(plain))
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, ctx.asked, 15)
}

// BenchmarkCancel tells the longest time of the processor between two looks for the end, over a page of 64 MB.
func BenchmarkCancel(b *testing.B) {
	for name, data := range largePages(b, 700_000) {
		b.Run(name, func(b *testing.B) {
			runtime.GC()
			defer debug.SetGCPercent(debug.SetGCPercent(-1))
			ctx := &clockedContext{Context: context.Background(), before: processorTime()}
			require.NoError(b, scanUntil(ctx, b, data))
			b.ReportMetric(ctx.worst.Seconds()*1e3, "cpu-ms-between-looks")
		})
	}
}
