package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// wireRows are how many rows go over the wire.
const wireRows = 1_000_000

// wireMore is how many times as many rows lakesql sends once more, for its memory.
const wireMore = 4

// wireRuns is how often each server sends them.
const wireRuns = 3

// wireColumns are columns of the basic suite's facts, with MariaDB's types.
var wireColumns = []struct{ name, kind string }{
	{"id", "BIGINT"}, {"cust_id", "INT"}, {"amount", "DOUBLE"}, {"status", "VARCHAR(20)"}, {"code", "VARCHAR(20)"}, {"d", "DATE"}, {"price", "DECIMAL(18,2)"},
}

// wireResult is what it costs to send the rows to a client that reads them all.
type wireResult struct {
	lake       usage  // medians; of the servers, not of the client
	maria      *usage // nil: left out
	once, more int64  // bytes that lakesql's server held at most while it sent the rows, and while it sent wireMore times as many
}

func wireNames() string {
	var names []string
	for _, c := range wireColumns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// measureWire has both servers send the same rows.
func (p plan) measureWire() (r wireResult, err error) {
	if err := basicSuite.prepare(p.data, p.log); err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	server, err := serve(p.bin, dir, p.data)
	if err != nil {
		return r, err
	}
	defer server.stop()
	query := "SELECT " + wireNames() + " FROM basic.facts WHERE id < %d"
	maria, err := p.loadedMariaDB(dir)
	if err != nil {
		return r, err
	}
	if maria != nil {
		defer maria.stop()
	}
	stop := server.watchMemory()
	var ours, theirs []usage
	for range wireRuns {
		u, err := server.send(fmt.Sprintf(query, wireRows))
		if err != nil {
			return r, err
		}
		ours = append(ours, u)
		if maria == nil {
			continue
		}
		if u, err = maria.send("SELECT " + wireNames() + " FROM facts"); err != nil {
			return r, err
		}
		theirs = append(theirs, u)
	}
	if r.once, err = stop(); err != nil {
		return r, err
	}
	r.lake = usage{Wall: median(ours, wall), CPU: median(ours, cpu)}
	if maria != nil {
		r.maria = &usage{Wall: median(theirs, wall), CPU: median(theirs, cpu)}
	}
	stop = server.watchMemory()
	if _, err := server.send(fmt.Sprintf(query, wireMore*wireRows)); err != nil {
		return r, err
	}
	r.more, err = stop()
	return r, err
}

// loadedMariaDB is MariaDB with the same rows, nil where Debian's packages are not to be had.
func (p plan) loadedMariaDB(dir string) (*child, error) {
	at, err := unpackMariaDB(p.mariadb)
	if err != nil {
		p.log("MariaDB is left out: %v", err)
		return nil, nil
	}
	d, err := openDuck(0)
	if err != nil {
		return nil, err
	}
	defer d.close()
	file := filepath.Join(dir, "facts.csv")
	_, err = d.db.Exec(fmt.Sprintf("COPY (SELECT %s FROM read_parquet('%s') WHERE id < %d) TO '%s' (HEADER false)",
		wireNames(), filepath.Join(p.data, basicSuite.database(), "facts", "*.parquet"), wireRows, file))
	if err != nil {
		return nil, err
	}
	maria, err := startMariaDB(at, dir)
	if err != nil {
		return nil, err
	}
	db, err := maria.connect()
	if err != nil {
		maria.stop()
		return nil, err
	}
	defer db.Close()
	var columns []string
	for _, c := range wireColumns {
		columns = append(columns, c.name+" "+c.kind)
	}
	for _, s := range []string{
		"CREATE TABLE facts (" + strings.Join(columns, ", ") + ")",
		"LOAD DATA INFILE '" + file + "' INTO TABLE facts FIELDS TERMINATED BY ','",
		"SELECT COUNT(*) FROM facts",
	} {
		if _, err := db.Exec(s); err != nil {
			maria.stop()
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return maria, nil
}

// send reads the rows of a query and gives what the server used.
func (c *child) send(query string) (usage, error) {
	db, err := c.connect()
	if err != nil {
		return usage{}, err
	}
	defer db.Close()
	return c.timed(func() error {
		rows, err := db.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		cells, into := make([]sql.RawBytes, len(wireColumns)), make([]any, len(wireColumns))
		for i := range cells {
			into[i] = &cells[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// wire writes its table.
func (p page) wire(b *strings.Builder) {
	r := p.sent
	fmt.Fprintf(b, "## Rows over the wire\n\n`make bench BENCH='-suite %s'`: a SELECT of %d rows of %d columns, text protocol, to one client that reads them all; medians of %d runs by turns. MariaDB is\n",
		wireName, wireRows, len(wireColumns), wireRuns)
	fmt.Fprintf(b, "Debian's, with the rows in InnoDB; its buffer pool holds them all. CPU time is the server's.\n\n| | rows a second | CPU |\n|---|---|---|\n")
	line := func(name string, u usage) {
		fmt.Fprintf(b, "| %s | %.0f | %s |\n", name, wireRows/u.Wall.Seconds(), milliseconds(u.CPU))
	}
	line("lakesql", r.lake)
	if r.maria != nil {
		line("MariaDB", *r.maria)
	}
	fmt.Fprintf(b, "\nlakesql's server held %s at most while it sent them, and %s while it sent %d rows; mapped files left out.\n\n", megabytes(r.once), megabytes(r.more), wireMore*wireRows)
}
