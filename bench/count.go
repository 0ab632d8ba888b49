package main

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// questions is how often each query is asked.
const questions = 100

// answer is what a query costs: wall time from the question of a client to its answer, and the server's CPU time.
type answer struct {
	query string
	first usage // on a server that has not opened the table yet
	then  usage // after that: the median, and the mean of the CPU time
}

// countFromStatistics asks the server what the statistics of a table of many files answer.
func countFromStatistics(bin, dir string) ([]answer, error) {
	var out []answer
	table := "delta.`" + filepath.Join(dir, countedTable) + "`"
	for _, query := range []string{"SELECT COUNT(*) FROM ", "SELECT MIN(id), MAX(id), COUNT(day) FROM "} {
		a, err := ask(bin, dir, query, table)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// ask asks a fresh server.
func ask(bin, dir, query, table string) (answer, error) {
	out := answer{query: strings.TrimSuffix(query, " FROM ")}
	server, err := serve(bin, dir, "./lake")
	if err != nil {
		return out, err
	}
	defer server.stop()
	db, err := server.connect()
	if err != nil {
		return out, err
	}
	defer db.Close()
	if out.first, err = server.timed(func() error { return askOnce(db, query+table) }); err != nil {
		return out, err
	}
	var walls []usage
	all, err := server.timed(func() error {
		for range questions {
			u, err := timed(func() error { return askOnce(db, query+table) })
			if err != nil {
				return err
			}
			walls = append(walls, u)
		}
		return nil
	})
	out.then = usage{Wall: median(walls, wall), CPU: all.CPU / questions}
	return out, err
}

// askOnce reads the one row of an answer.
func askOnce(db *sql.DB, query string) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%d rows instead of one", n)
}
