package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What an OK packet tells: rows, id, status, warnings, and MySQL's text with its length before it; of a prepared statement, and amid several statements.
func TestWhatStatementsTell(t *testing.T) {
	s, _ := serveLake(t)
	c := rawLogin{capabilities: rawMulti}.dial(t, s)
	const records = "&Records: 2  Duplicates: 0  Warnings: 0"
	for _, of := range []struct{ statement, ok string }{
		{"CREATE TABLE lake.told (n INT)", "\x00\x00\x00\x02\x00\x00\x00"},
		{"INSERT INTO lake.told VALUES (1)", "\x00\x01\x00\x02\x00\x00\x00"},
		{"INSERT INTO lake.told VALUES (2), (3)", "\x00\x02\x00\x02\x00\x00\x00" + records},
		{"INSERT INTO lake.told SELECT n + 5 FROM lake.told WHERE n > 1", "\x00\x02\x00\x02\x00\x00\x00" + records},
		{"INSERT IGNORE INTO lake.told VALUES ('x')", "\x00\x01\x00\x02\x00\x01\x00"},
		{"UPDATE lake.told SET n = 3 WHERE n > 2", "\x00\x02\x00\x02\x00\x00\x00(Rows matched: 3  Changed: 2  Warnings: 0"},
	} {
		c.query(of.statement)
		require.Equal(t, of.ok, string(c.read()), of.statement)
	}
	c.query("INSERT INTO lake.told VALUES (2), (3); INSERT INTO lake.told VALUES (4); INSERT INTO lake.told VALUES (2), (3)")
	for _, ok := range []string{"\x00\x02\x00\x0a\x00\x00\x00" + records, "\x00\x01\x00\x0a\x00\x00\x00", "\x00\x02\x00\x02\x00\x00\x00" + records} {
		require.Equal(t, ok, string(c.read()))
	}
	for _, text := range []string{"INSERT INTO lake.told VALUES (4); /* x */; INSERT INTO lake.told VALUES (5)", "/* x */; SELECT 1", "-- x\n; SELECT 1"} {
		c.query(text)
		if text[0] == 'I' {
			c.succeeds()
		}
		c.fails(1065, "42000", "Query was empty") // and nothing is left out unsaid
	}
	id := c.prepare("INSERT IGNORE INTO lake.told VALUES ('x'), ('y')")
	c.ask(comStmtExecute, append(id, 0, 1, 0, 0, 0)...)
	require.Equal(t, "\x00\x02\x00\x02\x00\x02\x00&Records: 2  Duplicates: 0  Warnings: 2", string(c.read()))
	c.ask(comStmtExecute, append(id, 1, 1, 0, 0, 0)...) // with a cursor, which what has no rows does not get
	require.Equal(t, "\x00\x02\x00\x02\x00\x02\x00&Records: 2  Duplicates: 0  Warnings: 2", string(c.read()))
}
