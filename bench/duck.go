package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"
)

// duck is DuckDB in this process, in memory, with a view of each table's files.
type duck struct {
	db *sql.DB
}

// openDuck opens DuckDB with so many threads, 0 for as many as it takes.
func openDuck(threads int) (*duck, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	d := &duck{db: db}
	if threads > 0 {
		if _, err := db.Exec("SET threads = " + strconv.Itoa(threads)); err != nil {
			d.close()
			return nil, err
		}
	}
	return d, nil
}

func (d *duck) close() error { return d.db.Close() }

// use makes the tables of a suite known.
func (d *duck) use(dir string, s suite) error {
	tables, err := s.tables(dir)
	if err != nil {
		return err
	}
	for _, table := range tables {
		files := filepath.Join(dir, s.database(), table, "*.parquet")
		if _, err := d.db.Exec(fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT * FROM read_parquet('%s')", table, files)); err != nil {
			return fmt.Errorf("view %s: %w", table, err)
		}
	}
	return nil
}

func (d *duck) query(ctx context.Context, query string) (result, error) {
	rows, err := d.db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	cells, into := make([]any, len(types)), make([]any, len(types))
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
			row[i] = cellText(cell, types[i].DatabaseTypeName())
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// cellText is a value as MySQL's text protocol has it.
func cellText(cell any, databaseType string) string {
	switch v := cell.(type) {
	case nil:
		return null
	case time.Time:
		if databaseType == "DATE" {
			return v.Format(time.DateOnly)
		}
		return v.Format("2006-01-02 15:04:05.000000")
	case duckdb.Decimal:
		return v.String()
	case *big.Int:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		if v {
			return "1"
		}
		return "0"
	}
	return fmt.Sprint(cell)
}
