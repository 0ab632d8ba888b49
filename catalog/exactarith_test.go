package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDigitsOfArithmetic has the values that MySQL 8 shows.
func TestDigitsOfArithmetic(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (i INT, b BIGINT, d DECIMAL(12,2), w DECIMAL(20,5), f DOUBLE)", "INSERT INTO t VALUES (1, 3, 10.00, 0.33333, 3)")
	for _, c := range []struct{ expr, want string }{
		{"1 / 3", "0.3333"}, {"i / b", "0.3333"}, {"2 / 3", "0.6667"}, {"(1 / 3) * 3", "1.0000"}, {"i / b * 3", "1.0000"}, {"i / b = 0.3333", "0"},
		{"d / b", "3.333333"}, {"d / 3", "3.333333"}, {"d / w", "30.000300"}, {"b / d", "0.3000"}, {"d / 0", "NULL"}, {"d % 3", "1.00"}, {"d % 0.3", "0.10"}, {"-d % 3", "-1.00"},
		{"d DIV 3", "3"}, {"-d DIV 3", "-3"}, {"d DIV 0.3", "33"}, {"7 % 3", "1"}, {"b % 2", "1"}, {"i DIV 0", "NULL"},
		{"d * 2", "20.00"}, {"d * w", "3.3333000"}, {"d + w", "10.33333"}, {"1 - d", "-9.00"}, {"d * 1.5", "15.000"},
		{"CASE WHEN i = 1 THEN d ELSE w END", "10.00000"}, {"IF(i = 2, d, 0)", "0.00"}, {"COALESCE(NULL, d, w)", "10.00000"}, {"IFNULL(d, 1)", "10.00"},
		{"CASE WHEN i = 1 THEN d / 3 END", "3.333333"}, {"CONCAT(i / b)", "0.3333"}, {"f / 2", "1.5"}, {"d / f", "3.3333333333333335"},
		{"CAST(i / b AS DECIMAL(10,2))", "0.33"}, {"CAST(2 / b AS SIGNED)", "1"}, {"10.0 / 3", "3.33333"},
	} {
		require.Equal(t, []string{c.want}, l.rows("SELECT "+c.expr+" FROM t"), c.expr)
	}
	l.exec("INSERT INTO t VALUES (1, 3, 10.00, 0.33333, 3), (1, 3, 10.00, 0.33333, 3)")
	for query, want := range map[string]string{
		"SELECT SUM(i / b) FROM t":                                               "1.0000",
		"SELECT AVG(i / b) FROM t":                                               "0.33333333",
		"SELECT SUM(d) / SUM(b) FROM t":                                          "3.333333",
		"SELECT COUNT(*), i / b FROM t GROUP BY i / b":                           "3|0.3333",
		"SELECT q * 3 FROM (SELECT i / b AS q FROM t LIMIT 1) x":                 "0.9999",
		"SELECT SUM(CASE WHEN i = 1 THEN d * (1 - w) ELSE 0 END)/SUM(d) FROM t":  "0.66667000000",
		"SELECT 100.00 * SUM(CASE WHEN i = 1 THEN d ELSE 0 END) / SUM(d) FROM t": "100.00000000",
		"SELECT SUM(d * (1 - w) * (1 + w)) FROM t":                               "26.666733333000",
		"SELECT 0.2 * AVG(d) FROM t":                                             "2.0000000",
		"SELECT SUM(d) / 7.0 FROM t":                                             "4.285714",
		"SELECT (SELECT SUM(d) / 7.0 FROM t) + 1":                                "5.285714",
	} {
		require.Equal(t, []string{want}, l.rows(query), query)
	}
	l.exec("SET div_precision_increment = 6")
	require.Equal(t, []string{"0.333333|3.33333333"}, l.rows("SELECT i / b, d / b FROM t LIMIT 1"))
}

func TestArithmeticOnBothPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	l := pathsLab(t, r)
	var expr func(depth int) string
	leaf := func() string {
		return pick(r, []string{"t", "n", "b", "d", "w", "d", "d", "1", "2", "0.5", "100.00", "n", "-3"})
	}
	expr = func(depth int) string {
		if depth == 0 || r.IntN(4) == 0 {
			return leaf()
		}
		switch r.IntN(8) {
		case 0:
			return fmt.Sprintf("CASE WHEN %s > %s THEN %s ELSE %s END", leaf(), leaf(), expr(depth-1), expr(depth-1))
		case 1:
			return fmt.Sprintf("IF(%s IS NULL, %s, %s)", leaf(), expr(depth-1), expr(depth-1))
		case 2:
			return fmt.Sprintf("COALESCE(%s, %s)", expr(depth-1), expr(depth-1))
		}
		return fmt.Sprintf("(%s %s %s)", expr(depth-1), pick(r, []string{"+", "-", "*", "/", "/", "DIV", "%"}), expr(depth-1))
	}
	batches := 0
	for range 600 {
		e := expr(2)
		query := pick(r, []string{"SELECT @ FROM p", "SELECT SUM(@) FROM p", "SELECT AVG(@), COUNT(*) FROM p", "SELECT COUNT(*) FROM p WHERE @ > 0.5",
			"SELECT COUNT(DISTINCT @) FROM p", "SELECT COUNT(*), SUM(n) FROM p GROUP BY (@ + d)"})
		query = strings.ReplaceAll(query, "@", e)
		if l.sameWhereCompiled(query) {
			batches++
		}
	}
	require.Greater(t, batches, 300)
}

