package catalog

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/catalog/compile"
)

// Each of these takes hours on rows, most without one that meets a condition: GMS's iterators ask nobody whether they should go on, and rows that are kept
// in memory come from no scan that would.
func TestRowsEndWhenTheStatementIsKilled(t *testing.T) {
	l := newLab(t)
	const (
		numbers = "JSON_TABLE(CONCAT('[0', REPEAT(',1', 299), ']'), '$[*]' COLUMNS (x FOR ORDINALITY, s VARCHAR(9) PATH '$'))"
		kept    = "WITH w AS (SELECT a.x, a.s, a.x + b.x AS y FROM n a JOIN n b ON a.x + b.x > 0) "
	)
	l.exec("CREATE DATABASE d", "USE d", "CREATE TABLE n (x BIGINT, s VARCHAR(9))", "SET lakesql_vector = OFF", "INSERT INTO n SELECT * FROM "+numbers+" AS j")
	for _, query := range []string{
		kept + "SELECT 1 FROM w a JOIN w b ON a.x + b.x < 0",
		kept + "SELECT 1 FROM w a LEFT JOIN w b ON a.x + b.x < 0 WHERE b.x = 1",
		kept + "SELECT 1 FROM w a JOIN w b ON a.x = b.x AND a.y + b.y < 0",
		kept + "SELECT 1 FROM w a CROSS JOIN w b WHERE a.x + b.x < 0",
		kept + "SELECT COUNT(*) FROM w a CROSS JOIN w b",
		kept + "SELECT COUNT(*) FROM (SELECT a.x FROM w a CROSS JOIN w b) t",
		kept + "SELECT a.x FROM w a CROSS JOIN w b ORDER BY a.x + b.x LIMIT 1",
		kept + "SELECT DISTINCT a.s FROM w a CROSS JOIN w b",
		kept + "SELECT a.s, COUNT(*) FROM w a CROSS JOIN w b GROUP BY a.s",
		kept + "SELECT a.s FROM w a CROSS JOIN w b HAVING a.s = 'x'",
		kept + "SELECT a.s FROM w a CROSS JOIN w b UNION SELECT 'x'",
		kept + "SELECT 1 FROM w a WHERE EXISTS (SELECT 1 FROM w b WHERE a.x + b.x < 0)",
		kept + "SELECT 1 FROM w a WHERE NOT EXISTS (SELECT 1 FROM w b WHERE a.x + b.x = 0)",
		kept + "SELECT 1 FROM w a WHERE a.x < 0 OR a.x + 1 IN (SELECT -b.x - a.x FROM w b)",
		kept + "SELECT 1 FROM w a WHERE (SELECT MAX(b.x) FROM w b WHERE b.x <> a.x) = 0",
		kept + "SELECT 1 FROM w a, LATERAL (SELECT MAX(b.x) AS m FROM w b WHERE b.x < a.x + 9) t WHERE m < 0",
		kept + "SELECT 1 FROM w a CROSS JOIN w b LIMIT 9 OFFSET 7000000000",
		"SELECT 1 FROM n a CROSS JOIN n b CROSS JOIN n c CROSS JOIN n d WHERE a.x + b.x + c.x + d.x < 0",
		"SELECT ROW_NUMBER() OVER (ORDER BY a.x) FROM n a CROSS JOIN n b CROSS JOIN n c CROSS JOIN n d",
		"SELECT COUNT(*) FROM " + numbers + " a JOIN " + numbers + " b JOIN " + numbers + " c JOIN " + numbers + " d WHERE a.x + b.x + c.x + d.x < 0",
	} {
		t.Run(query, func(t *testing.T) {
			killed, kill := context.WithCancel(context.Background())
			time.AfterFunc(100*time.Millisecond, kill)
			ctx := l.ctx()
			ctx.Context = killed
			_, rows, _, err := l.c.engine.Query(ctx, query)
			if err == nil {
				_, err = compile.Drain(ctx, rows)
			}
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}
