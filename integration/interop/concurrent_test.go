package interop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

const (
	concurrentTime    = 2 * time.Minute
	concurrentServers = 4
	lakesqlPause      = 100 * time.Millisecond // before each operation: Spark, which needs seconds for one, is to win now and then
	firstOperation    = 100_000_001            // nine digits, so that the log's texts can be searched for it
	keysOfAppend      = 5
	mergeKeys         = 40 // keys 0 to 39 belong to merges
	bumpModulus       = 11
)

// operation is a statement of one writer. Its number stands in its predicate as k <> -number, or in the keys that it appends.
type operation struct {
	number  int64
	kind    string
	arg     int64   // the remainder of a bump, the key of a delete
	keys    []int64 // of an append or merge
	writer  string
	changed bool // it says that it has changed rows
	outcome error
}

func (o *operation) sql(table string) string {
	mark := fmt.Sprintf("k <> -%d", o.number)
	switch o.kind {
	case "append":
		values := make([]string, len(o.keys))
		for i, k := range o.keys {
			values[i] = fmt.Sprintf("(%d, 0)", k)
		}
		return "INSERT INTO " + table + " VALUES " + strings.Join(values, ", ")
	case "bump":
		return fmt.Sprintf("UPDATE %s SET v = v + 1 WHERE k %% %d = %d AND %s", table, bumpModulus, o.arg, mark)
	case "delete":
		return fmt.Sprintf("DELETE FROM %s WHERE k = %d AND %s", table, o.arg, mark)
	case "merge":
		source := make([]string, len(o.keys))
		for i, k := range o.keys {
			source[i] = fmt.Sprintf("SELECT CAST(%d AS %s) AS k", k, bigint(table))
		}
		return fmt.Sprintf("MERGE INTO %s t USING (%s) s ON t.k = s.k AND s.%s WHEN MATCHED THEN UPDATE SET v = t.v + 1 WHEN NOT MATCHED THEN INSERT (k, v) VALUES (s.k, 0)",
			table, strings.Join(source, " UNION ALL "), mark)
	}
	return "OPTIMIZE " + table
}

// bigint is what a CAST calls the type: MySQL's word for lakesql, Spark's for a table by path.
func bigint(table string) string {
	if strings.HasPrefix(table, "delta.") {
		return "BIGINT"
	}
	return "SIGNED"
}

// plan makes the next operation of a writer.
func (w *writers) plan(rnd *rand.Rand, writer string) *operation {
	w.mu.Lock()
	defer w.mu.Unlock()
	o := &operation{number: firstOperation + int64(len(w.operations)), writer: writer}
	switch n := rnd.IntN(20); {
	case n < 8:
		o.kind = "append"
		for i := range int64(keysOfAppend) {
			o.keys = append(o.keys, o.number*10+i)
		}
		w.keys = append(w.keys, o.keys...)
	case n < 12:
		o.kind, o.arg = "bump", int64(rnd.IntN(bumpModulus))
	case n < 16 && len(w.keys) > 0:
		o.kind, o.arg = "delete", w.keys[rnd.IntN(len(w.keys))]
	case n < 19:
		o.kind = "merge"
		for _, k := range rnd.Perm(mergeKeys)[:3] {
			o.keys = append(o.keys, int64(k))
		}
	default:
		o.kind = "optimize"
	}
	w.operations = append(w.operations, o)
	return o
}

type writers struct {
	mu         sync.Mutex
	operations []*operation
	keys       []int64 // of appends
}

// run lets a writer work until the time is over.
func (w *writers) run(seed uint64, name string, until time.Time, execute func(o *operation) error) {
	rnd := rand.New(rand.NewPCG(seed, 7))
	for time.Now().Before(until) {
		o := w.plan(rnd, name)
		o.outcome = execute(o)
	}
}

