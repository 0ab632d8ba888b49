package server

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

// longOfRows are statements whose work takes long on rows.
var longOfRows = map[string]string{
	"cross join":       "SELECT COUNT(*) FROM big a, big b WHERE a.id + b.id < 0",
	"join of texts":    "SELECT COUNT(*) FROM wide a JOIN wide b ON a.s = b.s WHERE a.id + b.id < 0",
	"sort":             "SELECT id FROM (SELECT id, s FROM wide) x ORDER BY CONCAT(s, 'x'), id DESC LIMIT 300000, 1",
	"group":            "SELECT COUNT(*) FROM (SELECT CONCAT(s, id % 7) AS k, COUNT(*) AS n FROM wide GROUP BY CONCAT(s, id % 7)) x WHERE n < 0",
	"group of few":     "SELECT id % 3, SUM(id), GROUP_CONCAT(s) FROM wide GROUP BY id % 3",
	"distinct":         "SELECT COUNT(*) FROM (SELECT DISTINCT s, id FROM wide) x WHERE id < 0",
	"count distinct":   "SELECT COUNT(DISTINCT CONCAT(s, 'x')) FROM wide",
	"union":            "SELECT COUNT(*) FROM (SELECT s FROM wide UNION SELECT CONCAT(s, 'x') FROM wide) x",
	"window":           "SELECT SUM(id * rn) FROM (SELECT id, ROW_NUMBER() OVER (ORDER BY s) AS rn FROM wide) x",
	"subquery of rows": "SELECT COUNT(*) FROM big a WHERE (SELECT COUNT(*) FROM big b WHERE b.id % 7919 = a.id) > 1",
	"sleep":            "SELECT SLEEP(100)",
}

// BenchmarkCancel tells the longest time of the processor between KILL QUERY and the end of a statement on rows, both over the wire: the statement's and the collector's,
// beside those of KILL itself.
func BenchmarkCancel(b *testing.B) {
	s, _ := serveLake(b)
	killer := open(b, s)
	makeBig(b, killer)
	exec(b, killer, "CREATE TABLE wide AS SELECT a.id, a.s FROM big a JOIN (SELECT id FROM big WHERE id < 20) b ON a.zero = a.zero")
	for name, query := range longOfRows {
		b.Run(name, func(b *testing.B) {
			c, err := open(b, s).Conn(context.Background())
			require.NoError(b, err)
			defer func() { require.NoError(b, c.Close()) }()
			_, err = c.ExecContext(context.Background(), "SET lakesql_vector = OFF")
			require.NoError(b, err)
			var id int
			require.NoError(b, c.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id))
			longest := time.Duration(0)
			for after := 20 * time.Millisecond; after < 3*time.Second; after += after / 2 {
				before := time.Duration(0)
				timer := time.AfterFunc(after, func() {
					before = cpuTime(b)
					_, err := killer.Exec(fmt.Sprintf("KILL QUERY %d", id))
					require.NoError(b, err)
				})
				rows, err := c.QueryContext(context.Background(), query)
				err = drainRows(rows, err)
				if timer.Stop() || err == nil {
					break
				}
				var failed *mysql.MySQLError
				require.ErrorAs(b, err, &failed)
				require.Equal(b, uint16(1317), failed.Number)
				longest = max(longest, cpuTime(b)-before)
			}
			b.ReportMetric(longest.Seconds()*1e3, "cpu-ms-until-the-end")
		})
	}
}

// BenchmarkCancelUnread tells how long a statement goes on after KILL QUERY whose client reads nothing of its result.
func BenchmarkCancelUnread(b *testing.B) {
	s, _ := serveLake(b)
	killer := open(b, s)
	makeBig(b, killer)
	for _, vector := range []string{"ON", "OFF"} {
		b.Run("columns "+vector, func(b *testing.B) {
			c, err := open(b, s).Conn(context.Background())
			require.NoError(b, err)
			_, err = c.ExecContext(context.Background(), "SET lakesql_vector = "+vector)
			require.NoError(b, err)
			var id int
			require.NoError(b, c.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&id))
			rows, err := c.QueryContext(context.Background(), "SELECT "+endless)
			require.NoError(b, err)
			awaitFullSocket(b)
			exec(b, killer, fmt.Sprintf("KILL QUERY %d", id))
			before, began := cpuTime(b), time.Now()
			require.Eventually(b, func() bool {
				var n int
				require.NoError(b, killer.QueryRow("SELECT COUNT(*) FROM information_schema.processlist WHERE ID = ? AND COMMAND = 'Query'", id).Scan(&n))
				return n == 0
			}, patience, 50*time.Millisecond)
			b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-until-the-end")
			b.ReportMetric((cpuTime(b)-before).Seconds()*1e3, "cpu-ms-until-the-end")
			require.Error(b, drainRows(rows, nil))
			_ = c.Close() // it is broken
		})
	}
}
