package json

import (
	"bytes"
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchRows makes rows of the nine columns that the performance goals are measured on: about 190 bytes each.
func benchRows(n int) []byte {
	var b bytes.Buffer
	statuses := []string{"new", "paid", "shipped", "returned"}
	for i := range n {
		fmt.Fprintf(&b, `{"id":%d,"cust_id":%d,"qty":%d,"amount":%d.%04d,"status":"%s","code":"%016x","ts":"2024-01-%02d %02d:%02d:%02d.%06d","d":"2024-%02d-%02d","price":%d.%02d}`+"\n",
			i, i*7919%1000000, i%100, i%9973, i%10000, statuses[i%4], uint64(i)*0x9E3779B97F4A7C15,
			i%28+1, i%24, i%60, i%60, i%1000000, i%12+1, i%28+1, i%100000, i%100)
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	benchmarkReader(b, benchRows(100_000), "id BIGINT, cust_id INT, qty INT, amount DOUBLE, status STRING, code STRING, ts TIMESTAMP, d DATE, price DECIMAL(18,2)")
}

// BenchmarkNested reads an order with its lines.
func BenchmarkNested(b *testing.B) {
	var in bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&in, `{"id": %d, "customer": {"name": "customer %d", "vip": %t}, "lines": [{"item": "a%d", "qty": %d}, {"item": "b", "qty": 2}]}`+"\n", i, i, i%7 == 0, i%100, i%9)
	}
	benchmarkReader(b, in.Bytes(), "id BIGINT, customer STRUCT<name: STRING, vip: BOOLEAN>, lines ARRAY<STRUCT<item: STRING, qty: INT>>")
}

func benchmarkReader(b *testing.B, data []byte, columns string) {
	schema := schemaOf(b, columns)
	want := bytes.Count(data, []byte("\n"))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data), schema, DefaultOptions())
		require.NoError(b, err)
		rows := 0
		for {
			batch, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(b, err)
			rows += batch.Rows()
		}
		require.Equal(b, want, rows)
	}
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N*want), "cpu-ns/row")
}

// cpuTime is what the process has used so far: wall time says little on a machine that does other things.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
