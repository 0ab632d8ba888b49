package interop

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// feature is a table that uses a writer feature of Delta, made by lakesql and then shared.
type feature struct {
	name    string
	make    []string     // statements of lakesql; the table is t
	columns string       // of t, in the spelling in which lakesql gives the text that the others give
	want    [][]string   // after make
	readers []reader     // who reads want
	writers []otherWrite // who writes to it then, one after the other
	refused []string     // statements of lakesql that must fail
}

// otherWrite is a write by another engine.
type otherWrite struct {
	name  string
	write func(t *testing.T, path string)
	want  [][]string // what lakesql reads then
}

// bySpark runs a statement in a Spark; T stands for the table.
func bySpark(e *engine, statement func(table string) string, want ...[]string) otherWrite {
	return otherWrite{e.name, func(t *testing.T, path string) { e.sql(t, statement(quoted(path))) }, want}
}

func insertOf(values string) func(string) string {
	return func(table string) string { return "INSERT INTO " + table + " VALUES " + values }
}

func rowsOf(rows ...[]string) [][]string { return rows }

var (
	everybody = []reader{inSpark35, inSpark40, inDeltaRS, inDuckDB}
	sparks    = []reader{inSpark35, inSpark40}
)

var features = []feature{
	{
		name: "appendOnly",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20)) TBLPROPERTIES ('delta.appendOnly' = 'true')",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b')",
		},
		columns: "id, name",
		want:    rowsOf([]string{"1", "a"}, []string{"2", "b"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark40, insertOf("(3, 'c')"), []string{"1", "a"}, []string{"2", "b"}, []string{"3", "c"})},
		refused: []string{"DELETE FROM t WHERE id = 1", "UPDATE t SET name = 'x'"},
	},
	{
		name: "checkConstraints and NOT NULL",
		make: []string{
			"CREATE TABLE t (id BIGINT NOT NULL, amount DECIMAL(10,2), CONSTRAINT positive CHECK (amount > 0))",
			"INSERT INTO t VALUES (1, 1.50), (2, 2.25)",
			"UPDATE t SET amount = amount * 2 WHERE id = 2",
		},
		columns: "id, amount",
		want:    rowsOf([]string{"1", "1.50"}, []string{"2", "4.50"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark35, insertOf("(3, 9.99)"), []string{"1", "1.50"}, []string{"2", "4.50"}, []string{"3", "9.99"})},
		refused: []string{"INSERT INTO t VALUES (4, -1)", "INSERT INTO t VALUES (NULL, 1)", "UPDATE t SET amount = 0 WHERE id = 1"},
	},
	{
		name: "changeDataFeed",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20)) TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
			"UPDATE t SET name = 'B' WHERE id = 2",
			"DELETE FROM t WHERE id = 3",
		},
		columns: "id, name",
		want:    rowsOf([]string{"1", "a"}, []string{"2", "B"}),
		readers: everybody,
		writers: []otherWrite{
			bySpark(spark40, func(t string) string {
				return "MERGE INTO " + t + " USING (SELECT 1L AS id, 'A' AS name UNION ALL SELECT 4L, 'd') s ON " + t + ".id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
			}, []string{"1", "A"}, []string{"2", "B"}, []string{"4", "d"}),
		},
	},
	{
		name: "generatedColumns",
		make: []string{
			"CREATE TABLE t (moment DATETIME(6), day DATE GENERATED ALWAYS AS (CAST(moment AS DATE)), n BIGINT, twice BIGINT GENERATED ALWAYS AS (n * 2))",
			"INSERT INTO t (moment, n) VALUES ('2024-02-29 12:00:00', 21)",
		},
		columns: "DATE_FORMAT(moment, '%Y-%m-%d %H:%i:%s'), day, n, twice",
		want:    rowsOf([]string{"2024-02-29 12:00:00", "2024-02-29", "21", "42"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, func(t string) string {
			return "INSERT INTO " + t + " (moment, n) VALUES (TIMESTAMP'2024-03-01 01:00:00', 1)"
		}, []string{"2024-02-29 12:00:00", "2024-02-29", "21", "42"}, []string{"2024-03-01 01:00:00", "2024-03-01", "1", "2"})},
		refused: []string{"INSERT INTO t (moment, n, twice) VALUES ('2024-02-29 12:00:00', 1, 3)"},
	},
	{
		name: "columnMapping by name",
		make: []string{
			"CREATE TABLE t (id BIGINT, old VARCHAR(20), gone BIGINT) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
			"INSERT INTO t VALUES (1, 'a', 7)",
			"ALTER TABLE t RENAME COLUMN old TO `new name`",
			"ALTER TABLE t DROP COLUMN gone",
			"ALTER TABLE t ADD COLUMN amount DECIMAL(10,2)",
			"INSERT INTO t VALUES (2, 'b', 1.25)",
			"UPDATE t SET `new name` = 'A' WHERE id = 1",
		},
		columns: "id, `new name`, amount",
		want:    rowsOf([]string{"1", "A", "NULL"}, []string{"2", "b", "1.25"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark40, insertOf("(3, 'c', 2.50)"), []string{"1", "A", "NULL"}, []string{"2", "b", "1.25"}, []string{"3", "c", "2.50"})},
	},
	{
		name: "columnMapping by id, partitioned",
		make: []string{
			"CREATE TABLE t (id BIGINT, part VARCHAR(20)) PARTITIONED BY (part) TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
			"INSERT INTO t VALUES (1, 'a b/c'), (2, NULL)",
			"ALTER TABLE t RENAME COLUMN part TO piece",
			"INSERT INTO t VALUES (3, 'é%')",
		},
		columns: "id, piece",
		want:    rowsOf([]string{"1", "a b/c"}, []string{"2", "NULL"}, []string{"3", "é%"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark35, insertOf("(4, 'x')"), []string{"1", "a b/c"}, []string{"2", "NULL"}, []string{"3", "é%"}, []string{"4", "x"})},
	},
	{
		name: "identityColumns",
		make: []string{
			"CREATE TABLE t (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 10 INCREMENT BY 10), name VARCHAR(20))",
			"INSERT INTO t (name) VALUES ('a'), ('b')",
			"INSERT INTO t (name) VALUES ('c')",
		},
		columns: "id, name",
		want:    rowsOf([]string{"10", "a"}, []string{"20", "b"}, []string{"30", "c"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark40, func(t string) string { return "INSERT INTO " + t + " (name) VALUES ('d')" },
			[]string{"10", "a"}, []string{"20", "b"}, []string{"30", "c"}, []string{"40", "d"})},
	},
	{
		name: "deletionVectors",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20)) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')",
			"DELETE FROM t WHERE id = 1",
			"UPDATE t SET name = 'B' WHERE id = 2",
			"DELETE FROM t WHERE id = 4",
		},
		columns: "id, name",
		want:    rowsOf([]string{"2", "B"}, []string{"3", "c"}),
		readers: everybody,
		writers: []otherWrite{
			bySpark(spark40, func(t string) string { return "DELETE FROM " + t + " WHERE id = 3" }, []string{"2", "B"}),
			bySpark(spark35, insertOf("(5, 'e')"), []string{"2", "B"}, []string{"5", "e"}),
		},
	},
	{
		name: "timestampNtz",
		make: []string{
			"CREATE TABLE t (id BIGINT, wall TIMESTAMP_NTZ)",
			"INSERT INTO t VALUES (1, '1999-12-31 23:59:59.123456')",
		},
		columns: "id, wall",
		want:    rowsOf([]string{"1", "1999-12-31 23:59:59.123456"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark35, insertOf("(2, TIMESTAMP_NTZ'2024-02-29 00:00:01')"),
			[]string{"1", "1999-12-31 23:59:59.123456"}, []string{"2", "2024-02-29 00:00:01.000000"})},
	},
	{
		name: "v2Checkpoint",
		make: []string{
			"CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2')",
			"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (3)", "INSERT INTO t VALUES (4)", "INSERT INTO t VALUES (5)",
		},
		columns: "id",
		want:    rowsOf([]string{"1"}, []string{"2"}, []string{"3"}, []string{"4"}, []string{"5"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark40, insertOf("(6)"), []string{"1"}, []string{"2"}, []string{"3"}, []string{"4"}, []string{"5"}, []string{"6"})},
	},
	{
		name: "vacuumProtocolCheck",
		make: []string{
			"CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported')",
			"INSERT INTO t VALUES (1)",
		},
		columns: "id",
		want:    rowsOf([]string{"1"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, insertOf("(2)"), []string{"1"}, []string{"2"})},
	},
	{
		name: "typeWidening",
		make: []string{
			"CREATE TABLE t (id INT, small SMALLINT, amount DECIMAL(6,2)) TBLPROPERTIES ('delta.enableTypeWidening' = 'true')",
			"INSERT INTO t VALUES (1, 1, 1.25)",
			"ALTER TABLE t MODIFY COLUMN id BIGINT",
			"ALTER TABLE t MODIFY COLUMN small INT",
			"ALTER TABLE t MODIFY COLUMN amount DECIMAL(12,4)",
			"INSERT INTO t VALUES (5000000000, 100000, 12345678.1234)",
		},
		columns: "id, small, amount",
		want:    rowsOf([]string{"1", "1", "1.2500"}, []string{"5000000000", "100000", "12345678.1234"}),
		readers: []reader{inSpark40},
		writers: []otherWrite{bySpark(spark40, insertOf("(2, 2, 2.5)"), []string{"1", "1", "1.2500"}, []string{"2", "2", "2.5000"}, []string{"5000000000", "100000", "12345678.1234"})},
	},
	{
		name: "variantType",
		make: []string{
			"CREATE TABLE t (id BIGINT, v VARIANT)",
			`INSERT INTO t VALUES (1, '{"a": [1, 2.5, "x", null, true]}'), (2, NULL)`,
		},
		columns: "id, v",
		want:    rowsOf([]string{"1", `{"a":[1,2.5,"x",null,true]}`}, []string{"2", "NULL"}),
		readers: []reader{inSpark40},
		writers: []otherWrite{bySpark(spark40, func(t string) string { return "INSERT INTO " + t + ` SELECT 3, parse_json('{"b": {"c": "d"}}')` },
			[]string{"1", `{"a":[1,2.5,"x",null,true]}`}, []string{"2", "NULL"}, []string{"3", `{"b":{"c":"d"}}`})},
	},
	{
		name: "clustering and domainMetadata",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20)) CLUSTER BY (id)",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b')",
			"DELETE FROM t WHERE id = 1",
		},
		columns: "id, name",
		want:    rowsOf([]string{"2", "b"}),
		readers: everybody,
		writers: []otherWrite{bySpark(spark40, insertOf("(3, 'c')"), []string{"2", "b"}, []string{"3", "c"})},
	},
	{
		name: "rowTracking",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20)) TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
			"INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
			"UPDATE t SET name = 'B' WHERE id = 2",
			"DELETE FROM t WHERE id = 1",
		},
		columns: "id, name",
		want:    rowsOf([]string{"2", "B"}, []string{"3", "c"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, insertOf("(4, 'd')"), []string{"2", "B"}, []string{"3", "c"}, []string{"4", "d"})},
	},
	{
		name: "allowColumnDefaults",
		make: []string{
			"CREATE TABLE t (id BIGINT, name VARCHAR(20) DEFAULT 'unnamed')",
			"INSERT INTO t (id) VALUES (1)",
			"INSERT INTO t VALUES (2, DEFAULT)",
		},
		columns: "id, name",
		want:    rowsOf([]string{"1", "unnamed"}, []string{"2", "unnamed"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, func(t string) string { return "INSERT INTO " + t + " (id) VALUES (3)" },
			[]string{"1", "unnamed"}, []string{"2", "unnamed"}, []string{"3", "unnamed"})},
	},
	{
		name: "inCommitTimestamp",
		make: []string{
			"CREATE TABLE t (id BIGINT) TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')",
			"INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)",
		},
		columns: "id",
		want:    rowsOf([]string{"1"}, []string{"2"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, insertOf("(3)"), []string{"1"}, []string{"2"}, []string{"3"})},
	},
	{
		name: "nested columns",
		make: []string{
			"CREATE TABLE t (id BIGINT, s STRUCT<a: INT, b: ARRAY<STRING>>, l ARRAY<STRUCT<x: DECIMAL(10,2)>>, m MAP<STRING, ARRAY<INT>>)",
			`INSERT INTO t VALUES (1, '{"a": 1, "b": ["x", "y"]}', '[{"x": 1.25}, {"x": 2.5}]', '{"k": [1, 2], "l": []}'), (2, NULL, NULL, NULL)`,
			"UPDATE t SET id = 3 WHERE id = 2",
		},
		columns: "id, s, l, m",
		want: rowsOf([]string{"1", `{"a":1,"b":["x","y"]}`, `[{"x":1.25},{"x":2.5}]`, `{"k":[1,2],"l":[]}`},
			[]string{"3", "NULL", "NULL", "NULL"}),
		readers: sparks,
		writers: []otherWrite{bySpark(spark40, func(t string) string {
			return "INSERT INTO " + t + " SELECT 4, named_struct('a', 5, 'b', array('z')), array(named_struct('x', 7.00BD)), map('q', array(9))"
		}, []string{"1", `{"a":1,"b":["x","y"]}`, `[{"x":1.25},{"x":2.5}]`, `{"k":[1,2],"l":[]}`}, []string{"3", "NULL", "NULL", "NULL"},
			[]string{"4", `{"a":5,"b":["z"]}`, `[{"x":7}]`, `{"q":[9]}`})},
	},
}

// TestFeatures: for each writer feature a table made by lakesql, read by the others, written by them, and read back here.
func TestFeatures(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	p := harness.Start(t, dir)
	for _, f := range features {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(dir, "lake", "lake", "t")
			p.Exec(t, "DROP TABLE IF EXISTS t")
			for _, s := range f.make {
				p.Exec(t, s)
			}
			query := "SELECT " + f.columns + " FROM t"
			require.Equal(t, f.want, ours(t, p, query), "as lakesql reads it")
			for _, r := range f.readers {
				rows, err := r.read(t, path)
				require.NoError(t, err, r.name)
				require.Equal(t, f.want, rows, "as %s reads it", r.name)
			}
			for _, w := range f.writers {
				w.write(t, path)
				require.Equal(t, w.want, ours(t, p, query), "after %s wrote", w.name)
			}
			for _, s := range f.refused {
				_, err := p.DB.Exec(s)
				require.Error(t, err, s)
			}
		})
	}
	p.Stop(t)
}
