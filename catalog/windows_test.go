package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// windowLab has the table of the examples of MySQL's manual, "Window Function Concepts and Syntax", and one of times.
func windowLab(t *testing.T) *lab {
	l := newLab(t)
	l.exec("CREATE TABLE sales (year INT, country VARCHAR(20), product VARCHAR(32), profit INT)",
		`INSERT INTO sales VALUES (2000,'Finland','Computer',1500), (2000,'Finland','Phone',100), (2001,'Finland','Phone',10), (2000,'India','Calculator',75),
			(2000,'India','Calculator',75), (2000,'India','Computer',1200), (2000,'USA','Calculator',75), (2000,'USA','Computer',1500), (2001,'USA','Calculator',50),
			(2001,'USA','Computer',1500), (2001,'USA','Computer',1200), (2001,'USA','TV',150), (2001,'USA','TV',100)`,
		"CREATE TABLE numbers (id INT, val INT)", "INSERT INTO numbers VALUES (1,1), (2,1), (3,2), (4,3), (5,3), (6,3), (7,4), (8,4), (9,5)",
		"CREATE TABLE observations (id INT, time DATETIME, subject VARCHAR(9), val INT)",
		`INSERT INTO observations VALUES (1,'2024-01-01 07:00:00','st113',10), (2,'2024-01-01 07:15:00','st113',9), (3,'2024-01-01 07:30:00','st113',25), (4,'2024-01-01 07:45:00','st113',20),
			(5,'2024-01-01 07:00:00','xh458',0), (6,'2024-01-01 07:15:00','xh458',10), (7,'2024-01-01 07:30:00','xh458',5), (8,'2024-01-01 07:45:00','xh458',30), (9,'2024-01-01 08:00:00','xh458',25), (10,NULL,'xh458',7), (11,NULL,'xh458',8)`,
		"CREATE TABLE nothing (a INT, b INT)")
	return l
}

// bothRows are the rows of a query, on batches and on rows.
func (l *lab) bothRows(query string) []string {
	l.t.Helper()
	rows := l.session()
	rows.exec("SET lakesql_vector = OFF")
	got := l.rows(query)
	require.Equal(l.t, got, rows.rows(query), query)
	return got
}

// TestWindowsOfTheManual: what MySQL's manual shows.
func TestWindowsOfTheManual(t *testing.T) {
	l := windowLab(t)
	for _, c := range []struct {
		query string
		want  string
	}{
		{"SELECT country, SUM(profit) OVER () AS total, SUM(profit) OVER (PARTITION BY country) AS c FROM sales ORDER BY country, year, product, profit LIMIT 1", "Finland|7535|1610"},
		{"SELECT val, ROW_NUMBER() OVER w, RANK() OVER w, DENSE_RANK() OVER w FROM numbers WINDOW w AS (ORDER BY val) ORDER BY id",
			"1|1|1|1, 1|2|1|1, 2|3|3|2, 3|4|4|3, 3|5|4|3, 3|6|4|3, 4|7|7|4, 4|8|7|4, 5|9|9|5"},
		{"SELECT val, CUME_DIST() OVER w, PERCENT_RANK() OVER w FROM numbers WINDOW w AS (ORDER BY val) ORDER BY id",
			"1|0.2222222222222222|0, 1|0.2222222222222222|0, 2|0.3333333333333333|0.25, 3|0.6666666666666666|0.375, 3|0.6666666666666666|0.375, 3|0.6666666666666666|0.375, " +
				"4|0.8888888888888888|0.75, 4|0.8888888888888888|0.75, 5|1|1"},
		{"SELECT val, NTILE(2) OVER w, NTILE(4) OVER w FROM numbers WINDOW w AS (ORDER BY val, id) ORDER BY id",
			"1|1|1, 1|1|1, 2|1|1, 3|1|2, 3|1|2, 3|2|3, 4|2|3, 4|2|4, 5|2|4"},
		{"SELECT id, SUM(val) OVER (PARTITION BY subject ORDER BY time ROWS UNBOUNDED PRECEDING) AS running, AVG(val) OVER (PARTITION BY subject ORDER BY time ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS near FROM observations WHERE time IS NOT NULL ORDER BY id",
			"1|10|9.5000, 2|19|14.6667, 3|44|18.0000, 4|64|22.5000, 5|0|5.0000, 6|10|5.0000, 7|15|15.0000, 8|45|20.0000, 9|70|27.5000"},
		{"SELECT id, FIRST_VALUE(val) OVER w, LAST_VALUE(val) OVER w, NTH_VALUE(val, 2) OVER w, NTH_VALUE(val, 4) OVER w FROM observations WHERE time IS NOT NULL WINDOW w AS (PARTITION BY subject ORDER BY time ROWS UNBOUNDED PRECEDING) ORDER BY id",
			"1|10|10|NULL|NULL, 2|10|9|9|NULL, 3|10|25|9|NULL, 4|10|20|9|20, 5|0|0|NULL|NULL, 6|0|10|10|NULL, 7|0|5|10|NULL, 8|0|30|10|30, 9|0|25|10|30"},
		{"SELECT id, LAG(val) OVER w, LEAD(val) OVER w, val - LAG(val) OVER w FROM observations WHERE subject = 'st113' WINDOW w AS (ORDER BY time) ORDER BY id",
			"1|NULL|9|NULL, 2|10|25|-1, 3|9|20|16, 4|25|NULL|-5"},
		{"SELECT id, LAG(val, 1, 0) OVER w, LEAD(val, 2, -1) OVER w, LAG(val, 0) OVER w FROM observations WHERE subject = 'st113' WINDOW w AS (ORDER BY time) ORDER BY id",
			"1|0|25|10, 2|10|20|9, 3|9|-1|25, 4|25|-1|20"},
	} {
		require.Equal(t, c.want, strings.Join(l.bothRows(c.query), ", "), c.query)
		l.sameOnRows(c.query)
	}
}

