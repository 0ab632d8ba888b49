package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// What the dashboards are measured with.
const (
	dashboards       = 32               // connections, each of which asks as fast as it is answered
	dashboardStreams = 10               // each with a table of its own
	dashboardTime    = time.Minute      // for which they ask
	dashboardBefore  = 100_000          // rows that each table has before
	dashboardEvery   = time.Second      // a file for each stream
	dashboardRows    = 500              // of such a file
	dashboardPeople  = 10_000           // customers
	dashboardMemory  = "1GiB"           // that statements may hold together
	dashboardSettle  = 30 * time.Second // the most that the streams may be behind at the end
)

// dashboardQueries are over one of the streams' tables.
var dashboardQueries = []struct{ title, text string }{
	{"totals", "SELECT COUNT(*), SUM(amount), AVG(amount), MAX(at) FROM %s"},
	{"by day and status", "SELECT day, status, COUNT(*), SUM(amount) FROM %s GROUP BY day, status ORDER BY day, status"},
	{"the best customers", "SELECT customer, SUM(amount) AS total FROM %s GROUP BY customer ORDER BY total DESC, customer LIMIT 10"},
	{"by segment, a join", "SELECT c.segment, COUNT(*), SUM(e.amount) FROM %s e JOIN customers c ON c.id = e.customer WHERE e.status = 'paid' GROUP BY c.segment ORDER BY c.segment"},
	{"customers of a week", "SELECT COUNT(DISTINCT customer) FROM %s WHERE day >= '2026-01-22'"},
	{"by hour of a day", "SELECT HOUR(at) AS h, COUNT(*), SUM(amount) FROM %s WHERE day = '2026-01-15' GROUP BY h ORDER BY h"},
	{"the latest", "SELECT id, at, customer, amount FROM %s ORDER BY at DESC, id DESC LIMIT 20"},
}

// dashboardResult is what the dashboards saw.
type dashboardResult struct {
	asked    [][]time.Duration // of each query: how long each answer took, ascending
	failures []string          // of queries, and of streams
	written  int               // rows by the streams, all of them visible at the end
	memory   int64             // bytes of the server's, at most
}

// all are the times of all queries, ascending.
func (r dashboardResult) all() []time.Duration {
	return slices.Sorted(slices.Values(slices.Concat(r.asked...)))
}

func measureDashboards(bin string) (r dashboardResult, err error) {
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	server, err := serve(bin, dir, "./lake", "--memory", dashboardMemory)
	if err != nil {
		return r, err
	}
	defer server.stop()
	db, err := server.connect()
	if err != nil {
		return r, err
	}
	defer db.Close()
	f := feed{dir: dir}
	if err := f.begin(db); err != nil {
		return r, err
	}
	stop := server.watchMemory()
	if r, err = f.race(server, db); err != nil {
		return r, err
	}
	r.memory, err = stop()
	return r, err
}

// feed are the files that the streams read.
type feed struct {
	dir  string
	sent int // files for each stream
	rows int // for each stream
}

func streamTable(i int) string { return fmt.Sprintf("events_%d", i) }

