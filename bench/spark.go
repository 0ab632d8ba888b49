package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed spark.py
var sparkProgram string

// sparkRuns is how often Spark runs a query, after one run that does not count.
const sparkRuns = 3

// sparkLap is what one query cost Spark, and lakesql in the same run of bench.
type sparkLap struct {
	title       string
	spark, lake usage
	failure     string
}

// sparkRequest is what spark.py is asked.
type sparkRequest struct {
	Threads int               `json:"threads"`
	Runs    int               `json:"runs"`
	Scratch string            `json:"scratch"`
	Jars    string            `json:"jars"` // the folder of Delta's
	Tables  map[string]string `json:"tables"`
	Queries []string          `json:"queries"`
	Load    struct {
		Schema string `json:"schema"`
		Files  string `json:"files"`
	} `json:"load"`
}

// sparkAnswer is what it answers for a query. Times are seconds.
type sparkAnswer struct {
	Wall, CPU float64
	Rows      result
}

// measureSpark runs the basic queries and the loading of CSV on Spark, where its environment is there. Then it has lakesql do the same; loaded is
// what that found out about loading, nil where it has not been measured.
func (p plan) measureSpark(loaded []ingested) ([]sparkLap, error) {
	spark, err := sparkFolder(p.interop)
	if err != nil {
		p.log("Spark is left out: %v", err)
		return nil, nil
	}
	for _, s := range []suite{basicSuite, ingestSuite} {
		if err := s.prepare(p.data, p.log); err != nil {
			return nil, err
		}
	}
	queries, err := basicSuite.queries(p.match)
	if err != nil {
		return nil, err
	}
	answers, err := p.askSpark(spark, queries)
	if err != nil {
		return nil, err
	}
	if loaded == nil {
		if loaded, err = p.measureIngest(); err != nil {
			return nil, err
		}
	}
	laps, err := p.besideSpark(queries, answers)
	if err != nil {
		return nil, err
	}
	load, streamed := answers[len(queries)], answers[len(queries)+1]
	laps = append(laps, sparkLap{title: "load " + loaded[0].format.name, spark: load.usage(), lake: loaded[0].lake, failure: loaded[0].failure})
	l := sparkLap{title: streamTitle, spark: streamed.usage()}
	l.lake, err = p.streamTexts()
	return append(laps, l), err
}

// streamTitle is of the one lap that has a goal.
const streamTitle = "stream CSV into a Delta table"

// streamTexts has new streams over all CSV files into new tables.
func (p plan) streamTexts() (_ usage, err error) {
	texts := filepath.Join(p.data, ingestSuite.database(), "_csv")
	dir, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return usage{}, err
	}
	defer os.RemoveAll(dir)
	lake, err := openLake(dir, 0, texts)
	if err != nil {
		return usage{}, err
	}
	defer func() { err = errors.Join(err, lake.close()) }()
	var all []usage
	for n := range 1 + sparkRuns {
		u, err := timed(func() error {
			for _, s := range []string{
				fmt.Sprintf("CREATE STREAM s%d INTO t%[1]d WITH CHECKPOINT '%s' TRIGGER AVAILABLE NOW AS SELECT * FROM STREAM read_files('%s', format => 'csv', header => true, schema => '%s')", n,
					filepath.Join(dir, fmt.Sprintf("checkpoint%d", n)), texts, sparkSchema()),
				fmt.Sprintf("WAIT FOR STREAM s%d UNTIL CAUGHT UP TIMEOUT 600 SECONDS", n),
			} {
				if _, err := lake.db.Exec(s); err != nil {
					return fmt.Errorf("%s: %w", s, err)
				}
			}
			return nil
		})
		if err != nil {
			return usage{}, err
		}
		all = append(all, u)
		var rows int
		if err := lake.db.QueryRow(fmt.Sprintf("SELECT COUNT(*) FROM t%d", n)).Scan(&rows); err != nil || rows != ingestRows {
			return usage{}, errors.Join(err, fmt.Errorf("the stream wrote %d rows", rows))
		}
	}
	return usage{Wall: median(all[1:], wall), CPU: median(all[1:], cpu)}, nil
}

