package differential

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// defaultQueries run in seconds.
	defaultQueries = 1200
	// lakeQueries is how many queries run on the tables of one lake.
	lakeQueries = 2000
	// maxDifferences end the test.
	maxDifferences = 30
	// columnarShare is how many in a hundred queries are made of rules that run on batches.
	columnarShare = 70
	// explainEvery is of how many queries one is asked where it runs.
	explainEvery = 5
)

func setting(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	require.NoError(t, err, name)
	return n
}

// TestTwoExecutorsOneAnswer runs random queries on batches and on rows, on as many lakes at once as there are cores.
func TestTwoExecutorsOneAnswer(t *testing.T) {
	queries, seed := setting(t, "LAKESQL_QUERIES", defaultQueries), setting(t, "LAKESQL_SEED", 1)
	first := setting(t, "LAKESQL_QUERY", 0)
	if os.Getenv("LAKESQL_QUERY") != "" {
		queries = 1
	}
	all := &tally{errors: make(map[int]int)}
	begin := time.Now()
	t.Run("lakes", func(t *testing.T) { // ends when all lakes have
		for lake := uint64(0); lake*lakeQueries < queries; lake++ {
			t.Run(fmt.Sprintf("seed=%d", seed+lake), func(t *testing.T) {
				t.Parallel()
				all.run(t, seed+lake, int(first), int(min(queries-lake*lakeQueries, lakeQueries)))
			})
		}
	})
	t.Logf("%s in %s", all, time.Since(begin).Round(time.Second))
	require.LessOrEqual(t, all.givenUp, max(1, int(queries/10_000)), "too many queries were given up")
	if queries >= defaultQueries {
		require.Greater(t, all.whole*6, all.explained, "too few queries run on batches as a whole")
	}
}

// tally is what queries did.
type tally struct {
	sync.Mutex                       // guards the rest
	queries, differences, givenUp    int
	explained, whole, partly, by, no int // of the explained: all on batches, some of it, by statistics, nothing
	errors                           map[int]int
	rows                             int
}

func (a *tally) String() string {
	return fmt.Sprintf("%d queries, %d differences, %d given up after %s, %d rows, errors by number %v; of %d that were explained %d ran on batches as a whole, %d in part, %d by statistics, %d not",
		a.queries, a.differences, a.givenUp, limit, a.rows, a.errors, a.explained, a.whole, a.partly, a.by, a.no)
}

// run asks so many queries of a seed, from the first on.
func (a *tally) run(t *testing.T, seed uint64, first, count int) {
	l := newLake(t)
	r := rand.New(rand.NewPCG(seed, 0))
	both := &pair{vector: l.connect("ON"), rows: l.connect("OFF")}
	tables := l.fill(r)
	columnar, share := allRules.compiled(both.vector, tables)
	t.Log(share)
	for i := first; i < first+count; i++ {
		if a.full() {
			return
		}
		g := &generator{r: rand.New(rand.NewPCG(seed, uint64(i)+1)), tables: tables, rules: allRules, depth: 3}
		if g.chance(columnarShare) {
			g.rules, g.depth = columnar, 1+g.r.IntN(2)
		}
		q := g.query(nil, nil, false)
		text := q.String()
		begin := time.Now()
		what, answer, err := both.compare(q)
		if errors.Is(err, errGivenUp) {
			t.Logf("given up: seed %d, query %d: %s", seed, i, text)
			a.giveUp()
			continue
		}
		require.NoError(t, err)
		if took := time.Since(begin); took > slow {
			t.Logf("%s for %s", took.Round(time.Millisecond), text)
		}
		if answer.number != 0 && os.Getenv("LAKESQL_SHOW_ERRORS") != "" {
			t.Logf("%d %s: %s", answer.number, answer.message, text)
		}
		a.count(answer, what != "")
		if what != "" {
			t.Errorf("seed %d, query %d: %s", seed, i, both.reduced(q, what))
		} else if i%explainEvery == 0 {
			a.explain(both.vector, text)
		}
	}
}

// full tells whether enough differences are known.
func (a *tally) full() bool {
	a.Lock()
	defer a.Unlock()
	return a.differences >= maxDifferences
}

func (a *tally) giveUp() {
	a.Lock()
	defer a.Unlock()
	a.queries++
	a.givenUp++
}

func (a *tally) count(rows answer, differs bool) {
	a.Lock()
	defer a.Unlock()
	a.queries++
	a.rows += len(rows.rows)
	if rows.number != 0 {
		a.errors[rows.number]++
	}
	if differs {
		a.differences++
	}
}

// slow is how long a query may take that is not shown.
const slow = 3 * time.Second

// explain counts where a query runs.
func (a *tally) explain(c *client, query string) {
	r, err := c.conn.ExecuteFetch("EXPLAIN "+query, maxRows, false)
	if err != nil {
		return // the query is no better
	}
	plan := fmt.Sprint(texts(r))
	a.Lock()
	defer a.Unlock()
	a.explained++
	switch {
	case strings.HasPrefix(plan, "[[Vector]"):
		a.whole++
	case strings.Contains(plan, "Vector"):
		a.partly++
	case strings.Contains(plan, "Statistics"):
		a.by++
	default:
		a.no++
	}
}

// pair are two connections to one lake.
type pair struct{ vector, rows *client }

// compare asks both, and says how they differ. The answer is that of the rows.
func (p *pair) compare(q *query) (what string, rows answer, err error) {
	text := q.String()
	vector, err := p.vector.ask(text)
	if err != nil {
		return "", rows, err
	}
	rows, err = p.rows.ask(text)
	if err != nil {
		return "", rows, err
	}
	if vector.number == timedOut || rows.number == timedOut {
		return "", rows, errGivenUp
	}
	return difference(q, vector, rows), rows, nil
}

// timedOut is the number of the error of max_execution_time.
const timedOut = 3024

var errGivenUp = errors.New("a side took too long")

// reduced is the text of a difference, made small.
func (p *pair) reduced(q *query, what string) string {
	kind, _, _ := strings.Cut(what, " ")
	kind, _, _ = strings.Cut(kind, "\n")
	small := shrink(q, func(smaller *query) bool {
		again, _, err := p.compare(smaller)
		return err == nil && strings.HasPrefix(again, kind)
	})
	again, _, err := p.compare(small)
	if err != nil {
		again = err.Error()
	}
	return fmt.Sprintf("%s\n  %s", again, small)
}