// TestConcurrentWriters: four lakesql servers and Spark write to one table. Every operation that was acknowledged is one
// version of the log, no other is, and the rows are what the operations give in the order of the log, each on the rows
// that were there in the version it read.
func TestConcurrentWriters(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	table := filepath.Join(dir, "lake", "lake", "t")
	servers := make([]*harness.Process, concurrentServers)
	for i := range servers {
		servers[i] = harness.Start(t, dir)
	}
	servers[0].Exec(t, "CREATE TABLE t (k BIGINT, v BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
	warm := quoted(filepath.Join(dir, "warm")) // so that Spark has started and compiled what it needs
	spark40.sql(t, "CREATE TABLE "+warm+" (k BIGINT, v BIGINT) USING delta", "INSERT INTO "+warm+" VALUES (1, 1)", "DELETE FROM "+warm+" WHERE k = 1")

	w := &writers{}
	var running sync.WaitGroup
	until := time.Now().Add(concurrentTime)
	for i, p := range servers {
		running.Go(func() {
			w.run(uint64(i), fmt.Sprintf("lakesql %d", i), until, func(o *operation) error {
				time.Sleep(lakesqlPause)
				result, err := p.DB.Exec(o.sql("t"))
				if err != nil {
					return err
				}
				n, err := result.RowsAffected()
				o.changed = n > 0
				return err
			})
		})
	}
	running.Go(func() {
		w.run(99, "Spark", until, func(o *operation) error {
			var rows [][]*string
			return spark40.ask(t, &rows, "sql", []string{o.sql(quoted(table))})
		})
	})
	running.Wait()

	w.report(t)
	commits := readLog(t, table)
	want := w.replay(t, commits)
	require.Equal(t, want, ours(t, servers[0], "SELECT k, v FROM t"), "as lakesql reads it")
	inSpark, err := inSpark40.read(t, table)
	require.NoError(t, err)
	require.Equal(t, want, inSpark, "as Spark reads it")
	for _, p := range servers {
		p.Stop(t)
	}
}

// report logs what each writer did. A writer that only lost is an error: the test would show nothing.
func (w *writers) report(t *testing.T) {
	done, lost := map[string]int{}, map[string]int{}
	reasons := map[string]int{}
	for _, o := range w.operations {
		if o.outcome == nil {
			done[o.writer+" "+o.kind]++
			done[o.writer]++
			continue
		}
		lost[o.writer+" "+o.kind]++
		reasons[conflictClass(o.outcome)]++
	}
	t.Logf("done: %v", done)
	t.Logf("lost: %v, because: %v", lost, reasons)
	for i := range concurrentServers {
		require.Positive(t, done[fmt.Sprintf("lakesql %d", i)])
	}
	require.Positive(t, done["Spark"])
	for reason := range reasons {
		require.True(t, strings.Contains(reason, "DELTA_") || strings.Contains(reason, "Concurrent"), "not a lost race: %s", reason)
	}
}

var classPattern = regexp.MustCompile(`DELTA_[A-Z_]+|Concurrent\w+Exception`)

func conflictClass(err error) string {
	if class := classPattern.FindString(err.Error()); class != "" {
		return class
	}
	return err.Error()
}

// logged is what a commit of the log says of itself.
type logged struct {
	version, read int64
	operation     string
	parameters    string
	appended      int64 // the least key of an append
}

// readLog reads the commits, which are without a gap.
func readLog(t *testing.T, table string) []logged {
	t.Helper()
	var out []logged
	for version := int64(0); ; version++ {
		data, err := os.ReadFile(filepath.Join(table, "_delta_log", fmt.Sprintf("%020d.json", version)))
		if os.IsNotExist(err) {
			break
		}
		require.NoError(t, err)
		c := logged{version: version, appended: -1}
		for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
			var action struct {
				CommitInfo *struct {
					Operation           string
					ReadVersion         int64
					OperationParameters json.RawMessage
				}
				Add *struct{ Stats string }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &action))
			if info := action.CommitInfo; info != nil {
				c.operation, c.read, c.parameters = info.Operation, info.ReadVersion, string(info.OperationParameters)
			}
			if action.Add != nil {
				var stats struct{ MinValues struct{ K int64 } }
				require.NoError(t, json.Unmarshal([]byte(action.Add.Stats), &stats))
				if c.appended < 0 || stats.MinValues.K < c.appended {
					c.appended = stats.MinValues.K
				}
			}
		}
		out = append(out, c)
	}
	files, err := filepath.Glob(filepath.Join(table, "_delta_log", "*[0-9].json"))
	require.NoError(t, err)
	require.Len(t, files, len(out), "the log has a gap")
	return out
}

var markPattern = regexp.MustCompile(`\b1\d{8}\b`)

// operationOf finds the operation that a commit made; nil for those without a number.
func (w *writers) operationOf(t *testing.T, c logged) *operation {
	t.Helper()
	number := int64(0)
	switch {
	case c.operation == "WRITE":
		number = c.appended / 10
	case markPattern.MatchString(c.parameters):
		number, _ = strconv.ParseInt(markPattern.FindString(c.parameters), 10, 64) // nine digits
	default:
		return nil
	}
	at := number - firstOperation
	require.True(t, at >= 0 && at < int64(len(w.operations)), "version %d: %s %s", c.version, c.operation, c.parameters)
	return w.operations[at]
}

// row is a row of the model.
type row struct{ value, since int64 }

// replay applies the log's operations to a model and returns its rows.
func (w *writers) replay(t *testing.T, commits []logged) [][]string {
	t.Helper()
	table := map[int64]row{}
	committed := map[*operation]bool{}
	for _, c := range commits {
		o := w.operationOf(t, c)
		if o == nil {
			require.True(t, slices.Contains([]string{"CREATE TABLE", "OPTIMIZE"}, c.operation), "version %d: %s %s", c.version, c.operation, c.parameters)
			continue
		}
		require.False(t, committed[o], "%s is in the log twice", o.sql("t"))
		require.NoError(t, o.outcome, "version %d is of a statement that failed: %s", c.version, o.sql("t"))
		committed[o] = true
		o.apply(table, c)
	}
	for _, o := range w.operations {
		if o.outcome == nil && o.changed && !committed[o] && o.kind != "optimize" {
			t.Errorf("%s of %s was acknowledged and is not in the log", o.sql("t"), o.writer)
		}
	}
	rows := [][]string{}
	for _, k := range slices.SortedFunc(maps.Keys(table), cmp.Compare) {
		rows = append(rows, []string{fmt.Sprint(k), fmt.Sprint(table[k].value)})
	}
	return sortRows(rows)
}

// apply does to the model what the operation does to the rows that it could see.
func (o *operation) apply(table map[int64]row, c logged) {
	seen := func(k int64) bool {
		r, ok := table[k]
		return ok && r.since <= c.read
	}
	add := func(k int64) { table[k] = row{table[k].value + 1, table[k].since} }
	switch o.kind {
	case "append":
		for _, k := range o.keys {
			table[k] = row{since: c.version}
		}
	case "bump":
		for k := range table {
			if k%bumpModulus == o.arg && seen(k) {
				add(k)
			}
		}
	case "delete":
		if seen(o.arg) {
			delete(table, o.arg)
		}
	case "merge":
		for _, k := range o.keys {
			if seen(k) {
				add(k)
			} else {
				table[k] = row{since: c.version}
			}
		}
	}
}