// sparkSchema is that of the texts, in Spark's words.
func sparkSchema() string {
	var columns []string
	for _, c := range ingestColumns {
		kind := c.kind
		if strings.HasPrefix(kind, "VARCHAR") {
			kind = "STRING" // the only text that Spark's reader takes
		}
		columns = append(columns, c.name+" "+kind)
	}
	return strings.Join(columns, ", ")
}

// sparkFolder is where the environment of `make interop` has Spark.
func sparkFolder(script string) (string, error) {
	dir, err := exec.Command(script, "--print").Output()
	if err != nil {
		return "", err
	}
	folder := strings.TrimSpace(string(dir))
	if _, err := os.Stat(filepath.Join(folder, "ready")); err != nil {
		return "", errors.New("scripts/interop-env has not made its environment")
	}
	return filepath.Join(folder, "spark40"), nil
}

func (p plan) askSpark(folder string, queries []suiteQuery) ([]sparkAnswer, error) {
	scratch, err := os.MkdirTemp("", "lakesql-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	request := sparkRequest{Threads: p.threads, Runs: sparkRuns, Scratch: scratch, Jars: filepath.Join(folder, "jars"), Tables: map[string]string{}, Queries: []string{}}
	tables, err := basicSuite.tables(p.data)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		request.Tables[table] = filepath.Join(p.data, basicSuite.database(), table, "*.parquet")
	}
	for _, q := range queries {
		request.Queries = append(request.Queries, q.text)
	}
	request.Load.Schema = sparkSchema()
	request.Load.Files = filepath.Join(p.data, ingestSuite.database(), "_csv")
	in, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(folder, "venv", "bin", "python"), "-c", sparkProgram)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("spark: %w\n%s", err, said.String())
	}
	var answers []sparkAnswer
	return answers, json.Unmarshal(out.Bytes(), &answers)
}

// besideSpark has lakesql do what Spark did.
func (p plan) besideSpark(queries []suiteQuery, answers []sparkAnswer) (laps []sparkLap, err error) {
	lake, err := openLake(p.data, p.limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lake.close()) }()
	if err := lake.use(basicSuite); err != nil {
		return nil, err
	}
	for i, q := range queries {
		l := sparkLap{title: q.title, spark: answers[i].usage()}
		got, all, err := lake.repeat(q.text, sparkRuns)
		if err != nil {
			l.failure = p.why(err)
		} else {
			l.lake = usage{Wall: median(all, wall), CPU: median(all, cpu)}
			l.failure = compare(got, answers[i].Rows)
		}
		laps = append(laps, l)
	}
	return laps, nil
}

func (a sparkAnswer) usage() usage {
	return usage{Wall: time.Duration(a.Wall * float64(time.Second)), CPU: time.Duration(a.CPU * float64(time.Second))}
}

// spark writes its table.
func (p page) spark(b *strings.Builder) {
	fmt.Fprintf(b, "## Spark\n\n`make bench BENCH='-suite %s'`, where `scripts/interop-env` has made its environment: Spark 4.0, local[%d], over the same files; medians of %d runs after one that does not\n",
		sparkName, p.threads, sparkRuns)
	fmt.Fprintf(b, "count, in a session that stays open. CPU time is that of Spark's JVM. Answers are compared.\n\n| | Spark CPU | lakesql CPU | ratio | Spark wall | lakesql wall |\n|---|---|---|---|---|---|\n")
	for _, l := range p.sparked {
		if l.lake.CPU == 0 {
			fmt.Fprintf(b, "| %s | %s | %s | | %s | |\n", l.title, milliseconds(l.spark.CPU), l.failure, milliseconds(l.spark.Wall))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.2f %s | %s | %s |\n", l.title, milliseconds(l.spark.CPU), milliseconds(l.lake.CPU), float64(l.lake.CPU)/float64(l.spark.CPU), l.failure,
			milliseconds(l.spark.Wall), milliseconds(l.lake.Wall))
	}
	b.WriteString("\n")
	for _, l := range p.sparked {
		if l.title == streamTitle && l.lake.Wall > 0 {
			fmt.Fprintf(b, "The stream: %d rows of %d columns, each time a new stream into a new table. Spark takes %.0f rows a second, lakesql %.0f: %.1f times as many (goal >= 5).\n\n", ingestRows, len(ingestColumns),
				ingestRows/l.spark.Wall.Seconds(), ingestRows/l.lake.Wall.Seconds(), float64(l.spark.Wall)/float64(l.lake.Wall))
		}
	}
}