// TestPriceArithmeticOnBatches has the expressions of TPC-H's queries, whose products have more digits than a batch has.
func TestPriceArithmeticOnBatches(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE li (id INT, price DECIMAL(15,2), discount DECIMAL(15,2), tax DECIMAL(15,2), flag VARCHAR(1), shipped DATE)",
		"INSERT INTO li VALUES (1, 901.00, 0.05, 0.08, 'A', '1994-01-01'), (2, 33.10, 0, 0.02, 'N', '1995-01-01'), (3, NULL, 0.1, 0.1, 'N', NULL)",
		"CREATE TABLE big (price DECIMAL(38,2))", "INSERT INTO big VALUES (100000000000000000000000000000000000.00)")
	for query, want := range map[string][]string{
		"SELECT flag, SUM(price * (1 - discount) * (1 + tax)), AVG(price), COUNT(*) FROM li GROUP BY flag ORDER BY flag": {
			"A|924.426000|901.000000|1", "N|33.762000|33.100000|2"},
		"SELECT 100.00 * SUM(CASE WHEN flag LIKE 'A%' THEN price * (1 - discount) ELSE 0 END) / SUM(price * (1 - discount)) FROM li": {"96.2769248074"},
		"SELECT SUM(price) / 7.0 FROM li": {"133.442857"},
		"SELECT YEAR(shipped), SUM(CASE WHEN flag = 'A' THEN v ELSE 0 END) / SUM(v) FROM (SELECT shipped, flag, price * (1 - discount) AS v FROM li) x GROUP BY YEAR(shipped) ORDER BY 1": {
			"NULL|NULL", "1994|1.00000000", "1995|0.00000000"},
		"SELECT SUM(price * (1 - discount)) - 5, MAX(price * 2) FROM li": {"884.0500|1802.00"},
	} {
		require.Equal(t, want, l.rows(query), query)
		require.Equal(t, "Vector", l.rows("EXPLAIN " + query)[0], query)
	}
	require.Equal(t, []string{"10000000000000000000000000000000000000000000000000000000000.0000"}, l.rows("SELECT SUM(price * 100000000000000000000000.00) FROM big"))
}

// TestMoreDigitsThanTheType: ROUND of digits before the point may give a digit more than its type has, in MySQL too; it is compared, joined and chosen all the same.
func TestMoreDigitsThanTheType(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE t (id INT, z DECIMAL(38,0), k DECIMAL(3,0))",
		"INSERT INTO t VALUES (1, 99999999999999999999999999999999999999, 995), (2, 10, 994)",
	)
	huge := "1" + strings.Repeat("0", 38)
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]string{
			"SELECT a.id FROM t a JOIN t b ON ROUND(a.z, -1) = b.z":                                            "2",
			"SELECT a.id, b.id FROM t a JOIN t b ON ROUND(a.z, -1) = ROUND(b.z, -1)":                           "1|1 2|2",
			"SELECT x.r FROM (SELECT ROUND(z, -1) AS r FROM t) x JOIN t ON x.r = t.z":                          "10",
			"SELECT id FROM t WHERE ROUND(z, -1) IN (SELECT z FROM t)":                                         "2",
			"SELECT a.id, b.id FROM t a JOIN t b ON GREATEST(ROUND(a.k, -1), 5) = ROUND(b.k, -1)":              "1|1 2|2",
			"SELECT GREATEST(ROUND(k, -1), 5), LEAST(ROUND(z, -1), k + 1e0), GREATEST(ROUND(z, -1), 0) FROM t": "1000|996|" + huge + " 990|10|10",
			"SELECT NULLIF(ROUND(k, -1), 990), IF(id = 1, ROUND(k, -1), 0) FROM t":                             "1000|1000 NULL|0",
		} {
			require.Equal(t, want, strings.Join(on.rows(query), " "), query)
		}
	}
}

// TestExtremesStopAtNull: GREATEST and LEAST compute no argument behind one that is NULL.
func TestExtremesStopAtNull(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id INT, n INT, d DECIMAL(10,2), s VARCHAR(9))", "INSERT INTO t VALUES (1, NULL, 100000, 'x'), (2, 7, 100000, 'y')")
	const warning = "Warning|1264|Out of range value for column 'convert(t.d, decimal(4,2))' at row 1"
	for _, on := range []*lab{l, l.onRows()} {
		for query, want := range map[string]struct {
			rows     string
			warnings []string
		}{
			"SELECT LEAST(n, d, CAST(d AS DECIMAL(4,2))) FROM t":           {"NULL 7.00", []string{warning}},
			"SELECT GREATEST(CAST(d AS DECIMAL(4,2)), n) FROM t":           {"NULL 99.99", []string{warning, warning}},
			"SELECT id FROM t WHERE LEAST(n, CAST(d AS DECIMAL(4,2))) > 5": {"2", []string{warning}},
			"SELECT COALESCE(n, CAST(d AS DECIMAL(4,2))) FROM t":           {"99.99 7.00", []string{warning}},
		} {
			require.Equal(t, want.rows, strings.Join(on.rows(query), " "), query)
			require.Equal(t, want.warnings, on.rows("SHOW WARNINGS"), query)
		}
	}
}
