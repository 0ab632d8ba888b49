// Command bench measures lakesql beside its peers and writes what it finds to a Markdown page. It is a module of its own, so that the
// peers, DuckDB first, are no dependencies of lakesql.
//
//	make bench                                         everything, into docs/benchmarks.md
//	make bench BENCH='-suite tpch'                     one suite, only printed
//	make bench BENCH='-suite tpch -query q0[13]'       the queries whose names match
//	make bench BENCH='-suite tpch -query q01 -explain' lakesql's plan
//	make bench BENCH='-suite tpch -query q01 -profile q01.pprof'
//	                                                   lakesql alone, with a CPU profile: go tool pprof -top bin/bench q01.pprof
//
// Data is made once, below -data.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// plan is what to measure.
type plan struct {
	race
	suites []string // their names; empty: all
	bin    string
	// The scripts that unpack MariaDB and that make the environment of `make interop`.
	mariadb, interop string
	out              string
	files            int
	every            time.Duration
	batches          int
	gigabytes        float64
	known            int
	slow             bool // the suites that take long, too, where no suite is named
	rows             bool // runs the suites on rows, too, where not all is measured
}

// has reports whether a suite is to be measured.
func (p plan) has(name string) bool {
	return slices.Contains(p.suites, name) || len(p.suites) == 0 && (p.slow || name != longName && name != bigName && name != knownName)
}

