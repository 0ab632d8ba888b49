package integration

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

const (
	salesTable = "CREATE TABLE IF NOT EXISTS sales (transaction_id BIGINT, item VARCHAR(20), amount DOUBLE)"
	copySales  = "COPY INTO sales FROM './landing' FILEFORMAT = CSV FORMAT_OPTIONS ('header' = 'true')"
)

// copyPoints are the durable steps of the second COPY INTO of a table, in their order.
var copyPoints = []string{
	"before commit-if-absent /sales/part-",
	"after commit-if-absent /sales/part-",
	"before commit-if-absent /sales/_lakesql/copy/00000000000000000001",
	"after commit-if-absent /sales/_lakesql/copy/00000000000000000001",
	"before put-if-absent /sales/_delta_log/00000000000000000002.json",
	"after put-if-absent /sales/_delta_log/00000000000000000002.json",
	"before delete /sales/_lakesql/copy/00000000000000000000",
	"after delete /sales/_lakesql/copy/00000000000000000000",
}

// TestCopyKilledAtEachStep kills the process with SIGKILL at each step of a COPY INTO, and types it again.
func TestCopyKilledAtEachStep(t *testing.T) {
	for _, point := range copyPoints {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			dir := landing(t)
			p := startCrashing(t, dir, point)
			p.Exec(t, salesTable)
			drop(t, dir, "data_1.csv", data1)
			require.Equal(t, [][]string{{"2", "2", "0"}}, p.Rows(t, copySales))
			drop(t, dir, "data_2.csv", data2)
			_, err := p.DB.Exec(copySales)
			require.Error(t, err)
			p.WaitKilled(t)

			p = harness.Start(t, dir)
			p.Exec(t, copySales)
			require.Equal(t, [][]string{{"0", "0", "0"}}, p.Rows(t, copySales))
			require.Equal(t, "1 2 3 4", ids(t, textClient{}, p))
			require.Len(t, p.Rows(t, "DESCRIBE HISTORY sales"), 3, "CREATE TABLE and one version a COPY INTO")
			p.Stop(t)
		})
	}
}

// TestCopyFromServersThatAreKilled has two servers copy the same folder, all the time, while files arrive and one of the two is killed.
func TestCopyFromServersThatAreKilled(t *testing.T) {
	kills := 5
	if n, err := strconv.Atoi(os.Getenv(killsEnv)); err == nil {
		kills = n
	}
	seed := time.Now().UnixNano()
	t.Logf("seed %d, %d kills", seed, kills)
	dir := landing(t)
	steady, victim := harness.Start(t, dir), harness.Start(t, dir, "--data-dir", filepath.Join(dir, "data2"))
	steady.Exec(t, salesTable)

	ctx, cancel := context.WithCancel(context.Background())
	written := make(chan int)
	go func() { written <- produce(ctx, t, dir, 0, seed) }()
	var wg sync.WaitGroup
	copied := int64(0)
	wg.Go(func() {
		for ctx.Err() == nil {
			var n, inserted, skipped int64
			if err := steady.DB.QueryRow(copySales).Scan(&n, &inserted, &skipped); err != nil {
				t.Errorf("%v\n%s", err, steady.Log)
				return
			}
			copied += n
		}
	})
	for range kills {
		deadline := time.Now().Add(700 * time.Millisecond)
		for time.Now().Before(deadline) {
			_, err := victim.DB.Exec(copySales)
			require.NoError(t, err, "%s", victim.Log)
		}
		running := victim
		wg.Go(func() { _, _ = running.DB.Exec(copySales) })
		time.Sleep(time.Duration(seed%200) * time.Millisecond)
		victim.Kill()
		victim = harness.Start(t, dir, "--data-dir", filepath.Join(dir, "data2"))
	}
	cancel()
	files := <-written
	wg.Wait()
	victim.Exec(t, copySales)
	want := strconv.Itoa(2 * files)
	require.Equal(t, [][]string{{want, want, "1", want}},
		steady.Rows(t, "SELECT COUNT(*), COUNT(DISTINCT transaction_id), MIN(transaction_id), MAX(transaction_id) FROM sales"), "%d files of two rows each", files)
	require.Positive(t, copied)
	entries, err := os.ReadDir(filepath.Join(dir, "lake", "lake", "sales", "_lakesql", "copy"))
	require.NoError(t, err)
	require.Less(t, len(entries), 30, "what is merged is deleted")
	steady.Stop(t)
	victim.Stop(t)
}

// TestCopyAndKillQuery ends a COPY INTO that waits for a file which some program has open.
func TestCopyAndKillQuery(t *testing.T) {
	t.Parallel()
	dir := landing(t)
	p := harness.Start(t, dir)
	p.Exec(t, salesTable)
	f, err := os.Create(filepath.Join(dir, "landing", "open.csv"))
	require.NoError(t, err)
	_, err = f.WriteString(data1)
	require.NoError(t, err)
	conn, err := p.DB.Conn(t.Context())
	require.NoError(t, err)
	var id int
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id))
	failed := make(chan error)
	go func() {
		_, err := conn.ExecContext(context.Background(), copySales)
		failed <- err
	}()
	require.Eventually(t, func() bool {
		return len(p.Rows(t, "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'COPY INTO%'")) > 0
	}, patience, 10*time.Millisecond)
	p.Exec(t, fmt.Sprintf("KILL QUERY %d", id))
	var killed *mysql.MySQLError
	require.ErrorAs(t, <-failed, &killed)
	require.Equal(t, uint16(1317), killed.Number, "%v", killed)
	require.NoError(t, conn.Close())
	require.Empty(t, p.Rows(t, "SELECT * FROM sales"))
	require.NoError(t, f.Close())
	require.Equal(t, [][]string{{"2", "2", "0"}}, p.Rows(t, copySales))
	p.Stop(t)
}