// TestFramesOfWindows: peers and nulls, orders that descend, orders of several keys, ranges.
func TestFramesOfWindows(t *testing.T) {
	l := windowLab(t)
	for _, c := range []struct {
		query string
		want  string
	}{
		{"SELECT id, SUM(val) OVER (ORDER BY val) FROM numbers ORDER BY id", "1|2, 2|2, 3|4, 4|13, 5|13, 6|13, 7|21, 8|21, 9|26"},
		{"SELECT id, SUM(val) OVER (ORDER BY val DESC) FROM numbers ORDER BY id", "1|26, 2|26, 3|24, 4|22, 5|22, 6|22, 7|13, 8|13, 9|5"},
		{"SELECT id, COUNT(*) OVER (ORDER BY val DESC, id) FROM numbers ORDER BY id", "1|8, 2|9, 3|7, 4|4, 5|5, 6|6, 7|2, 8|3, 9|1"},
		{"SELECT id, LAST_VALUE(id) OVER (ORDER BY val) FROM numbers ORDER BY id", "1|2, 2|2, 3|3, 4|6, 5|6, 6|6, 7|8, 8|8, 9|9"},
		{"SELECT id, LAST_VALUE(id) OVER (ORDER BY val ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM numbers ORDER BY id LIMIT 2", "1|9, 2|9"},
		{"SELECT id, COUNT(*) OVER (ORDER BY val RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM numbers ORDER BY id", "1|3, 2|3, 3|6, 4|6, 5|6, 6|6, 7|6, 8|6, 9|3"},
		{"SELECT id, COUNT(*) OVER (ORDER BY val DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM numbers ORDER BY id", "1|3, 2|3, 3|4, 4|5, 5|5, 6|5, 7|3, 8|3, 9|1"},
		{"SELECT id, SUM(val) OVER (ORDER BY val ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING) FROM numbers ORDER BY id", "1|NULL, 2|NULL, 3|1, 4|2, 5|3, 6|5, 7|6, 8|6, 9|7"},
		{"SELECT id, SUM(val) OVER (ORDER BY val ROWS BETWEEN 2 FOLLOWING AND 1 FOLLOWING) FROM numbers ORDER BY id LIMIT 2", "1|NULL, 2|NULL"},
		{"SELECT id, MAX(val) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), MIN(val) OVER (ORDER BY id DESC ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM numbers ORDER BY id",
			"1|5|1, 2|5|1, 3|5|2, 4|5|3, 5|5|3, 6|5|3, 7|5|4, 8|5|4, 9|NULL|5"},
		{"SELECT id, SUM(val) OVER (PARTITION BY subject ORDER BY time RANGE BETWEEN INTERVAL 15 MINUTE PRECEDING AND INTERVAL 15 MINUTE FOLLOWING) FROM observations ORDER BY id",
			"1|19, 2|44, 3|54, 4|45, 5|10, 6|15, 7|45, 8|60, 9|55, 10|15, 11|15"},
		{"SELECT id, COUNT(*) OVER (PARTITION BY subject ORDER BY time DESC RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 15 MINUTE FOLLOWING) FROM observations WHERE subject = 'xh458' ORDER BY id",
			"5|5, 6|5, 7|4, 8|3, 9|2, 10|7, 11|7"},
		{"SELECT SUM(a) OVER (ORDER BY b), ROW_NUMBER() OVER (), LAG(a) OVER (ORDER BY b) FROM nothing", ""},
		{"SELECT year, AVG(NULLIF(profit, 10)) OVER (PARTITION BY year, country) a, STDDEV(profit) OVER (PARTITION BY year, country) s FROM sales WHERE country = 'Finland' ORDER BY year, profit",
			"2000|800.0000|700, 2000|800.0000|700, 2001|NULL|0"},
		{"SELECT SUM(val) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING), SUM(val) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING), SUM(val) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) FROM numbers ORDER BY id LIMIT 2",
			"1|26|2, 2|26|4"},
		{"SELECT LAST_VALUE(id) OVER w, COUNT(*) OVER w FROM numbers WINDOW w AS (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) LIMIT 2", "9|9, 9|9"},
		{"SELECT COUNT(*) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), SUM(val) OVER (w) FROM numbers WINDOW w AS (PARTITION BY val ORDER BY id) ORDER BY id", "1|1, 2|2, 1|2, 1|3, 2|6, 2|9, 1|4, 2|8, 1|5"},
	} {
		require.Equal(t, c.want, strings.Join(l.bothRows(c.query), ", "), c.query)
		l.sameOnRows(c.query)
	}
}