func main() {
	p := plan{race: race{log: func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }}}
	flag.StringVar(&p.bin, "bin", "../bin/lakesql", "the lakesql binary to measure")
	flag.StringVar(&p.mariadb, "mariadb", "../scripts/mariadb-env", "the script that unpacks MariaDB and prints its folder")
	flag.StringVar(&p.interop, "interop", "../scripts/interop-env", "the script that makes Spark's environment, which tells where it is")
	flag.StringVar(&p.out, "out", "", "the page to write; empty: only print")
	flag.StringVar(&p.data, "data", defaultData(), "the folder of the data, which is made where it is missing")
	chosen := flag.String("suite", "", "measure these, separated by commas: "+strings.Join(suiteNames(), ", ")+"; empty: all")
	match := flag.String("query", "", "a regular expression: of the suites of queries, only those whose names match")
	flag.IntVar(&p.threads, "threads", 2, "how many threads lakesql and DuckDB use")
	flag.IntVar(&p.runs, "runs", 5, "how often each engine runs a query, after one run that does not count")
	flag.DurationVar(&p.limit, "limit", time.Minute, "the most time that lakesql has for one query")
	flag.BoolVar(&p.explain, "explain", false, "only show lakesql's plans of the queries")
	flag.BoolVar(&p.rows, "rows", false, "run the queries on go-mysql-server's rows, too, over a sample")
	flag.StringVar(&p.profile, "profile", "", "run the queries on lakesql alone and write a CPU profile to this file")
	flag.IntVar(&p.files, "files", 200, "freshness: how many files")
	flag.DurationVar(&p.every, "every", 500*time.Millisecond, "freshness: one file each")
	flag.IntVar(&p.batches, "batches", 10_000, "longstream: how many batches")
	flag.Float64Var(&p.gigabytes, "gigabytes", 10, "bigfile: how large the file is, in 10^9 bytes")
	flag.IntVar(&p.known, "known", 1_000_000, "knownfiles: how many files")
	flag.BoolVar(&p.slow, "slow", false, "measure longstream, bigfile and knownfiles, too, which take many minutes, where no suite is named")
	name := flag.String("measure", "", "do this measurement alone, in this process, and print it as JSON; what bench itself starts")
	tables := flag.String("tables", "", "the folder of the tables that -measure is over")
	flag.Parse()
	err := error(nil)
	if *name != "" {
		err = measureHere(*name, *tables)
	} else if p.match, err = regexp.Compile(*match); err == nil {
		if *chosen != "" {
			p.suites = strings.Split(*chosen, ",")
		}
		err = p.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// The measurements that are no suites of queries.
const (
	sparkName      = "spark"
	wireName       = "wire"
	dashboardsName = "dashboards"
	freshnessName  = "freshness"
	burstName      = "burst"
	longName       = "longstream"
	bigName        = "bigfile"
	knownName      = "knownfiles"
	logsName       = "logs"
)

func suiteNames() []string {
	var names []string
	for _, s := range suites {
		names = append(names, s.name)
	}
	return append(names, spillSuite.name, ingestSuite.name, sparkName, wireName, dashboardsName, freshnessName, burstName, longName, bigName, knownName, logsName)
}

func (p plan) run() error {
	for _, name := range p.suites {
		if !slices.Contains(suiteNames(), name) {
			return fmt.Errorf("there is no suite %q: take %s", name, strings.Join(suiteNames(), ", "))
		}
	}
	found := page{began: time.Now(), threads: p.threads}
	var err error
	if found.load[0], err = loadAverage(); err != nil {
		return err
	}
	for _, s := range suites {
		if !p.has(s.name) {
			continue
		}
		laps, err := p.race.run(s)
		if err != nil {
			return err
		}
		if len(laps) == 0 {
			continue
		}
		of := raced{suite: s, laps: laps}
		if p.rows || len(p.suites) == 0 {
			if of.rows, err = p.race.runRows(s); err != nil {
				return err
			}
		}
		found.races = append(found.races, of)
	}
	if p.profile != "" || p.explain {
		return nil
	}
	if p.has(spillSuite.name) {
		if found.spilled, err = p.measureSpill(); err != nil {
			return err
		}
	}
	if p.has(ingestSuite.name) {
		if found.loaded, err = p.measureIngest(); err != nil {
			return fmt.Errorf("ingest: %w", err)
		}
	}
	if p.has(sparkName) {
		if found.sparked, err = p.measureSpark(found.loaded); err != nil {
			return err
		}
	}
	if p.has(wireName) {
		r, err := p.measureWire()
		if err != nil {
			return fmt.Errorf("wire: %w", err)
		}
		found.sent = &r
	}
	if p.has(dashboardsName) {
		r, err := measureDashboards(p.bin)
		if err != nil {
			return fmt.Errorf("dashboards: %w", err)
		}
		found.asked = &r
	}
	if p.has(freshnessName) {
		r, err := freshness(p.bin, p.files, p.every)
		if err != nil {
			return fmt.Errorf("freshness: %w", err)
		}
		found.fresh = &r
	}
	if p.has(burstName) {
		r, err := measureBurst(p.bin)
		if err != nil {
			return fmt.Errorf("burst: %w", err)
		}
		found.bursts = &r
	}
	if p.has(longName) {
		r, err := measureLongStream(p.bin, p.batches)
		if err != nil {
			return fmt.Errorf("longstream: %w", err)
		}
		found.lasting = &r
	}
	if p.has(bigName) {
		r, err := measureBigFile(p.bin, int64(p.gigabytes*1e9))
		if err != nil {
			return fmt.Errorf("bigfile: %w", err)
		}
		found.big = &r
	}
	if p.has(knownName) {
		r, err := measureKnown(p.bin, p.known)
		if err != nil {
			return fmt.Errorf("knownfiles: %w", err)
		}
		found.known = &r
	}
	if p.has(logsName) {
		r, err := measureLogs(p.bin)
		if err != nil {
			return fmt.Errorf("logs: %w", err)
		}
		found.logs = &r
	}
	if found.load[1], err = loadAverage(); err != nil {
		return err
	}
	text := found.text()
	fmt.Print(text)
	if p.out == "" {
		return nil
	}
	if len(p.suites) > 0 {
		return errors.New("the page has all suites: leave out -suite, or -out")
	}
	return os.WriteFile(p.out, []byte(text), 0o644)
}

// measureHere is what inProcess starts.
func measureHere(name, dir string) error {
	fn, ok := measurements[name]
	if !ok {
		return fmt.Errorf("no measurement %q", name)
	}
	found, err := fn(dir)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}
