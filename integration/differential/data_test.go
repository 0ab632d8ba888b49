package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// column is a column of a table that queries may name.
type column struct {
	name string
	kind kind
}

// table is what the generator knows of a table.
type table struct {
	name    string
	columns []column // id, which no two rows share, is the first
	rows    int
	big     bool // more than one batch: joins leave it alone
}

// columnType is a type that a table's column can have, with what its values are. Each rule of literals is drawn anew for each value.
type columnType struct {
	name, typ string
	kind      kind
	literals  []string
}

var columnTypes = []columnType{
	{"o", "BOOLEAN", boolean, []string{"TRUE", "FALSE"}},
	{"ti", "TINYINT", integer, []string{"-128", "127", "0", "1", "2", "-1"}},
	{"sm", "SMALLINT", integer, []string{"-32768", "32767", "0", "1", "300"}},
	{"n", "INT", integer, []string{"-2147483648", "2147483647", "0", "1", "7", "{small}", "{small}", "{small}"}},
	{"k", "INT", integer, []string{"{small}"}},
	{"b", "BIGINT", integer, []string{"-9223372036854775808", "9223372036854775807", "0", "1", "5", "{small}", "9007199254740993"}},
	{"f", "DOUBLE", double, []string{"0.25", "-1.5", "0", "1e9", "3", "{small}", "{special}", "{special}"}},
	{"g", "FLOAT", double, []string{"0.25", "-1.5", "0", "8", "3", "{small}", "{special}", "{special}"}},
	{"xf", "DOUBLE", double, []string{"0.1", "1e308", "-1e308", "5e-324", "1e16", "123456.789", "-2.5", "1e-7"}},
	{"d", "DECIMAL(12,2)", decimal, []string{"0.01", "-0.05", "1234567890.12", "0", "1", "{small}.50", "-9999999999.99"}},
	{"w", "DECIMAL(38,4)", decimal, []string{"0.0001", "-0.0005", "1234567890123456789012345678901234.5678", "9999999999999999999999999999999999.9999", "0", "{small}"}},
	{"z", "DECIMAL(38,0)", decimal, []string{"99999999999999999999999999999999999999", "-99999999999999999999999999999999999999", "0", "{small}"}},
	{"e", "DECIMAL(5,5)", decimal, []string{"0.99999", "-0.00001", "0"}},
	{"s", "VARCHAR(20)", text, []string{"''", "'a'", "'A'", "'a_'", "'ä'", "'abc'", "'ABC'", "'a '", "'%'", "'12'", "'0x1f'", "'1e2x'", "'5e'", "'-.5E+x'", "'日本'", "'{small}'"}},
	{"v", "TEXT", text, []string{"'the quick brown fox'", "'lorem ipsum {small}, dolor sit amet'", "REPEAT('x', 3000)", "'Straße'", "'STRASSE'", "'é'", "'é'", "' lead'", "'a,b,c'", "'😀'", "''"}},
	{"y", "VARBINARY(9)", bytes, []string{"''", "'a'", "'A'", "'b'", "X'00FF'", "X'FF'"}},
	{"dt", "DATE", date, []string{"'2024-02-29'", "'1000-01-01'", "'9999-12-31'", "'2024-03-01'", "'1969-12-31'", "'0001-01-01'", "'2023-12-{day}'"}},
	{"at", "TIMESTAMP", datetime, []string{"'2024-02-29 00:00:00'", "'2024-02-29 23:59:59.999999'", "'2024-03-01 10:00:00'", "'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'2024-01-{day} 12:{day}:01.5'", "'1969-12-31 23:59:59.000001'"}},
	{"nt", "TIMESTAMP_NTZ", datetime, []string{"'2024-02-29 00:00:00'", "'1900-01-01 00:00:00.1'", "'2024-03-01 10:00:00'", "'2024-01-{day} 00:00:00'"}},
	{"j", "JSON", document, []string{`'{"a": {small}, "b": [1, 2]}'`, `'[1, "x", null]'`, `'"t"'`, `'{small}'`, `'null'`, `'{"a": {"b": 1.5}}'`}},
	{"st", "STRUCT<a: INT, b: STRING>", document, []string{`'{"a": {small}, "b": "x"}'`, `'{"a": null, "b": "é"}'`}},
	{"ar", "ARRAY<INT>", document, []string{`'[]'`, `'[1, null, {small}]'`}},
	{"u", "INT", integer, []string{"NULL"}},
	{"us", "VARCHAR(5)", text, []string{"NULL"}},
}

// specials are the numbers that SQL cannot write, in a table of that name beside the codes that stand for them until they take their places.
var specials = []string{"NaN", "Infinity", "-Infinity", "-0.0"}

