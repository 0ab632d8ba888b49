package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The data of the suites lies in a folder that is a warehouse of lakesql: a suite is a database, and a table is a folder of Parquet files that
// another program wrote and CONVERT TO DELTA made a table of, where they lie. So that all engines read the same files.

// defaultData is where the data is kept between runs, outside the checkout.
func defaultData() string {
	dir := os.Getenv("LAKESQL_CACHE")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = os.TempDir()
		}
		dir = filepath.Join(cache, "lakesql")
	}
	return filepath.Join(dir, "bench")
}

// prepare makes the data of the suite below dir unless it is there. Processes that do so at once wait for each other.
func (s suite) prepare(dir string, log func(string, ...any)) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "."+s.database()+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return err
	}
	defer lock.Close() // which gives the lock back
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	ready := filepath.Join(dir, "."+s.database()+".version")
	if made, err := os.ReadFile(ready); err == nil && string(made) == strconv.Itoa(s.version) {
		return nil
	}
	log("making the data of %s in %s", s.database(), dir)
	folder := filepath.Join(dir, s.database())
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := s.make(folder, s.scale()); err != nil {
		return fmt.Errorf("make the data of %s: %w", s.name, err)
	}
	if err := s.convert(dir); err != nil {
		return err
	}
	return os.WriteFile(ready, []byte(strconv.Itoa(s.version)), 0o644)
}

// tables are the names of the tables of a suite.
func (s suite) tables(dir string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, s.database()))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), "_") {
			out = append(out, e.Name())
		}
	}
	return out, nil
}

// convert makes Delta tables of the folders.
func (s suite) convert(dir string) error {
	tables, err := s.tables(dir)
	if err != nil {
		return err
	}
	l, err := openLake(dir, 0)
	if err != nil {
		return err
	}
	defer l.close()
	for _, table := range tables {
		if _, err := l.db.Exec("CONVERT TO DELTA parquet.`" + filepath.Join(dir, s.database(), table) + "`"); err != nil {
			return fmt.Errorf("convert %s.%s: %w", s.database(), table, err)
		}
	}
	return nil
}

// chance is a number from 0 to n-1 that is as good as random, and the same each time: of the row i, and of its column.
const chance = "CREATE MACRO chance(i, of, n) AS (hash(i, of) % n)::BIGINT"

// copyTo has DuckDB write the files of a table, each a range of the rows. The columns are expressions over the number i of a row.
func copyTo(folder string, columns []string, rows, files, rowGroup int) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	d, err := openDuck(0)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.db.Exec(chance); err != nil {
		return err
	}
	for f := range files {
		first, end := rows/files*f, rows/files*(f+1)
		_, err := d.db.Exec(fmt.Sprintf("COPY (SELECT %s FROM range(%d, %d) t(i)) TO '%s' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE %d)",
			strings.Join(columns, ", "), first, end, filepath.Join(folder, fmt.Sprintf("part-%d.parquet", f)), rowGroup))
		if err != nil {
			return err
		}
	}
	return nil
}
