package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// bigResult is what one large file took.
type bigResult struct {
	bytes, rows int64
	usage
	anonymous int64 // bytes: resident, mapped files left out
}

// bigRows are written again and again.
const bigRows = 10_000

// measureBigFile reads one CSV file of about so many bytes into a table by a stream.
func measureBigFile(bin string, size int64) (r bigResult, err error) {
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	if err := os.Mkdir(filepath.Join(dir, "landing"), 0o755); err != nil {
		return r, err
	}
	if r.bytes, r.rows, err = writeBigFile(filepath.Join(dir, "landing", "big.csv"), size); err != nil {
		return r, err
	}
	server, err := serve(bin, dir, "./lake")
	if err != nil {
		return r, err
	}
	defer server.stop()
	db, err := server.connect()
	if err != nil {
		return r, err
	}
	defer db.Close()
	stop := server.watchMemory()
	r.usage, err = server.timed(func() error {
		_, err := db.Exec("CREATE STREAM s INTO t WITH CHECKPOINT './lake/_checkpoints/t' TRIGGER AVAILABLE NOW AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true, schema => 'id BIGINT, customer INT, quantity INT, amount DOUBLE, status STRING, code STRING, at TIMESTAMP, price DECIMAL(18,2)')")
		if err != nil {
			return err
		}
		_, err = db.Exec("WAIT FOR STREAM s UNTIL CAUGHT UP TIMEOUT 3600 SECONDS")
		return err
	})
	most, watched := stop()
	r.anonymous = most
	if err = errors.Join(err, watched); err != nil {
		return r, err
	}
	var rows int64
	if err := db.QueryRow("SELECT COUNT(*) FROM t").Scan(&rows); err != nil {
		return r, err
	}
	if rows != r.rows {
		return r, fmt.Errorf("the table has %d rows instead of %d", rows, r.rows)
	}
	r.Memory, err = residentPeak(strconv.Itoa(server.cmd.Process.Pid))
	return r, err
}

// writeBigFile writes rows until the file is so large.
func writeBigFile(name string, size int64) (bytes, rows int64, err error) {
	f, err := os.Create(name)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	chance := rand.New(rand.NewPCG(1, 2))
	var block strings.Builder
	for i := range bigRows {
		fmt.Fprintf(&block, "%d,%d,%d,%.4f,status %d,%016x,2026-01-%02d 10:00:%02d.%06d,%d.%02d\n", i, chance.IntN(1_000_000), chance.IntN(100), chance.Float64()*1e4, chance.IntN(8), chance.Uint64(),
			1+chance.IntN(28), chance.IntN(60), chance.IntN(1_000_000), chance.IntN(100_000), chance.IntN(100))
	}
	w := bufio.NewWriter(f)
	n, err := w.WriteString("id,customer,quantity,amount,status,code,at,price\n")
	for bytes = int64(n); err == nil && bytes < size; rows += bigRows {
		n, err = w.WriteString(block.String())
		bytes += int64(n)
	}
	return bytes, rows, errors.Join(err, w.Flush())
}

// bigFile writes its table.
func (p page) bigFile(b *strings.Builder) {
	r := p.big
	fmt.Fprintf(b, "## One large file\n\n`make bench BENCH='-suite %s'`: one CSV file of %s, %d rows of 8 columns, by a stream into a Delta table.\n\n| | | goal |\n|---|---|---|\n", bigName, megabytes(r.bytes), r.rows)
	fmt.Fprintf(b, "| memory, mapped files left out | %s | <= 512 MB |\n| the peak of the resident set | %s | <= 512 MB |\n", megabytes(r.anonymous), megabytes(r.Memory))
	fmt.Fprintf(b, "| rows a second | %.0f | |\n| CPU | %s | |\n\n", float64(r.rows)/r.Wall.Seconds(), milliseconds(r.CPU))
}
