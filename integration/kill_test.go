package integration

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// killsEnv sets how often TestKillAtRandomTimes kills the server; `make soak` asks for many more.
const killsEnv = "LAKESQL_KILLS"

// TestKillAtRandomTimes kills the server with SIGKILL at random times while files arrive, and compares the table with
// the input: every row once.
func TestKillAtRandomTimes(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 10
	}
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d, %d kills", seed, kills)
	random := rand.New(rand.NewSource(seed))

	dir := landing(t)
	p := harness.Start(t, dir)
	p.Exec(t, createSales)

	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan int)
	go func() { written <- produce(ctx, t, dir, seed) }()
	for range kills {
		time.Sleep(time.Duration(random.Intn(300)) * time.Millisecond)
		p.Kill()
		p = harness.Start(t, dir)
	}
	cancel()
	files := <-written
	p.Exec(t, caughtUp)

	require.Equal(t, [][]string{{strconv.Itoa(2 * files), strconv.Itoa(2 * files), "1", strconv.Itoa(2 * files)}},
		p.Rows(t, "SELECT COUNT(*), COUNT(DISTINCT transaction_id), MIN(transaction_id), MAX(transaction_id) FROM sales"),
		"%d files of two rows each: every row once\n%s", files, p.Log)
	p.Stop(t)
}

// produce drops files of two rows with ids 2n+1 and 2n+2 until ctx ends, and returns how many.
func produce(ctx context.Context, t *testing.T, dir string, seed int64) int {
	random := rand.New(rand.NewSource(seed + 1))
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return n
		case <-time.After(time.Duration(random.Intn(40)) * time.Millisecond):
		}
		drop(t, dir, fmt.Sprintf("data_%06d.csv", n),
			fmt.Sprintf("transaction_id,item,amount\n%d,Item,1.5\n%d,Item,2.5\n", 2*n+1, 2*n+2))
	}
}
