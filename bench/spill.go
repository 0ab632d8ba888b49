package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// spillSuite is queries over the basic suite's tables that hold far more than spillMemory.
var spillSuite = suite{name: "spill"}

// spillMemory is lakesql_query_memory, less than a tenth of what the keys alone take.
const spillMemory = 32 << 20

// spillLap is what one query cost.
type spillLap struct {
	query          suiteQuery
	path           string
	memory, spills usage // with all the memory that it wants, and with spillMemory
	failure        string
}

// measureSpill runs each query with memory and without.
func (r race) measureSpill() (laps []spillLap, err error) {
	if err := basicSuite.prepare(r.data, r.log); err != nil {
		return nil, err
	}
	queries, err := spillSuite.queries(r.match)
	if err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(r.threads)
	lake, err := openLake(r.data, r.limit)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lake.close()) }()
	duck, err := openDuck(r.threads)
	if err != nil {
		return nil, err
	}
	defer duck.close()
	if err := errors.Join(lake.use(basicSuite), duck.use(r.data, basicSuite)); err != nil {
		return nil, err
	}
	for _, q := range queries {
		l, err := r.spillLap(q, lake, duck)
		if err != nil {
			return nil, fmt.Errorf("spill %s: %w", q.name, err)
		}
		r.log("%-16s %-11s in memory %8s  spilling %8s  %s", q.name, l.path, milliseconds(l.memory.CPU), milliseconds(l.spills.CPU), l.failure)
		laps = append(laps, l)
	}
	return laps, nil
}

func (r race) spillLap(q suiteQuery, lake *lake, duck *duck) (l spillLap, err error) {
	l.query = q
	want, err := duck.query(context.Background(), q.text)
	if err != nil {
		return l, err
	}
	if _, l.path, err = lake.explain(context.Background(), q.text); err != nil {
		return l, err
	}
	for _, with := range []struct {
		memory int64 // 0: the default
		cost   *usage
	}{{0, &l.memory}, {spillMemory, &l.spills}} {
		if _, err := lake.db.Exec(fmt.Sprintf("SET lakesql_query_memory = %d", with.memory)); err != nil {
			return l, err
		}
		runtime.GC()
		var got result
		u, err := timed(func() (err error) { got, err = lake.query(context.Background(), q.text); return err })
		if err != nil {
			l.failure = r.why(err)
			continue
		}
		*with.cost = u
		if different := compare(got, want); different != "" {
			l.failure = "wrong: " + different
		}
	}
	return l, nil
}

// spill writes its table.
func (p page) spill(b *strings.Builder) {
	fmt.Fprintf(b, "## More than the memory\n\n`make bench BENCH='-suite %s'`: over the first table above, each once with the memory that it wants and once with `lakesql_query_memory` of %s, which is less than\n",
		spillSuite.name, megabytes(spillMemory))
	fmt.Fprintf(b, "a tenth of the keys: the rest goes to disk. Answers are compared with DuckDB's.\n\n| query | | executed on | CPU in memory | CPU spilling | wall in memory | wall spilling | |\n|---|---|---|---|---|---|---|---|\n")
	for _, l := range p.spilled {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", l.query.name, l.query.title, l.path, milliseconds(l.memory.CPU), milliseconds(l.spills.CPU),
			milliseconds(l.memory.Wall), milliseconds(l.spills.Wall), l.failure)
	}
	b.WriteString("\n")
}