// begin makes the tables, the streams and what is in them before.
func (f *feed) begin(db *sql.DB) error {
	if err := f.customers(db); err != nil {
		return err
	}
	for i := range dashboardStreams {
		if err := os.Mkdir(filepath.Join(f.dir, streamTable(i)), 0o755); err != nil {
			return err
		}
	}
	if err := f.drop(dashboardBefore); err != nil {
		return err
	}
	for i := range dashboardStreams {
		table := streamTable(i)
		for _, s := range []string{
			"CREATE TABLE " + table + " (id BIGINT, at DATETIME, day DATE, customer INT, status VARCHAR(20), amount DECIMAL(12,2))",
			fmt.Sprintf("CREATE STREAM s_%s INTO %[1]s WITH CHECKPOINT './lake/_checkpoints/%[1]s' AS SELECT id, at, day, customer, status, CAST(amount AS DECIMAL(12,2)) AS amount FROM STREAM read_files('./%[1]s', format => 'csv', header => true)", table),
		} {
			if _, err := db.Exec(s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
	}
	return f.arrived(db, time.Minute)
}

func (f *feed) customers(db *sql.DB) error {
	var b strings.Builder
	b.WriteString("INSERT INTO customers VALUES ")
	for i := range dashboardPeople {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,'segment %d')", i, i%7)
	}
	_, err := db.Exec("CREATE TABLE customers (id INT, segment VARCHAR(20))")
	if err != nil {
		return err
	}
	_, err = db.Exec(b.String())
	return err
}

// drop renames a file of n rows into each stream's folder.
func (f *feed) drop(n int) error {
	states := []string{"new", "paid", "sent", "returned"}
	for i := range dashboardStreams {
		chance := rand.New(rand.NewPCG(uint64(i), uint64(f.sent)))
		var b strings.Builder
		b.WriteString("id,at,day,customer,status,amount\n")
		for k := range n {
			at := time.Date(2026, 1, 1, 0, 0, chance.IntN(28*86400), 0, time.UTC)
			fmt.Fprintf(&b, "%d,%s,%s,%d,%s,%d.%02d\n", f.rows+k, at.Format(time.DateTime), at.Format(time.DateOnly), chance.IntN(dashboardPeople), states[chance.IntN(4)], chance.IntN(1000), chance.IntN(100))
		}
		tmp := filepath.Join(f.dir, "tmp.csv")
		if err := os.WriteFile(tmp, []byte(b.String()), 0o644); err != nil {
			return err
		}
		if err := os.Rename(tmp, filepath.Join(f.dir, streamTable(i), fmt.Sprintf("f%05d.csv", f.sent))); err != nil {
			return err
		}
	}
	f.sent++
	f.rows += n
	return nil
}

// arrived waits until each table has all rows.
func (f *feed) arrived(db *sql.DB, patience time.Duration) error {
	for i := range dashboardStreams {
		for began, n := time.Now(), 0; ; time.Sleep(10 * time.Millisecond) {
			if err := db.QueryRow("SELECT COUNT(*) FROM " + streamTable(i)).Scan(&n); err != nil {
				return err
			}
			if n == f.rows {
				break
			}
			if n > f.rows || time.Since(began) > patience {
				return fmt.Errorf("%s has %d rows instead of %d after %v", streamTable(i), n, f.rows, patience)
			}
		}
	}
	return nil
}

// race has the dashboards ask while files arrive.
func (f *feed) race(server *child, db *sql.DB) (r dashboardResult, err error) {
	r.asked = make([][]time.Duration, len(dashboardQueries))
	ctx, stop := context.WithTimeout(context.Background(), dashboardTime)
	defer stop()
	var mu sync.Mutex // guards r
	var wg sync.WaitGroup
	for n := range dashboards {
		wg.Go(func() {
			asked, err := askDashboard(ctx, server, n)
			mu.Lock()
			defer mu.Unlock()
			for q, times := range asked {
				r.asked[q] = append(r.asked[q], times...)
			}
			if err != nil {
				r.failures = append(r.failures, err.Error())
			}
		})
	}
	before := f.rows
	for tick := time.NewTicker(dashboardEvery); ctx.Err() == nil && err == nil; {
		select {
		case <-ctx.Done():
			tick.Stop()
		case <-tick.C:
			err = f.drop(dashboardRows)
		}
	}
	wg.Wait()
	for _, times := range r.asked {
		slices.Sort(times)
	}
	r.written = (f.rows - before) * dashboardStreams
	if err != nil {
		return r, err
	}
	if err := f.arrived(db, dashboardSettle); err != nil {
		r.failures = append(r.failures, err.Error())
	}
	return r, nil
}

// askDashboard is one connection: it asks a query of a table, both by chance, until ctx ends.
func askDashboard(ctx context.Context, server *child, n int) (asked [][]time.Duration, err error) {
	asked = make([][]time.Duration, len(dashboardQueries))
	db, err := server.connect()
	if err != nil {
		return asked, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for chance := rand.New(rand.NewPCG(1, uint64(n))); ctx.Err() == nil; {
		q := chance.IntN(len(dashboardQueries))
		query := fmt.Sprintf(dashboardQueries[q].text, streamTable(chance.IntN(dashboardStreams)))
		began := time.Now()
		if _, err := readAll(context.WithoutCancel(ctx), db, query); err != nil {
			return asked, fmt.Errorf("%s: %w", query, err)
		}
		asked[q] = append(asked[q], time.Since(began))
	}
	return asked, nil
}

// dashboards writes their table.
func (p page) dashboards(b *strings.Builder) {
	r, all := p.asked, p.asked.all()
	fmt.Fprintf(b, "## Dashboards while streams write\n\n`make bench BENCH='-suite %s'`: %d connections ask for %v, each the next query as soon as it has its answer, while %d streams each get a file of\n",
		dashboardsName, dashboards, dashboardTime, dashboardStreams)
	fmt.Fprintf(b, "%d rows every %v into a table of their own, of %d rows before. Every batch is durable.\n\n", dashboardRows, dashboardEvery, dashboardBefore)
	fmt.Fprintf(b, "| query | answers | p50 | p99 | max |\n|---|---|---|---|---|\n")
	for q, times := range r.asked {
		fmt.Fprintf(b, "| %s | %s |\n", dashboardQueries[q].title, spread(times))
	}
	fmt.Fprintf(b, "| all | %s |\n\n", spread(all))
	fmt.Fprintf(b, "%.0f answers a second; errors: %d; %d rows written meanwhile, all of them visible at the end. The server had `--memory %s`\nand held %s at most, mapped files left out.\n\n",
		float64(len(all))/dashboardTime.Seconds(), len(r.failures), r.written, dashboardMemory, megabytes(r.memory))
	for _, f := range r.failures {
		fmt.Fprintf(b, "- %s\n", f)
	}
}

// spread is the cells for times in ascending order.
func spread(times []time.Duration) string {
	if len(times) == 0 {
		return "0 | | |"
	}
	return fmt.Sprintf("%d | %s | %s | %s", len(times), milliseconds(quantile(times, 0.5)), milliseconds(quantile(times, 0.99)), milliseconds(times[len(times)-1]))
}
