package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"lakesql/catalog"
	"lakesql/server"
	"lakesql/store"
	"lakesql/version"
)

// lake is lakesql's server in this process and one connection to it: what a query costs this process is the whole of it, its way over the
// wire and the client included.
type lake struct {
	db      *sql.DB
	limit   time.Duration // of a query; 0: none
	scratch string        // a folder for what the server keeps
	catalog *catalog.Catalog
	stop    context.CancelFunc
	served  chan error
}

// openLake serves the warehouse dir. Statements may also name what lies in the folders allowed.
func openLake(dir string, limit time.Duration, allowed ...string) (_ *lake, err error) {
	l := &lake{limit: limit, served: make(chan error, 1)}
	if l.scratch, err = os.MkdirTemp("", "lakesql-bench-"); err != nil {
		return nil, err
	}
	fence, err := store.NewFence(dir, append(allowed, dir)...)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(l.scratch))
	}
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	server.BridgeLogs(slog.New(slog.DiscardHandler))
	catalog.Memory{}.TuneCollector() // as the program does
	l.catalog, err = catalog.Open(ctx, catalog.Config{
		Warehouse: store.FileURI(dir), Open: store.Open, Fence: fence, DataDir: filepath.Join(l.scratch, "data"), Owner: "bench",
	})
	if err != nil {
		stop()
		return nil, errors.Join(err, os.RemoveAll(l.scratch))
	}
	if err := l.serve(ctx); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *lake) serve(ctx context.Context) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		l.served <- nil
		return err
	}
	s, err := server.New(server.Config{
		Listener: listener, Engine: l.catalog.Engine(), NewSession: l.catalog.NewSession, Streams: l.catalog.Streams(), Version: version.String(),
	})
	if err != nil {
		l.served <- nil
		return errors.Join(err, listener.Close())
	}
	go func() { l.served <- s.Serve(ctx) }()
	if l.db, err = sql.Open("mysql", "root@tcp("+listener.Addr().String()+")/lake"); err != nil {
		return err
	}
	l.db.SetMaxOpenConns(1)
	if l.limit > 0 {
		_, err = l.db.Exec("SET max_execution_time = " + strconv.FormatInt(l.limit.Milliseconds(), 10))
	}
	return err
}

func (l *lake) close() error {
	var err error
	if l.db != nil {
		err = l.db.Close()
	}
	l.stop()
	return errors.Join(err, <-l.served, l.catalog.Close(), os.RemoveAll(l.scratch))
}

// use makes a suite's tables the ones that names mean.
func (l *lake) use(s suite) error {
	_, err := l.db.Exec("USE `" + s.database() + "`")
	return err
}

// vector has this connection's statements executed on columns, or on rows alone.
func (l *lake) vector(on bool) error {
	_, err := l.db.Exec("SET lakesql_vector = " + map[bool]string{true: "ON", false: "OFF"}[on])
	return err
}

func (l *lake) query(ctx context.Context, query string) (result, error) {
	return readAll(ctx, l.db, query)
}

// repeat asks a query once, and then as often as runs says, which is measured.
func (l *lake) repeat(query string, runs int) (answer result, all []usage, err error) {
	if answer, err = l.query(context.Background(), query); err != nil {
		return nil, nil, err
	}
	for range runs {
		u, err := timed(func() error { _, err := l.query(context.Background(), query); return err })
		if err != nil {
			return nil, nil, err
		}
		all = append(all, u)
	}
	return answer, all, nil
}

// readAll asks a MySQL server.
func readAll(ctx context.Context, db *sql.DB, query string) (result, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	var out result
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, cell := range cells {
			if row[i] = cell.String; !cell.Valid {
				row[i] = null
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// explain is the plan of a query, and what it is executed on: columns, rows, or columns below rows.
func (l *lake) explain(ctx context.Context, query string) (plan, path string, err error) {
	rows, err := l.query(ctx, "EXPLAIN "+query)
	if err != nil {
		return "", "", err
	}
	plan = rows.String()
	switch {
	case strings.HasPrefix(plan, "Vector"):
		path = "columns"
	case strings.HasPrefix(plan, "Statistics"), !strings.Contains(plan, "Vector") && strings.Contains(plan, "Statistics"):
		path = "statistics"
	case strings.Contains(plan, "Vector"):
		path = "partly rows"
	default:
		path = "rows"
	}
	return plan, path, nil
}

// isLate reports whether a query was ended by its limit.
func isLate(err error) bool {
	return err != nil && (errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "3024"))
}

// null is a NULL in a result.
const null = "NULL"

// result is the rows of an answer as texts.
type result [][]string

func (r result) String() string {
	var b strings.Builder
	for _, row := range r {
		fmt.Fprintln(&b, strings.Join(row, " | "))
	}
	return b.String()
}
