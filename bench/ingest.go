package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ingestRows are in ingestFiles files.
const (
	ingestRows  = 10_000_000
	ingestFiles = 4
	ingestRuns  = 3
)

// textFormat is a kind of text that is loaded, with DuckDB's ways to write and to read it, and lakesql's options.
type textFormat struct{ name, extension, write, read, options string }

var ingestFormats = []textFormat{
	{"CSV", "csv", "HEADER", "read_csv('%s', header = true, columns = {%s})", " FORMAT_OPTIONS ('header' = 'true')"},
	{"JSON", "json", "FORMAT json", "read_json('%s', format = 'newline_delimited', columns = {%s})", ""},
}

// ingestColumns are of the basic suite's facts, with a type that both sides know.
var ingestColumns = []struct{ name, kind string }{
	{"id", "BIGINT"}, {"qty", "INT"}, {"amount", "DOUBLE"}, {"status", "VARCHAR(20)"}, {"code", "VARCHAR(20)"}, {"ts", "TIMESTAMP"}, {"d", "DATE"},
	{"price", "DECIMAL(18,2)"},
}

// ingested is what loading one format cost.
type ingested struct {
	format     textFormat
	bytes      int64 // of the texts
	lake, duck usage // medians
	failure    string
}

// ingestSuite is texts and no tables.
var ingestSuite = suite{name: "ingest", version: 2, make: func(folder string, scale float64) error {
	d, err := openDuck(0)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.db.Exec(chance); err != nil {
		return err
	}
	var names []string
	for _, c := range ingestColumns {
		names = append(names, c.name)
	}
	for _, f := range ingestFormats {
		if err := os.Mkdir(filepath.Join(folder, "_"+f.extension), 0o755); err != nil {
			return err
		}
		for n := range ingestFiles {
			_, err := d.db.Exec(fmt.Sprintf("COPY (SELECT %s FROM (SELECT %s FROM range(%d, %d) t(i))) TO '%s' (%s)", strings.Join(names, ", "), strings.Join(factColumns, ", "),
				ingestRows/ingestFiles*n, ingestRows/ingestFiles*(n+1), filepath.Join(folder, "_"+f.extension, fmt.Sprintf("part-%d.%s", n, f.extension)), f.write))
			if err != nil {
				return err
			}
		}
	}
	return nil
}}

// measureIngest loads the same texts by COPY INTO into a Delta table, and by DuckDB into a Parquet file.
func (r race) measureIngest() (out []ingested, err error) {
	if err := ingestSuite.prepare(r.data, r.log); err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(r.threads)
	l := loader{texts: filepath.Join(r.data, ingestSuite.database())}
	if l.dir, err = os.MkdirTemp("", "lakesql-bench-"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(l.dir)
	if l.lake, err = openLake(l.dir, 0, l.texts); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.lake.close()) }()
	if l.duck, err = openDuck(r.threads); err != nil {
		return nil, err
	}
	defer l.duck.close()
	for _, f := range ingestFormats {
		in, err := l.measure(f)
		if err != nil {
			return out, fmt.Errorf("%s: %w", f.name, err)
		}
		r.log("%-16s lakesql %8s  DuckDB %8s  %s", f.name, milliseconds(in.lake.CPU), milliseconds(in.duck.CPU), in.failure)
		out = append(out, in)
	}
	return out, nil
}

// loader loads the files below texts: lakesql into its warehouse dir, DuckDB into files beside.
type loader struct {
	texts, dir string
	lake       *lake
	duck       *duck
}

// measure loads one format by turns. The first time does not count, and its rows are compared.
func (l loader) measure(f textFormat) (ingested, error) {
	in := ingested{format: f}
	files, err := filepath.Glob(l.files(f))
	if err != nil {
		return in, err
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return in, err
		}
		in.bytes += info.Size()
	}
	var ours, theirs []usage
	for n := range 1 + ingestRuns {
		u, err := l.copyInto(f, n)
		if err != nil {
			in.failure = err.Error()
			return in, nil
		}
		ours = append(ours, u)
		if u, err = l.copyTo(f, n); err != nil {
			return in, err
		}
		theirs = append(theirs, u)
	}
	in.lake = usage{Wall: median(ours[1:], wall), CPU: median(ours[1:], cpu)}
	in.duck = usage{Wall: median(theirs[1:], wall), CPU: median(theirs[1:], cpu)}
	in.failure, err = l.compare(f)
	return in, err
}

