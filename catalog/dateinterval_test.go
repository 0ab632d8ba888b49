package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIntervalKeepsPartsOfASecond(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, t TIMESTAMP, d DATE)", "INSERT INTO t VALUES (1, '2020-01-01 00:00:00.999999', '2020-01-31')")
	require.Equal(t, []string{"2020-01-02 00:00:00.999999|2020-01-01 00:00:01.000000|2019-12-31 23:00:00.999999|1"},
		l.rows("SELECT CAST(t + INTERVAL 1 DAY AS CHAR), CAST(INTERVAL 1 MICROSECOND + t AS CHAR), CAST(t - INTERVAL 1 HOUR AS CHAR), d + INTERVAL 1 MONTH = DATE '2020-02-29' FROM t"))
	require.Equal(t, []string{"1"}, l.rows("SELECT id FROM (SELECT id, t + INTERVAL 1 DAY - INTERVAL 1 HOUR AS x FROM t) q WHERE x = '2020-01-01 23:00:00.999999'"))
	require.Equal(t, 1, l.affected("UPDATE t SET t = t - INTERVAL 1 MICROSECOND WHERE t + INTERVAL 1 MICROSECOND = '2020-01-01 00:00:01'"))
	require.Equal(t, []string{"2020-01-01 00:00:00.999998"}, l.rows("SELECT CAST(t AS CHAR) FROM t"))
}
