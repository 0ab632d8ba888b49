package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A NULL in a row is equal to nothing, nor is it unequal.
func TestRowsInLists(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE w (id INT, v INT)", "INSERT INTO w VALUES (1, NULL), (2, 5), (3, NULL)")
	for _, vector := range []string{"ON", "OFF"} {
		l.exec("SET lakesql_vector = " + vector)
		require.Equal(t, []string{"1|NULL|NULL|NULL", "2|1|1|0", "3|0|1|NULL"},
			l.rows("SELECT id, (id, v) IN ((1, NULL), (2, 5)), (id, v) NOT IN ((1, 5), (2, 6), (9, NULL)), ROW(id, v) IN ((id, 7)) FROM w ORDER BY id"), vector)
		require.Equal(t, []string{"2"}, l.rows("SELECT id FROM w WHERE (id, v) IN ((1, NULL), (2, 5))"))
	}
	l.exec("DELETE FROM w WHERE (id, v) IN ((404, NULL), (1, NULL))", "UPDATE w SET v = 6 WHERE (id, v) IN ((3, NULL), (2, 5))")
	require.Equal(t, []string{"1|NULL", "2|6", "3|NULL"}, l.rows("SELECT * FROM w ORDER BY id"))
	l.refused("SELECT (1, 2) IN ((1, 2, 3))", "column")
}

// A text that is beyond all dates, rounded up or in the zone of the session, is compared like one that is no date, and keeps no other row from a SELECT.
func TestTextsBeyondDates(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE s (id INT, s VARCHAR(60))", "INSERT INTO s VALUES (1, '2024-01-20'), (2, '9999-12-31 23:59:59.9999999'), (3, '9999-12-31 23:00:00-10:00'), (4, '0000-01-01 00:00:00+10:00')")
	for _, vector := range []string{"ON", "OFF"} {
		l.exec("SET lakesql_vector = " + vector)
		for _, condition := range []string{"s >= DATE '2024-01-01'", "DATE(s) > '2024-01-15'", "CAST(s AS DATE) > DATE '2024-01-15'", "s BETWEEN DATE '2024-01-01' AND DATE '9999-12-31'"} {
			require.Equal(t, []string{"1"}, l.rows("SELECT id FROM s WHERE "+condition), condition)
		}
	}
}

// A NULL that a function of documents gives is not counted.
func TestNullsOfJSONTypeAreNotCounted(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE j (id INT, ar ARRAY<INT>)", "INSERT INTO j VALUES (1, NULL), (2, '[1]')")
	for _, vector := range []string{"ON", "OFF"} {
		l.exec("SET lakesql_vector = " + vector)
		require.Equal(t, []string{"1|0|NULL", "2|1|ARRAY"}, l.rows("SELECT id, COUNT(DISTINCT JSON_TYPE(ar)), MIN(JSON_TYPE(ar)) FROM j GROUP BY id ORDER BY id"), vector)
		require.Equal(t, []string{"1|0", "2|1"}, l.rows("SELECT id, COUNT(DISTINCT JSON_TYPE(ar)) FROM j GROUP BY id ORDER BY id"), vector)
	}
}

// The order and the limit in parentheses are those of what stands there.
func TestLimitsOfWhatIsUnited(t *testing.T) {
	l := newLab(t)
	for query, want := range map[string][]string{
		"((SELECT 1 a UNION SELECT 2) ORDER BY a DESC LIMIT 1) UNION (SELECT 7) ORDER BY 1":              {"2", "7"},
		"(SELECT 1 a UNION ALL SELECT 2 ORDER BY a LIMIT 1) UNION ALL (SELECT 7 UNION SELECT 8 LIMIT 1)": {"1", "7"},
		"SELECT * FROM ((SELECT 3 a UNION ALL SELECT 2 ORDER BY a LIMIT 1) UNION ALL SELECT 1) t":        {"2", "1"},
		"SELECT 5 UNION ALL (SELECT 1 a UNION ALL SELECT 2 ORDER BY a DESC LIMIT 1)":                     {"5", "2"},
	} {
		require.Equal(t, want, l.rows(query), query)
	}
}