func (l loader) files(f textFormat) string { return filepath.Join(l.texts, "_"+f.extension, "*") }

func (l loader) table(f textFormat, n int) string { return fmt.Sprintf("%s_%d", f.extension, n) }

func (l loader) parquet(f textFormat, n int) string {
	return filepath.Join(l.dir, "_"+l.table(f, n)+".parquet")
}

// copyInto loads the files into lakesql's nth table.
func (l loader) copyInto(f textFormat, n int) (usage, error) {
	var columns []string
	for _, c := range ingestColumns {
		columns = append(columns, c.name+" "+c.kind)
	}
	if _, err := l.lake.db.Exec("CREATE TABLE " + l.table(f, n) + " (" + strings.Join(columns, ", ") + ")"); err != nil {
		return usage{}, err
	}
	runtime.GC()
	return timed(func() error {
		_, err := l.lake.db.Exec("COPY INTO " + l.table(f, n) + " FROM '" + l.files(f) + "' FILEFORMAT = " + f.name + f.options)
		return err
	})
}

// copyTo loads the files into DuckDB's nth file.
func (l loader) copyTo(f textFormat, n int) (usage, error) {
	var kinds []string
	for _, c := range ingestColumns {
		kinds = append(kinds, fmt.Sprintf("%s: '%s'", c.name, c.kind))
	}
	read := fmt.Sprintf(f.read, l.files(f), strings.Join(kinds, ", "))
	runtime.GC()
	return timed(func() error {
		_, err := l.duck.db.Exec("COPY (SELECT * FROM " + read + ") TO '" + l.parquet(f, n) + "' (FORMAT parquet, COMPRESSION snappy)")
		return err
	})
}

// compare tells how the rows that were loaded first differ.
func (l loader) compare(f textFormat) (string, error) {
	const check = "SELECT COUNT(*), SUM(id), SUM(qty), SUM(price), MAX(ts), MIN(d), MAX(code), COUNT(DISTINCT status) FROM "
	got, err := l.lake.query(context.Background(), check+l.table(f, 0))
	if err != nil {
		return "", err
	}
	want, err := l.duck.query(context.Background(), check+"read_parquet('"+l.parquet(f, 0)+"')")
	if err != nil {
		return "", err
	}
	if different := compare(got, want); different != "" {
		return "wrong: " + different, nil
	}
	return "", nil
}

// ingest writes its table.
func (p page) ingest(b *strings.Builder) {
	fmt.Fprintf(b, "## Loading texts\n\n`make bench BENCH='-suite %s'`: %d rows of %d columns in %d files, by COPY INTO into a Delta table, durable, and by DuckDB's COPY into a Parquet file with Snappy;\n",
		ingestSuite.name, ingestRows, len(ingestColumns), ingestFiles)
	fmt.Fprintf(b, "%d threads each, medians of %d runs by turns. The ratio is of CPU times. What was loaded is compared.\n\n", p.threads, ingestRuns)
	fmt.Fprintf(b, "| | DuckDB CPU | lakesql CPU | ratio | DuckDB wall | lakesql wall | goal |\n|---|---|---|---|---|---|---|\n")
	for _, in := range p.loaded {
		if in.lake.CPU == 0 {
			fmt.Fprintf(b, "| %s | | %s | | | | |\n", in.format.name, in.failure)
			continue
		}
		fmt.Fprintf(b, "| %s, %s | %s | %s | %.2f %s | %s | %s | <= 1.0 |\n", in.format.name, megabytes(in.bytes), milliseconds(in.duck.CPU), milliseconds(in.lake.CPU),
			float64(in.lake.CPU)/float64(in.duck.CPU), in.failure, milliseconds(in.duck.Wall), milliseconds(in.lake.Wall))
	}
	b.WriteString("\n")
}
