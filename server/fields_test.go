package server

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExpressionsArriveAsTheyAreDescribed reads values in the text and in the binary protocol, whose bytes are those of the described type.
func TestExpressionsArriveAsTheyAreDescribed(t *testing.T) {
	db, _ := startLake(t)
	for _, s := range []string{
		"CREATE TABLE d (id INT NOT NULL, ti TINYINT, si SMALLINT, bi BIGINT, f FLOAT, de DECIMAL(10,2), da DATE, s VARCHAR(20), bo BOOLEAN)",
		"INSERT INTO d VALUES (1, -128, -32768, -9223372036854775807, 1.5, -1234567.89, '2024-02-29', 'x', TRUE)",
	} {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	for _, c := range []struct{ expression, kind, text string }{
		{"id = si", "BIGINT", "0"}, {"bo", "TINYINT", "1"}, {"s LIKE 'x%'", "BIGINT", "1"}, {"de IS NULL", "BIGINT", "0"}, {"NOT bo", "BIGINT", "0"},
		{"ti + si", "BIGINT", "-32896"}, {"-bi", "BIGINT", "9223372036854775807"}, {"de * 2", "DECIMAL", "-2469135.78"}, {"id / 3", "DECIMAL", "0.3333"},
		{"7", "BIGINT", "7"}, {"1.50", "DECIMAL", "1.50"}, {"'a'", "VARCHAR", "a"}, {"CONCAT(id, de)", "VARCHAR", "1-1234567.89"}, {"YEAR(da)", "YEAR", "2024"},
		{"MONTH(da)", "BIGINT", "2"}, {"ASCII(s)", "BIGINT", "120"}, {"STRCMP(s, 'y')", "BIGINT", "-1"}, {"SIGN(de)", "BIGINT", "-1"}, {"ti | 0", "UNSIGNED BIGINT", "18446744073709551488"},
		{"IFNULL(ti, id)", "INT", "-128"}, {"IF(bo, id, de)", "DECIMAL", "1.00"},
		{"DATE_ADD('2024-01-31', INTERVAL 1 DAY)", "CHAR", "2024-02-01"}, {"LEFT(s, 1)", "VARCHAR", "x"}, {"CAST(s AS CHAR(3))", "VARCHAR", "x"},
		{"MAX(ti)", "TINYINT", "-128"}, {"COUNT(*)", "BIGINT", "1"}, {"SUM(id)", "DECIMAL", "1"}, {"AVG(si)", "DECIMAL", "-32768.0000"}, {"MIN(da)", "DATE", "2024-02-29"},
		{"ROW_NUMBER() OVER (ORDER BY id)", "UNSIGNED BIGINT", "1"}, {"LAG(id, 0) OVER (ORDER BY id)", "BIGINT", "1"},
	} {
		for _, args := range [][]any{nil, {0}} {
			query := "SELECT " + c.expression + " FROM d"
			if args != nil {
				query += " WHERE id > ?"
			}
			rows, err := db.Query(query, args...)
			require.NoError(t, err, query)
			columns, err := rows.ColumnTypes()
			require.NoError(t, err)
			require.Equal(t, c.kind, columns[0].DatabaseTypeName(), query)
			require.Equal(t, []sql.NullString{{String: c.text, Valid: true}}, readColumn(t, rows), query)
		}
	}
}