const firstSpecial = 90001

// literal draws a value.
func (c columnType) literal(r *rand.Rand) string {
	if r.IntN(6) == 0 {
		return "NULL"
	}
	return strings.NewReplacer(
		"{small}", fmt.Sprint(r.IntN(12)-2), "{day}", fmt.Sprintf("%02d", 1+r.IntN(28)), "{special}", fmt.Sprint(firstSpecial+r.IntN(len(specials))),
	).Replace(pick(r, c.literals))
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// layout is how a table lies in its folder.
type layout struct {
	name    string
	options string
	files   []int // rows of each INSERT
	after   []string
}

var layouts = []layout{
	{name: "one", files: []int{9}},
	{name: "few", files: []int{10, 1, 7}},
	{name: "many", files: []int{30, 25, 5}},
	{name: "none"},
	{name: "vectors", options: "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", files: []int{15, 10}, after: []string{"DELETE FROM vectors WHERE id % 4 = 1", "UPDATE vectors SET n = 7 WHERE id % 9 = 0"}},
	{name: "parts", options: "PARTITIONED BY (k)", files: []int{20, 5}},
	{name: "days", options: "PARTITIONED BY (dt) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", files: []int{12, 4}, after: []string{"DELETE FROM days WHERE id % 5 = 1"}},
	{name: "mapped", options: "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", files: []int{15}, after: []string{
		"ALTER TABLE mapped RENAME COLUMN n TO n2", "ALTER TABLE mapped DROP COLUMN ti", "ALTER TABLE mapped ADD COLUMN added DECIMAL(10,3)",
		"ALTER TABLE mapped ADD COLUMN n INT", "INSERT INTO mapped (id, n, added, s) VALUES (100, 3, 1.5, 'abc'), (101, NULL, -2.25, '')",
	}},
}

// fill makes the tables of a lake.
func (l *lake) fill(r *rand.Rand) []table {
	c := l.connect("ON")
	var lines strings.Builder
	lines.WriteString("code,f\n")
	for i, s := range specials {
		fmt.Fprintf(&lines, "%d,%s\n", firstSpecial+i, s)
	}
	path := l.write("specials.csv", lines.String())
	c.exec("CREATE TABLE specials AS SELECT code, f, CAST(f AS FLOAT) AS g FROM read_files('" + path + "', format => 'csv', header => 'true', schema => 'code int, f double')")
	var out []table
	for _, lay := range layouts {
		out = append(out, lay.fill(c, r))
	}
	c.exec("CREATE TABLE big LIKE many")
	c.exec("INSERT INTO big SELECT many.id * 1000 + few.id * 20 + one.id, " + strings.Join(names(columnTypes, "many."), ", ") + " FROM many JOIN few JOIN one")
	big := out[slices.IndexFunc(out, func(t table) bool { return t.name == "many" })]
	big.name, big.big, big.rows = "big", true, 10_000
	return append(out, big)
}

func names(of []columnType, prefix string) []string {
	out := make([]string, len(of))
	for i, c := range of {
		out[i] = prefix + c.name
	}
	return out
}

func (lay layout) fill(c *client, r *rand.Rand) table {
	definitions := []string{"id INT"}
	for _, t := range columnTypes {
		definitions = append(definitions, t.name+" "+t.typ)
	}
	c.exec("CREATE TABLE " + lay.name + " (" + strings.Join(definitions, ", ") + ") " + lay.options)
	id := 0
	for _, count := range lay.files {
		var rows []string
		for range count {
			cells := []string{fmt.Sprint(id)}
			id++
			for _, t := range columnTypes {
				cells = append(cells, t.literal(r))
			}
			rows = append(rows, "("+strings.Join(cells, ", ")+")")
		}
		c.exec("INSERT INTO " + lay.name + " VALUES " + strings.Join(rows, ", "))
	}
	for _, f := range []string{"f", "g"} {
		c.exec(fmt.Sprintf("UPDATE %s t JOIN specials x ON t.%s = x.code SET t.%s = x.%s", lay.name, f, f, f))
	}
	c.exec(lay.after...)
	return lay.known(c)
}

// known are the columns that a table has in the end.
func (lay layout) known(c *client) table {
	out := table{name: lay.name, columns: []column{{"id", integer}}}
	for _, n := range lay.files {
		out.rows += n
	}
	kinds := map[string]kind{"added": decimal, "n2": integer}
	for _, t := range columnTypes {
		kinds[t.name] = t.kind
	}
	for _, row := range c.rows("SHOW COLUMNS FROM " + lay.name)[1:] {
		out.columns = append(out.columns, column{row[0], kinds[row[0]]})
	}
	return out
}
