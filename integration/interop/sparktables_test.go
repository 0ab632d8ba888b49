package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// sparkTable is a table that Spark made with a feature which lakesql does not give to tables by itself.
type sparkTable struct {
	name    string   // of the feature
	make    []string // statements of Spark 4.0; {t} is the table
	want    [][]string
	write   string // of lakesql
	refused bool   // lakesql refuses to write, and names the feature
	end     [][]string
}

var sparkTables = []sparkTable{
	{
		name: "typeWidening-preview",
		make: []string{"CREATE TABLE {t} (id INT) USING delta TBLPROPERTIES ('delta.feature.typeWidening-preview' = 'supported', 'delta.enableTypeWidening' = 'true')",
			"INSERT INTO {t} VALUES (1)", "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT"},
		want:  rowsOf([]string{"1"}),
		write: "INSERT INTO {t} VALUES (5000000000)",
		end:   rowsOf([]string{"1"}, []string{"5000000000"}),
	},
	{
		name: "variantType-preview",
		make: []string{"CREATE TABLE {t} (id BIGINT, v VARIANT) USING delta TBLPROPERTIES ('delta.feature.variantType-preview' = 'supported')",
			`INSERT INTO {t} SELECT 1, parse_json('{"a": 1}')`},
		want:  rowsOf([]string{"1", `{"a":1}`}),
		write: `INSERT INTO {t} VALUES (2, '[2]')`,
		end:   rowsOf([]string{"1", `{"a":1}`}, []string{"2", "[2]"}),
	},
	{
		name: "icebergCompatV1",
		make: []string{"CREATE TABLE {t} (id BIGINT) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV1' = 'true')",
			"INSERT INTO {t} VALUES (1)"},
		want:    rowsOf([]string{"1"}),
		write:   "INSERT INTO {t} VALUES (2)",
		refused: true,
		end:     rowsOf([]string{"1"}),
	},
	{
		name: "icebergCompatV2",
		make: []string{"CREATE TABLE {t} (id BIGINT, part STRING) USING delta PARTITIONED BY (part) TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true')",
			"INSERT INTO {t} VALUES (1, 'x')"},
		want:    rowsOf([]string{"1", "x"}),
		write:   "DELETE FROM {t} WHERE id = 1",
		refused: true,
		end:     rowsOf([]string{"1", "x"}),
	},
	{
		name: "checkpointProtection",
		make: []string{"CREATE TABLE {t} (id BIGINT) USING delta TBLPROPERTIES ('delta.feature.vacuumProtocolCheck' = 'supported')",
			"INSERT INTO {t} VALUES (1), (3)", "ALTER TABLE {t} DROP FEATURE vacuumProtocolCheck"},
		want:  rowsOf([]string{"1"}, []string{"3"}),
		write: "UPDATE {t} SET id = 4 WHERE id = 3",
		end:   rowsOf([]string{"1"}, []string{"4"}),
	},
}

// TestTablesOfSpark: what lakesql writes is read by Spark; what it does not write, it refuses by the feature's name before a file is there.
func TestTablesOfSpark(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	p := harness.Start(t, dir)
	for _, f := range sparkTables {
		t.Run(f.name, func(t *testing.T) {
			path := filepath.Join(dir, "lake", f.name)
			on := func(statement string) string { return strings.ReplaceAll(statement, "{t}", quoted(path)) }
			for _, s := range f.make {
				spark40.sql(t, on(s))
			}
			require.Contains(t, logOf(t, path), `"`+f.name+`"`)
			require.Equal(t, f.want, ours(t, p, "SELECT * FROM "+quoted(path)))
			before := filesBelow(t, path)
			_, err := p.DB.Exec(on(f.write))
			if !f.refused {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, f.name)
				require.Equal(t, before, filesBelow(t, path), "nothing was written")
			}
			require.Equal(t, f.end, ours(t, p, "SELECT * FROM "+quoted(path)))
			inSpark40.check(t, path, f.end)
		})
	}
	p.Stop(t)
}

// filesBelow are the paths of all files below a folder.
func filesBelow(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// logOf is the text of all commits of a table.
func logOf(t *testing.T, path string) string {
	t.Helper()
	commits, err := filepath.Glob(filepath.Join(path, "_delta_log", "*.json"))
	require.NoError(t, err)
	var out strings.Builder
	for _, name := range commits {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		out.Write(text)
	}
	return out.String()
}
