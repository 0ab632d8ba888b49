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
	require.Equal(t, []string{"1.10"}, l.rows("SELECT js->'$.price' FROM copied WHERE id = 4"))
	require.Equal(t, []string{"6"}, l.rows("SELECT COUNT(*) FROM copied"))
}

// GMS's own functions lose the decimals of a document that they copy.
func TestJSONFunctionsKeepDecimals(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE docs (id INT, js JSON)",
		`INSERT INTO docs VALUES (1, '{"b": 12345678901234567890.12, "n": 7, "tags": ["a"], "o": {"x": 1.5}}'), (2, '"text"'), (3, NULL)`)
	for query, want := range map[string][]string{
		"JSON_SET(JSON_REMOVE(js, '$.n', '$.o'), '$.b', 2.5)":                      {`{"b": 2.5, "tags": ["a"]}`, `"text"`, "NULL"},
		"JSON_REPLACE(JSON_INSERT(js, '$.n', 0), '$.o', 1, '$.n', 2)":              {`{"b": 12345678901234567890.12, "n": 2, "o": 1, "tags": ["a"]}`, `"text"`, "NULL"},
		"JSON_ARRAY_INSERT(JSON_ARRAY_APPEND(js->'$.tags', '$', 1.25), '$[0]', 0)": {`[0, "a", 1.25]`, "NULL", "NULL"},
		"JSON_MERGE_PATCH(js, '{\"n\": null, \"o\": {\"y\": 1}, \"tags\": 5}')":    {`{"b": 12345678901234567890.12, "o": {"x": 1.5, "y": 1}, "tags": 5}`, `{"o": {"y": 1}, "tags": 5}`, "NULL"},
		"JSON_EXTRACT(JSON_MERGE(js, '{\"n\": 8, \"z\": 1}'), '$.n')":              {"[7, 8]", "NULL", "NULL"},
		"JSON_MERGE_PRESERVE(js->'$.tags', '[1]', '2')":                            {`["a", 1, 2]`, "NULL", "NULL"},
		"JSON_SET(JSON_OBJECT('a', 1.5), '$.b', 1)":                                {`{"a": 1.5, "b": 1}`, `{"a": 1.5, "b": 1}`, `{"a": 1.5, "b": 1}`},
		"JSON_EXTRACT(js, '$.o.x', '$.none', '$.b')":                               {"[1.5, 12345678901234567890.12]", "NULL", "NULL"},
		"JSON_EXTRACT(js, '$.n', NULL)":                                            {"NULL", "NULL", "NULL"},
		"JSON_CONTAINS(js, '7', '$.n')":                                            {"1", "NULL", "NULL"},
	} {
		require.Equal(t, want, l.rows("SELECT "+query+" FROM docs ORDER BY id"), query)
	}
	l.refused("SELECT JSON_MERGE_PATCH('{', '{}')", "Invalid JSON text in argument 1 to function json_merge_patch")
	l.refused("SELECT JSON_MERGE_PATCH('{}', 1)", "argument 2 to function json_merge_patch")
	l.refused("SELECT JSON_MERGE_PATCH('{}')", "2 or more")
}

func TestNestedColumns(t *testing.T) {
	l := newLab(t)
	l.exec(
		"CREATE TABLE n (id INT, s STRUCT<a: INT NOT NULL, l: ARRAY<STRING>, d: DECIMAL(30,2)>, m MAP<STRING, DATE>, v VARIANT)",
		`INSERT INTO n VALUES (1, '{"a":1,"l":["x",null],"d":1234567890123456789012345678.10}', '{"k":"2024-01-01"}', '{"x":1.10}')`,
		`INSERT INTO n (id, s) VALUES (2, JSON_OBJECT('a', 5))`,
		`INSERT INTO n (id, v) VALUES (3, 5), (4, 'null')`,
	)
	want := []string{
		`1|{"a":1,"l":["x",null],"d":1234567890123456789012345678.10}|{"k":"2024-01-01"}|{"x":1.10}`,
		`2|{"a":5,"l":null,"d":null}|NULL|NULL`, "3|NULL|NULL|5", "4|NULL|NULL|null",
	}
	require.Equal(t, want, l.rows("SELECT * FROM n ORDER BY id"))
	require.Equal(t, []string{"1234567890123456789012345678.10|x|1|1.10", "null|null|NULL|NULL"},
		l.rows("SELECT s->'$.d', s->>'$.l[0]', JSON_LENGTH(m), v->'$.x' FROM n WHERE id <= 2 ORDER BY id"))
	require.Equal(t, []string{"3", "4"}, l.rows("SELECT id FROM n WHERE s IS NULL ORDER BY id"))
	require.Equal(t, []string{"2"}, l.rows("SELECT id FROM n WHERE s->'$.a' = 5"))
	l.exec("CREATE TABLE copied AS SELECT * FROM n", "CREATE TABLE sorted LIKE n", "INSERT INTO sorted SELECT * FROM n ORDER BY id")
	require.Equal(t, want, l.rows("SELECT * FROM copied ORDER BY id"))
	require.Equal(t, want, l.rows("SELECT * FROM sorted ORDER BY id"))
	text := l.rows("SHOW CREATE TABLE copied")[0]
	require.Contains(t, text, "`s` json /*!999999 DELTA TYPE struct<a:int not null,l:array<string>,d:decimal(30,2)> */,\n  `m` json /*!999999 DELTA TYPE map<string,date> */,\n  `v` json /*!999999 DELTA TYPE variant */")
	l.exec("UPDATE n SET v = '{\"p\": 12345678901234567890.12}' WHERE id = 3")
	require.Equal(t, []string{`{"p":12345678901234567890.12}`}, l.rows("SELECT v FROM n WHERE id = 3"))
	l.exec("UPDATE n SET s = JSON_SET(s, '$.a', 7), m = NULL WHERE id = 1")
	require.Equal(t, []string{`{"a":7,"l":["x",null],"d":1234567890123456789012345678.10}|NULL`}, l.rows("SELECT s, m FROM n WHERE id = 1"))
	l.refused(`INSERT INTO n (id, s) VALUES (6, '{"a":"x"}')`, `column s: read JSON at $.a: found "\"x\"", expected integer`)
	l.refused(`INSERT INTO n (id, s) VALUES (6, '{"l":[]}')`, "NOT NULL", "s.a")
	l.refused(`UPDATE n SET m = '{"z":"2020-02-30"}' WHERE id = 1`, "$.z", "expected date")
}
