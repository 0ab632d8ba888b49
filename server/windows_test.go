package server

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWindowsEndInTime: a window that takes long, on columns or on rows, ends soon after its time is over or it was killed, with MySQL's error, and the
// connection goes on.
func TestWindowsEndInTime(t *testing.T) {
	s, _ := serveLake(t)
	db := open(t, s)
	makeBig(t, db)
	exec(t, db, "CREATE TABLE wide AS SELECT a.id, a.s FROM big a JOIN (SELECT id FROM big WHERE id < 20) b ON a.zero = a.zero")
	for _, vector := range []string{"ON", "OFF"} {
		for _, query := range []string{
			"SELECT SUM(id * rn) FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY s) AS rn FROM wide) x",
			"SELECT COUNT(p) FROM (SELECT LAG(s) OVER (ORDER BY id) AS p, SUM(id) OVER (ORDER BY id ROWS BETWEEN 5000 PRECEDING AND CURRENT ROW) AS q FROM wide) x WHERE q > 0",
		} {
			t.Run(fmt.Sprint(vector, " ", query[:20]), func(t *testing.T) {
				c, err := db.Conn(context.Background())
				require.NoError(t, err)
				defer func() { require.NoError(t, c.Close()) }()
				_, err = c.ExecContext(context.Background(), "SET lakesql_vector = "+vector)
				require.NoError(t, err)
				_, err = c.ExecContext(context.Background(), "SET max_execution_time = 60")
				require.NoError(t, err)
				began := cpuTime(t)
				rows, err := c.QueryContext(context.Background(), query)
				requireErrno(t, drainRows(rows, err), 3024, "HY000")
				require.Less(t, cpuTime(t)-began, 5*time.Second, "the machine may be busy with something else")
				_, err = c.ExecContext(context.Background(), "SET max_execution_time = 0, lakesql_vector = ON")
				require.NoError(t, err, "the connection goes on")
			})
		}
	}
}

// cpuTime is how long the process has had a processor.
func cpuTime(t testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
