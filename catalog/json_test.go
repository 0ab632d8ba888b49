package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJSONColumn(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE docs (id INT, js JSON)",
		`INSERT INTO docs VALUES (1, '{"price": 12345678901234567890.12, "n": 9007199254740993, "tags": ["a", "b"]}'), (2, NULL), (3, '"text"')`,
		`INSERT INTO docs VALUES (4, JSON_OBJECT('price', 1.10)), (5, '[1.10]')`,
	)
	require.Equal(t, []string{
		`1|{"price": 12345678901234567890.12, "n": 9007199254740993, "tags": ["a", "b"]}`, "2|NULL", `3|"text"`, `4|{"price": 1.10}`, "5|[1.10]",
	}, l.rows("SELECT * FROM docs ORDER BY id"))
	require.Equal(t, []string{"12345678901234567890.12|9007199254740993|b|2"},
		l.rows("SELECT js->'$.price', js->>'$.n', js->>'$.tags[1]', JSON_LENGTH(js, '$.tags') FROM docs WHERE id = 1"))
	require.Equal(t, []string{"3", "5"}, l.rows(`SELECT id FROM docs WHERE js = CAST('"text"' AS JSON) OR js = CAST('[1.1]' AS JSON) ORDER BY id`))
	require.Equal(t, []string{"2"}, l.rows("SELECT id FROM docs WHERE js IS NULL"))
	require.Equal(t, []string{"json"}, l.rows("SELECT DATA_TYPE FROM information_schema.columns WHERE TABLE_NAME = 'docs' AND COLUMN_NAME = 'js'"))
	l.refused(`INSERT INTO docs VALUES (6, '{"a":}')`, "Invalid JSON")
	l.exec("CREATE TABLE copied AS SELECT * FROM docs", "INSERT INTO copied SELECT * FROM docs WHERE id = 5")
	require.Equal(t, []string{"1.1"}, l.rows("SELECT js->'$.price' FROM copied WHERE id = 4"))
	require.Equal(t, []string{"6"}, l.rows("SELECT COUNT(*) FROM copied"))
}
