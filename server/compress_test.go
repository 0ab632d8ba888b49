package server

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCompressionByADriver(t *testing.T) {
	g := startGuarded(t)
	for _, params := range []string{"compress=true", "compress=true&tls=skip-verify&maxAllowedPacket=0", "compress=true&multiStatements=true"} {
		db := g.as("root", params)
		var got string
		for _, size := range []int{0, 1, 49, 50, 51, 70_000, 1 << 20} {
			text := strings.Repeat("ab", size/2)
			require.NoError(t, db.QueryRow("SELECT ?", text).Scan(&got))
			require.Equal(t, text, got)
		}
		noise := make([]byte, 300_000)
		rand.NewChaCha8([32]byte{1}).Read(noise)
		var bytes []byte
		require.NoError(t, db.QueryRow("SELECT ?", noise).Scan(&bytes))
		require.Equal(t, noise, bytes, "what does not pack")
		for i := range 300 {
			var n int
			require.NoError(t, db.QueryRow(fmt.Sprint("SELECT ", i)).Scan(&n))
			require.Equal(t, i, n)
		}
		requireErrno(t, drainRows(db.Query("SELECT nothing")), 1054, "42S22")
	}
}

func TestLargePacketsCompressed(t *testing.T) {
	ts := startServer(t)
	for _, capabilities := range []uint32{clientCompress, clientCompress | rawWithoutEOF} {
		c := rawLogin{capabilities: capabilities}.dial(t, ts)
		long := strings.Repeat("0123456789abcdef", 1<<20+10) // more than one packet, each of more than one compressed
		c.query("SELECT LENGTH('" + long + "') AS n, '" + long + "' AS s")
		c.columns()
		row, more := c.read(), c.read()
		require.Len(t, row, maxPayload)
		require.Contains(t, string(row[:20]), fmt.Sprint(len(long)))
		require.True(t, strings.HasSuffix(long, string(more)))
		require.Equal(t, 1+len(fmt.Sprint(len(long)))+9+len(long), len(row)+len(more))
	}
}

func TestResultsPack(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(20_000)
	c := rawLogin{capabilities: clientCompress}.dial(t, ts)
	c.query("SELECT s FROM g.series")
	c.columns()
	count, _ := c.rows()
	require.Equal(t, 20_000, count)
}

// TestInflaterReadsWhatADeflaterWrites: any packets, in any pieces, both ways.
func TestInflaterReadsWhatADeflaterWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var sent, packed bytes.Buffer
		w := &deflater{out: &packed}
		for range rapid.IntRange(1, 5).Draw(t, "packets") {
			size := rapid.OneOf(rapid.IntRange(0, 200), rapid.IntRange(0, 200_000)).Draw(t, "size")
			payload := bytes.Repeat([]byte("abc"), size/3+1)[:size]
			if rapid.Bool().Draw(t, "noise") {
				rand.NewChaCha8([32]byte{}).Read(payload)
			}
			p := frame(payload, 0)
			sent.Write(p)
			for len(p) > 0 {
				n := min(len(p), rapid.IntRange(1, 100_000).Draw(t, "piece"))
				if _, err := w.Write(p[:n]); err != nil {
					t.Fatal(err)
				}
				p = p[n:]
			}
		}
		require.Empty(t, w.pending, "nothing whole is held back")
		got, err := io.ReadAll(&inflater{src: &packed, packs: &deflater{}})
		require.NoError(t, err)
		require.True(t, bytes.Equal(sent.Bytes(), got))
	})
}

// compressed is a compressed packet that says of its length what it likes.
func compressed(payload []byte, says int) []byte {
	var b bytes.Buffer
	b.Write(make([]byte, packedHeader))
	z := zlib.NewWriter(&b)
	if _, err := z.Write(payload); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	p := b.Bytes()
	putSize(p, len(p)-packedHeader)
	putSize(p[4:], says)
	return p
}

func TestCompressedPacketsThatLie(t *testing.T) {
	ts := startServer(t)
	setGlobal(t, "max_allowed_packet", uint64(1<<20))
	query := frame([]byte("\x03SELECT 1"), 0)
	cut := compressed(query, len(query))
	broken := bytes.Clone(cut)
	broken[len(broken)-1] ^= 1 // the checksum
	large := append([]byte{0xff, 0xff, 0xff, 0, comQuery}, make([]byte, maxPayload-5)...)
	bomb := bytes.Repeat(compressed(large, maxPayload), 10)
	for name, sent := range map[string][]byte{
		"more than it says":       compressed(query, 5),
		"less than it says":       compressed(query, len(query)+1),
		"a bomb":                  bomb,
		"a bomb that says little": compressed(make([]byte, 100<<20), 10),
		"a wrong checksum":        broken,
		"no zlib":                 append([]byte{20, 0, 0, 0, 40, 0, 0}, make([]byte, 20)...),
		"nothing":                 {0, 0, 0, 0, 9, 0, 0},
		"more behind the stream":  append([]byte{byte(len(cut) - packedHeader + 3), 0, 0, 0, byte(len(query)), 0, 0}, append(cut[packedHeader:], 1, 2, 3)...),
	} {
		t.Run(name, func(t *testing.T) {
			c := rawLogin{capabilities: clientCompress}.dial(t, ts)
			before := heap()
			_, err := c.conn.Write(sent)          // the server may have had enough before the end
			if name == "more behind the stream" { // it is harmless
				require.NoError(t, err)
				c.columns()
				return
			}
			_, err = io.Copy(io.Discard, c.conn)
			if err != nil {
				require.NotErrorIs(t, err, errors.ErrUnsupported) // closed or reset
			}
			require.Eventually(t, func() bool { return int64(heap())-int64(before) < 8<<20 }, patience, 10*time.Millisecond, "the server gives it all back, which it may do behind the end")
		})
	}
	require.Equal(t, "1", dialRaw(t, ts).value("SELECT 1"))
}

// FuzzInflater: no bytes make it panic, or give more than they say.
func FuzzInflater(f *testing.F) {
	f.Add([]byte{3, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'})
	f.Add(compressed(bytes.Repeat([]byte("x"), 1000), 1000))
	f.Add(append(compressed([]byte("abc"), 3), compressed([]byte("abc"), 4)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		said := 0
		for at := 0; at+packedHeader <= len(data); {
			size, whole := payloadSize(data[at:]), payloadSize(data[at+4:])
			if said += whole; whole == 0 {
				said += size
			}
			at += packedHeader + size
		}
		n, _ := io.Copy(io.Discard, &inflater{src: bytes.NewReader(data), packs: &deflater{}})
		require.LessOrEqual(t, n, int64(said))
	})
}
