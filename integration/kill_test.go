package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/delta"
	"lakesql/delta/maintain"
	"lakesql/integration/harness"
	"lakesql/store"
)

// killsEnv sets how often TestKillAtRandomTimes kills the server; `make soak` asks for many more.
const killsEnv = "LAKESQL_KILLS"

// killsARound is after how many kills everything is read and compared; then the next round begins, on the same tables.
const killsARound = 50

// TestKillAtRandomTimes kills the server with SIGKILL at random times while files and records of Kafka arrive and the tables are optimized, by a client and by a
// program of its own that outlives the server: the files' table, the topic's, and one that a third stream makes of the files' table have every row once.
func TestKillAtRandomTimes(t *testing.T) {
	kills := killsARound
	if testing.Short() {
		kills = 10
	}
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d, %d kills", seed, kills)
	r := &killRounds{t: t, dir: landing(t), random: rand.New(rand.NewSource(seed)), seed: seed}
	r.begin()
	for killed := 0; killed < kills; killed += killsARound {
		r.round(min(killsARound, kills-killed))
	}
	r.p.Stop(t)
}

// killRounds is a server that is killed, and what arrives meanwhile.
type killRounds struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	seed    int64
	p       *harness.Process
	brokers *kfake.Cluster // in this process: they outlive the server

	killed, files, records, optimized int // so far
}

// killTables are the tables, each with the column that has 1, 2, 3, ... in it.
var killTables = [][2]string{{"sales", "transaction_id"}, {"sales_copy", "transaction_id"}, {"orders", "id"}}

func (r *killRounds) begin() {
	var err error
	r.brokers, err = kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "orders"))
	require.NoError(r.t, err)
	r.t.Cleanup(r.brokers.Close)
	r.p = harness.Start(r.t, r.dir)
	r.p.Exec(r.t, createSales)
	r.p.Exec(r.t, "CREATE STREAM copy_in INTO sales_copy WITH CHECKPOINT './lake/_checkpoints/copy' AS SELECT * FROM STREAM sales")
	r.p.Exec(r.t, "CREATE STREAM orders_in INTO orders WITH CHECKPOINT './lake/_checkpoints/orders' AS SELECT CAST(CAST(value AS CHAR) AS SIGNED) AS id "+
		"FROM STREAM kafka('"+strings.Join(r.brokers.ListenAddrs(), ",")+"', topic => 'orders', startingOffsets => 'earliest')")
}

// round kills the server some times amid everything else, lets it catch up, and compares.
func (r *killRounds) round(kills int) {
	ctx, cancel := context.WithCancel(r.t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.files = produce(ctx, r.t, r.dir, r.files, r.seed) })
	wg.Go(func() { r.records = r.produceRecords(ctx, r.records) })
	beside := 0
	wg.Go(func() { beside = r.optimizeBeside(ctx) })
	for range kills {
		asked := r.optimizeHere(r.p)
		time.Sleep(time.Duration(r.random.Intn(300)) * time.Millisecond)
		r.p.Kill()
		r.optimized += <-asked
		r.p = harness.Start(r.t, r.dir)
	}
	cancel()
	wg.Wait()
	r.killed, r.optimized = r.killed+kills, r.optimized+beside

	for _, stream := range []string{"sales_in", "copy_in", "orders_in"} {
		r.p.Exec(r.t, "WAIT FOR STREAM "+stream+" UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	}
	for _, table := range killTables {
		want := strconv.Itoa(2 * r.files)
		if table[0] == "orders" {
			want = strconv.Itoa(r.records)
		}
		require.Equal(r.t, [][]string{{want, want, "1", want}},
			r.p.Rows(r.t, fmt.Sprintf("SELECT COUNT(*), COUNT(DISTINCT %[2]s), MIN(%[2]s), MAX(%[2]s) FROM %[1]s", table[0], table[1])),
			"%s after %d kills: %d files of two rows, %d records: every row once\n%s", table[0], r.killed, r.files, r.records, r.p.Log)
	}
	require.Positive(r.t, r.optimized)
	r.t.Logf("%d kills: %d files, %d records, %d OPTIMIZE that had something to do: every row once", r.killed, r.files, r.records, r.optimized)
}

// optimizeHere asks the server to optimize the tables, until it is killed. The channel has how often there was something to do.
func (r *killRounds) optimizeHere(p *harness.Process) <-chan int {
	done := make(chan int, 1)
	go func() {
		n := 0
		defer func() { done <- n }()
		for ; ; time.Sleep(20 * time.Millisecond) {
			for _, table := range killTables {
				var path string
				var added int
				var rest [6]int64
				err := p.DB.QueryRow("OPTIMIZE "+table[0]).Scan(&path, &added, &rest[0], &rest[1], &rest[2], &rest[3], &rest[4], &rest[5])
				switch {
				case err == nil && added > 0:
					n++
				case wasKilled(err):
					return
				case err != nil && !isTableMissing(err):
					r.t.Errorf("OPTIMIZE %s: %v\n%s", table[0], err, p.Log)
					return
				}
			}
		}
	}()
	return done
}

// wasKilled says whether a client's error is that its server is no more, or that its handle was closed for that.
func wasKilled(err error) bool {
	var network net.Error
	return errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, io.EOF) || errors.As(err, &network) || err != nil && err.Error() == "sql: database is closed"
}

// isTableMissing says whether the stream has not made its table yet.
func isTableMissing(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && e.Number == 1146
}

// optimizeBeside optimizes the tables as another program does, whose commits meet those of the streams.
func (r *killRounds) optimizeBeside(ctx context.Context) (n int) {
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		for _, table := range killTables {
			st, err := store.Open(store.FileURI(filepath.Join(r.dir, "lake", "lake", table[0])))
			if err != nil {
				r.t.Error(err)
				return n
			}
			out, err := maintain.Optimize(ctx, delta.NewTable(st), maintain.OptimizeOptions{})
			if err != nil && ctx.Err() == nil && !errors.Is(err, delta.ErrNoTable) {
				r.t.Errorf("optimize %s: %v", table[0], err)
				return n
			}
			if out.FilesAdded > 0 {
				n++
			}
		}
	}
	return n
}

// produce drops files of two rows until ctx ends, the n-th with the ids 2n+1 and 2n+2. It begins with file n, and returns the one that would come next.
func produce(ctx context.Context, t *testing.T, dir string, n int, seed int64) int {
	random := rand.New(rand.NewSource(seed + int64(n)))
	for ; ; n++ {
		select {
		case <-ctx.Done():
			return n
		case <-time.After(time.Duration(random.Intn(40)) * time.Millisecond):
		}
		drop(t, dir, fmt.Sprintf("data_%06d.csv", n),
			fmt.Sprintf("transaction_id,item,amount\n%d,Item,1.5\n%d,Item,2.5\n", 2*n+1, 2*n+2))
	}
}

// produceRecords writes records n+1, n+2, ... to the topic until ctx ends, and returns the last one.
func (r *killRounds) produceRecords(ctx context.Context, n int) int {
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.brokers.ListenAddrs()...), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		r.t.Error(err)
		return n
	}
	defer cl.Close()
	random := rand.New(rand.NewSource(r.seed - int64(n)))
	for {
		select {
		case <-ctx.Done():
			return n
		case <-time.After(time.Duration(random.Intn(20)) * time.Millisecond):
		}
		if err := cl.ProduceSync(context.WithoutCancel(ctx), kgo.StringRecord(strconv.Itoa(n+1))).FirstErr(); err != nil {
			r.t.Error(err)
			return n
		}
		n++
	}
}