// TestWindowsOverGroups: aggregates are the arguments, the keys and the order of windows.
func TestWindowsOverGroups(t *testing.T) {
	l := windowLab(t)
	for _, c := range []struct {
		query string
		want  string
	}{
		{"SELECT country, SUM(profit), SUM(SUM(profit)) OVER (), RANK() OVER (ORDER BY SUM(profit) DESC) FROM sales GROUP BY country ORDER BY country",
			"Finland|1610|7535|2, India|1350|7535|3, USA|4575|7535|1"},
		{"SELECT year y, country, SUM(profit) / SUM(SUM(profit)) OVER (PARTITION BY year) AS share FROM sales GROUP BY y, country HAVING COUNT(*) > 1 ORDER BY share DESC LIMIT 2",
			"2001|USA|1.0000, 2000|Finland|0.3536"},
		{"SELECT product, ROW_NUMBER() OVER w AS n FROM sales GROUP BY product HAVING product <> 'TV' WINDOW w AS (ORDER BY COUNT(*) DESC, product) ORDER BY n", "Computer|1, Calculator|2, Phone|3"},
		{"SELECT COUNT(*) OVER () FROM sales GROUP BY country LIMIT 1", "3"},
		{"SELECT MAX(profit), LAG(MAX(profit), 1, 0) OVER (ORDER BY MIN(profit)) FROM sales", "1500|0"},
		{"WITH s AS (SELECT * FROM sales) SELECT UPPER(country) u, SUM(COUNT(*)) OVER (ORDER BY UPPER(country)) FROM s GROUP BY u HAVING u < 'J' AND COUNT(*) > 0 ORDER BY u DESC", "INDIA|6, FINLAND|3"},
		{"SELECT UPPER(country), SUM(COUNT(*)) OVER (ORDER BY UPPER(country)) FROM sales GROUP BY UPPER(country) ORDER BY 2", "FINLAND|3, INDIA|6, USA|13"},
	} {
		require.Equal(t, c.want, strings.Join(l.bothRows(c.query), ", "), c.query)
	}
	_, err := l.tryRows("SELECT profit, SUM(COUNT(*)) OVER () FROM sales GROUP BY country")
	require.ErrorContains(t, err, "GROUP BY")
	_, err = l.tryRows("SELECT COUNT(DISTINCT country) OVER () FROM sales")
	require.ErrorContains(t, err, "DISTINCT in a window function")
}

// TestWindowThatBeginsWithAnother: PARTITION BY and ORDER BY can be taken over, a frame cannot.
func TestWindowThatBeginsWithAnother(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE a (x INT, y INT)", "INSERT INTO a VALUES (1, 2), (2, 3)")
	require.Equal(t, []string{"1|2", "2|5"}, l.rows("SELECT x, SUM(y) OVER w FROM a WINDOW w AS (ORDER BY x ROWS UNBOUNDED PRECEDING) ORDER BY x"))
	require.Equal(t, []string{"1|2", "2|5"}, l.rows("SELECT x, SUM(y) OVER (w ROWS UNBOUNDED PRECEDING) FROM a WINDOW w AS (ORDER BY x) ORDER BY x"))
	l.refused("SELECT x, SUM(y) OVER (w ROWS UNBOUNDED PRECEDING) FROM a WINDOW w AS (ORDER BY x RANGE UNBOUNDED PRECEDING)", "window 'w' has a frame")
	l.refused("SELECT x, SUM(y) OVER v FROM a WINDOW w AS (ORDER BY x ROWS UNBOUNDED PRECEDING), v AS (w)", "window 'w' has a frame")
}

// TestBitsOfDates are those of the numbers that they are written as.
func TestBitsOfDates(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE d (a DATE, b DATE)", "INSERT INTO d VALUES ('2022-11-19', '2022-11-11')")
	require.Equal(t, []string{"20221111|20221111"}, l.rows("SELECT DATE('2022-11-19 11:53:45') & DATE('2022-11-11 11:53:45'), a & b FROM d"))
}
