package server

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// allTypes is one column of each type: its declaration, a value, how the value reads, and how clients are told of the column.
var allTypes = []struct {
	declared, value, text string
	kind                  string // go-sql-driver's name for the type
	length, decimals      int64  // -1: none
}{
	{"TINYINT", "-128", "-128", "TINYINT", -1, -1},
	{"TINYINT UNSIGNED", "255", "255", "UNSIGNED TINYINT", -1, -1},
	{"BOOLEAN", "TRUE", "1", "TINYINT", -1, -1},
	{"SMALLINT", "-32768", "-32768", "SMALLINT", -1, -1},
	{"MEDIUMINT", "-8388608", "-8388608", "MEDIUMINT", -1, -1},
	{"INT", "-2147483648", "-2147483648", "INT", -1, -1},
	{"INT UNSIGNED", "4294967295", "4294967295", "UNSIGNED INT", -1, -1},
	{"BIGINT", "-9223372036854775808", "-9223372036854775808", "BIGINT", -1, -1},
	{"BIGINT UNSIGNED", "18446744073709551615", "18446744073709551615", "UNSIGNED BIGINT", -1, -1},
	{"FLOAT", "1.5", "1.5", "FLOAT", -1, 31},
	{"DOUBLE", "0.1", "0.1", "DOUBLE", -1, 31},
	{"DOUBLE", "-1234.125", "-1234.125", "DOUBLE", -1, 31},
	{"DECIMAL(38,10)", "'-1234567890123456789012345678.0123456789'", "-1234567890123456789012345678.0123456789", "DECIMAL", 38, 10},
	{"DECIMAL(5,0)", "42", "42", "DECIMAL", 5, 0},
	{"DATE", "'2024-02-29'", "2024-02-29", "DATE", -1, -1},
	{"DATE", "'0001-01-01'", "0001-01-01", "DATE", -1, -1},
	{"DATETIME(6)", "'0999-12-31 23:59:59.000001'", "0999-12-31 23:59:59.000001", "DATETIME", -1, 6},
	{"DATETIME", "'0012-02-29 23:59:59'", "0012-02-29 23:59:59", "DATETIME", -1, 0},
	{"DATETIME", "'2024-02-29 23:59:59'", "2024-02-29 23:59:59", "DATETIME", -1, 0},
	{"DATETIME(6)", "'1969-12-31 23:59:59.000001'", "1969-12-31 23:59:59.000001", "DATETIME", -1, 6},
	{"TIMESTAMP(3)", "'2024-02-29 23:59:59.120'", "2024-02-29 23:59:59.120", "TIMESTAMP", -1, 3},
	{"TIME(6)", "'-12:34:56.500000'", "-12:34:56.500000", "TIME", -1, 6},
	{"YEAR", "2024", "2024", "YEAR", -1, -1},
	{"VARCHAR(20)", "'Ünï\\0cödé 😀'", "Ünï\x00cödé 😀", "VARCHAR", -1, -1},
	{"CHAR(5)", "'ab'", "ab", "CHAR", -1, -1},
	{"TEXT", "'text'", "text", "TEXT", -1, -1},
	{"LONGTEXT", "'text'", "text", "TEXT", -1, -1},
	{"VARBINARY(20)", "x'00ff80'", "\x00\xff\x80", "VARBINARY", -1, -1},
	{"LONGBLOB", "x'00ff80'", "\x00\xff\x80", "BLOB", -1, -1},
	{"JSON", `'{"a": [1, 2.5, null]}'`, `{"a": [1, 2.5, null]}`, "JSON", -1, -1},
	{"ENUM('x','y')", "'y'", "y", "ENUM", -1, -1},
}

func TestEveryTypeArrivesExactly(t *testing.T) {
	db := startServer(t).open(t, "")
	for i, c := range allTypes {
		table := fmt.Sprintf("t%d", i)
		_, err := db.Exec(fmt.Sprintf("CREATE TABLE %s (id INT, c %s)", table, c.declared))
		require.NoError(t, err, c.declared)
		_, err = db.Exec(fmt.Sprintf("INSERT INTO %s VALUES (1, %s), (2, NULL)", table, c.value))
		require.NoError(t, err, c.declared)
		for _, args := range [][]any{nil, {0}} {
			query := "SELECT c FROM " + table
			if args != nil {
				query += " WHERE id > ?"
			}
			rows, err := db.Query(query+" ORDER BY id", args...)
			require.NoError(t, err, c.declared)
			columns, err := rows.ColumnTypes()
			require.NoError(t, err)
			require.Equal(t, c.kind, columns[0].DatabaseTypeName(), c.declared)
			if precision, scale, ok := columns[0].DecimalSize(); ok {
				if c.length >= 0 {
					require.Equal(t, c.length, precision, c.declared)
				}
				if c.decimals != 31 { // the driver shows 31 as the largest number
					require.Equal(t, c.decimals, scale, c.declared)
				}
			}
			require.Equal(t, []sql.NullString{{String: c.text, Valid: true}, {}}, readColumn(t, rows), c.declared)
		}
	}
}

func readColumn(t *testing.T, rows *sql.Rows) []sql.NullString {
	t.Helper()
	defer rows.Close()
	var all []sql.NullString
	for rows.Next() {
		var v sql.NullString
		require.NoError(t, rows.Scan(&v))
		all = append(all, v)
	}
	require.NoError(t, rows.Err())
	return all
}

func TestParametersArriveExactly(t *testing.T) {
	db := startServer(t).open(t, "")
	_, err := db.Exec("CREATE TABLE t (a BIGINT, b DOUBLE, c DATETIME(6), d VARBINARY(10), e DECIMAL(30,5), f VARCHAR(30))")
	require.NoError(t, err)
	insert, err := db.Prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)")
	require.NoError(t, err)
	defer insert.Close()
	_, err = insert.Exec(int64(-9223372036854775808), 0.1, "2024-02-29 12:00:00.000001", []byte{0, 0xff}, "1234567890123456789012345.12345", "it's ?")
	require.NoError(t, err)
	_, err = insert.Exec(nil, nil, nil, nil, nil, nil)
	require.NoError(t, err)
	var n int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM t WHERE a = ? AND b = ? AND c = ? AND d = ? AND e = ? AND f = ?", int64(-9223372036854775808),
		0.1, "2024-02-29 12:00:00.000001", []byte{0, 0xff}, "1234567890123456789012345.12345", "it's ?").Scan(&n))
	require.Equal(t, 1, n)
	rows, err := db.Query("SELECT f FROM t ORDER BY a LIMIT ? OFFSET ?", 1, 1)
	require.NoError(t, err)
	require.Equal(t, []sql.NullString{{String: "it's ?", Valid: true}}, readColumn(t, rows))
}

func TestRealsReadAsMySQLWritesThem(t *testing.T) {
	for want, v := range map[string]float64{
		"0": 0, "0.1": 0.1, "100000000000000": 1e14, "1e15": 1e15, "-1.5e20": -1.5e20, "0.00001": 1e-5, "0.000000000000001": 1e-15,
		"1e-16": 1e-16, "123456.789": 123456.789, "1.2345678901234568e17": 123456789012345678, "25": 25,
	} {
		require.Equal(t, want, string(appendReal(nil, v, 64)))
	}
	require.Equal(t, "3.4028235e38", string(appendReal(nil, 3.4028234663852886e38, 32)))
	require.Equal(t, "0.1", string(appendReal(nil, float64(float32(0.1)), 32)))
}
