package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// Nested columns are JSON to a client, by both protocols, with every digit.
func TestNestedColumnsOnTheWire(t *testing.T) {
	p := harness.Start(t, t.TempDir())
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := p.DB.Exec(statement, args...)
		require.NoError(t, err, statement)
	}
	exec("CREATE TABLE n (id INT, s STRUCT<price: DECIMAL(30,2), tags: ARRAY<STRING>>, v VARIANT, j JSON)")
	const s, v, j = `{"price":1234567890123456789012345678.10,"tags":["a",null]}`, `{"n":9007199254740993}`, `{"x": 1.50}`
	exec("INSERT INTO n VALUES (?, ?, ?, ?)", 1, s, []byte(v), j)
	exec("INSERT INTO n VALUES (2, '" + s + "', '" + v + "', '" + j + "')")
	exec("INSERT INTO n VALUES (3, NULL, NULL, NULL)")
	for _, c := range []client{textClient{}, preparedClient{}} {
		rows, err := c.run(p, "SELECT * FROM n ORDER BY id")
		require.NoError(t, err)
		require.Equal(t, [][]string{{"1", s, v, j}, {"2", s, v, j}, {"3", "NULL", "NULL", "NULL"}}, rows)
		rows, err = c.run(p, "SELECT s->'$.price', v->>'$.n', JSON_LENGTH(s, '$.tags') FROM n WHERE id = 1")
		require.NoError(t, err)
		require.Equal(t, [][]string{{"1234567890123456789012345678.10", "9007199254740993", "2"}}, rows)
		_, err = c.run(p, `INSERT INTO n (id, s) VALUES (4, '{"price":"x"}')`)
		require.ErrorContains(t, err, "ERROR 1366 (HY000): ")
		require.ErrorContains(t, err, `column s: read JSON at $.price: found "\"x\"", expected decimal(30,2)`)
		_, err = c.run(p, `INSERT INTO n (id, j) VALUES (4, '{')`)
		require.ErrorContains(t, err, "ERROR 3140 (22032): Invalid JSON text")
	}
	rows, err := p.DB.Query("SELECT s, v, j FROM n")
	require.NoError(t, err)
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	for _, typ := range types {
		require.Equal(t, "JSON", typ.DatabaseTypeName())
	}
	require.NoError(t, rows.Close())
}
