package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// benchRows makes rows of the nine columns that the performance goals are measured on: about 108 bytes each.
func benchRows(n int) []byte {
	var b bytes.Buffer
	b.WriteString("id,cust_id,qty,amount,status,code,ts,d,price\n")
	statuses := []string{"new", "paid", "shipped", "returned"}
	for i := range n {
		qty := strconv.Itoa(i % 100)
		if i%33 == 0 {
			qty = ""
		}
		fmt.Fprintf(&b, "%d,%d,%s,%d.%04d,%s,%016x,2024-01-%02d %02d:%02d:%02d.%06d,2024-%02d-%02d,%d.%02d\n",
			i, i*7919%1000000, qty, i%9973, i%10000, statuses[i%4], uint64(i)*0x9E3779B97F4A7C15,
			i%28+1, i%24, i%60, i%60, i%1000000, i%12+1, i%28+1, i%100000, i%100)
	}
	return b.Bytes()
}

const benchSchema = "id BIGINT, cust_id INT, qty INT, amount DOUBLE, status STRING, code STRING, ts TIMESTAMP, d DATE, price DECIMAL(18,2)"

func BenchmarkReader(b *testing.B) {
	data := benchRows(100_000)
	schema := schemaOf(b, benchSchema)
	opts := DefaultOptions()
	opts.Header = true
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(data), schema, opts)
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
		require.Equal(b, 100_000, rows)
	}
}

// BenchmarkEncodingCSV converts the same columns the plain way.
func BenchmarkEncodingCSV(b *testing.B) {
	data := benchRows(100_000)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r := stdcsv.NewReader(bytes.NewReader(data))
		r.ReuseRecord = true
		_, err := r.Read()
		require.NoError(b, err)
		var texts []byte
		for {
			rec, err := r.Read()
			if err == io.EOF {
				break
			}
			_, err1 := strconv.ParseInt(rec[0], 10, 64)
			_, err2 := strconv.ParseInt(rec[1], 10, 32)
			_, err3 := strconv.ParseFloat(rec[3], 64)
			texts = append(append(texts[:0], rec[4]...), rec[5]...)
			_, err4 := time.Parse("2006-01-02 15:04:05.999999", rec[6])
			_, err5 := time.Parse("2006-01-02", rec[7])
			_, err6 := strconv.ParseFloat(rec[8], 64)
			for _, err := range []error{err, err1, err2, err3, err4, err5, err6} {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
