package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/format"
	"lakesql/store"
)

// readRescued reads one file, and returns its rows without the rest of the path in front of the file's name, and what is wrong with them.
func readRescued(t *testing.T, path string, args map[string]string) (got []string, faults []RowError) {
	t.Helper()
	o := formatOptions(t, args)
	f := fileOf(t, path)
	schema, err := InferSchema(t.Context(), store.Open, []File{f}, o)
	require.NoError(t, err)
	r, err := OpenFile(t.Context(), store.Open, f, schema, o, func(e RowError) { faults = append(faults, e) })
	require.NoError(t, err)
	got = rows(t, r)
	dir := store.FileURI(filepath.Dir(path)) + "/"
	for i, row := range got {
		got[i] = strings.ReplaceAll(row, dir, "")
	}
	return got, faults
}

func TestRescueOfCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	put(t, path, "id,who,new,Name\n1,x,5,ann\nno,y,,\n3,\"z \\\"q\\\"\",7,bob\n4,t,8\n")
	args := map[string]string{"format": "csv", "header": "true", "schema": "id INT, name STRING, gone DATE", "rescuedDataColumn": "_rescued"}
	got, faults := readRescued(t, path, args)
	require.Equal(t, []string{
		`1|ann|NULL|{"who":"x","new":"5","_file_path":"a.csv"}`,
		`NULL|NULL|NULL|{"id":"no","who":"y","_file_path":"a.csv"}`,
		`3|bob|NULL|{"who":"z \"q\"","new":"7","_file_path":"a.csv"}`,
		`4|NULL|NULL|{"who":"t","new":"8","_file_path":"a.csv"}`,
	}, got)
	require.Len(t, faults, 1, "what is rescued is no fault, a record with too few fields is one")
	require.Contains(t, faults[0].Message, "the record has 3 fields and the header has 4")

	args["mode"] = "DROPMALFORMED"
	got, _ = readRescued(t, path, args)
	require.Len(t, got, 3, "a value of another type does not drop its row")
}

func TestRescueWithInferredColumns(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "day=2024-01-02", "a.csv")
	put(t, path, "id\n1\n")
	o := formatOptions(t, map[string]string{"format": "csv", "header": "true", "cloudFiles.rescuedDataColumn": "extra"})
	schema, got := readFolder(t, dir, o)
	require.Equal(t, "id integer, day date, extra string", typesOf(schema))
	require.Equal(t, []string{"1|2024-01-02|NULL"}, got)

	late := filepath.Join(dir, "day=never", "b.csv")
	put(t, late, "id,Extra\n2,x\n")
	f := fileOf(t, late)
	r, err := OpenFile(t.Context(), store.Open, f, schema, o, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`2|NULL|{"Extra":"x","day":"never","_file_path":"` + f.URI + `"}`}, rows(t, r))
}

func TestRescueOfJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	put(t, path, `{"id":1,"s":{"a":1,"b":2},"l":[{"x":1}],"m":{"k":1}}
{"id":"one","s":{"a":"q","b":[1, 2]},"l":[{"x":1,"y":2}],"m":{"k":{"z":0}},"n":null,"new":{"deep":[true]}}
{"id":2,"s":5,"l":[{"x":1},{"x":"bad"}],"m":{"k":1},'single':'it"s','\u00e9':NaN}
{"id":
{"id":4,"s":{"a":1},"l":null,"m":null}
`)
	args := map[string]string{"format": "json", "schema": "id INT, s STRUCT<a: INT>, l ARRAY<STRUCT<x: INT>>, m MAP<STRING, INT>", "rescuedDataColumn": "_rescued_data"}
	got, faults := readRescued(t, path, args)
	require.Equal(t, []string{
		`1|{"a":1}|[{"x":1}]|{"k":1}|{"s":{"b":2},"_file_path":"a.json"}`,
		`NULL|{"a":null}|[{"x":1}]|{"k":null}|{"id":"one","s":{"a":"q","b":[1, 2]},"l":[{"x":1,"y":2}],"m":{"k":{"z":0}},"new":{"deep":[true]},"_file_path":"a.json"}`,
		`2|NULL|[{"x":1},{"x":null}]|{"k":1}|{"s":5,"l":[{"x":1},{"x":"bad"}],"single":"it\"s","é":"NaN","_file_path":"a.json"}`,
		`NULL|NULL|NULL|NULL|NULL`,
		`4|{"a":1}|NULL|NULL|NULL`,
	}, got)
	require.Len(t, faults, 1, "only the record that is no JSON is malformed")
	require.Equal(t, int64(4), faults[0].Line)
}

func TestRescueOfParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	putParquet(t, path, "ID BIGINT, amount STRING, when DATE", []string{"5000000000", "ten", "2024-01-02"}, []string{"NULL", "NULL", "NULL"})
	args := map[string]string{"format": "parquet", "schema": "id INT, amount STRING", "rescuedDataColumn": "r"}
	got, _ := readRescued(t, path, args)
	require.Equal(t, []string{
		`NULL|ten|{"ID":5000000000,"when":"2024-01-02","_file_path":"a.parquet"}`,
		"NULL|NULL|NULL",
	}, got)

	args["schema"] = "id BIGINT, amount STRING, when TIMESTAMP_NTZ"
	got, _ = readRescued(t, path, args)
	require.Equal(t, []string{`5000000000|ten|2024-01-02 00:00:00|NULL`, "NULL|NULL|NULL|NULL"}, got, "what goes into the type is no misfit")

	args["schema"] = "id DOUBLE, amount INT"
	got, _ = readRescued(t, path, args)
	require.Equal(t, `NULL|NULL|{"ID":5000000000,"amount":"ten","when":"2024-01-02","_file_path":"a.parquet"}`, got[0])
}

func TestRescueOfText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.txt")
	put(t, path, "one\ntwo\n")
	got, _ := readRescued(t, path, map[string]string{"format": "text", "rescuedDataColumn": "r"})
	require.Equal(t, []string{"one|NULL", "two|NULL"}, got)
}

func TestRescuedColumnMustBeAString(t *testing.T) {
	_, err := ParseOptions(map[string]string{"format": "csv", "schema": "id INT, r INT", "rescuedDataColumn": "R"})
	require.ErrorContains(t, err, "the column of rescued data, R, is a integer in the schema: make it a STRING")
	_, err = ParseOptions(map[string]string{"format": "csv", "rescuedDataColumn": ""})
	require.ErrorContains(t, err, "give the name of a column, such as '_rescued_data'")
}

func TestRescueTakesBlocksApart(t *testing.T) {
	text := "id\n"
	for range 3000 { // more than a block of rows
		text += "1\n"
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	require.NoError(t, os.WriteFile(path, []byte(text+"x\n"), 0o644))
	got, _ := readRescued(t, path, map[string]string{"format": "csv", "header": "true", "schema": "id INT", "rescuedDataColumn": "r"})
	require.Len(t, got, 3001)
	require.Equal(t, "1|NULL", got[2999])
	require.Equal(t, `NULL|{"id":"x","`+format.FilePath+`":"a.csv"}`, got[3000])
}
