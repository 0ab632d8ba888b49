package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
	"lakesql/integration/shared"
)

// TestTablesKeepTheirRulesOnWrite writes to copies of shared tables what they allow and what they do not.
func TestTablesKeepTheirRulesOnWrite(t *testing.T) {
	dir, _ := shared.Tables(t)
	lake := t.TempDir()
	p := harness.Start(t, lake)
	for _, c := range []struct {
		table, statement string
		want             string // what the refusal says; "": it is done
	}{
		{"append_only", "INSERT INTO %s VALUES (3, 13)", ""},
		{"append_only", "DELETE FROM %s WHERE a = 1", "delta.appendOnly"},
		{"append_only", "UPDATE %s SET b = 0", "delta.appendOnly"},
		{"append_only", "TRUNCATE TABLE %s", "delta.appendOnly"},
		{"column_invariants", "INSERT INTO %s VALUES (2)", ""},
		{"column_invariants", "INSERT INTO %s VALUES (3)", "dummy < 3"},
		{"column_invariants", "INSERT INTO %s VALUES (NULL)", "dummy < 3"},
		{"column_invariants", "UPDATE %s SET dummy = 7", "dummy < 3"},
		{"column_defaults", "INSERT INTO %s (a) VALUES (2)", ""},
		{"generated_column_empty", "INSERT INTO %s (c1) VALUES (1)", ""},
		{"generated_column_empty", "INSERT INTO %s VALUES (1, 2)", ""},
		{"generated_column_empty", "INSERT INTO %s VALUES (1, 3)", "c2"},
		{"ckpt_v2_identity_column", "INSERT INTO %s (name, created_at) VALUES ('Zoe', '2026-01-01')", ""},
		{"ckpt_v2_identity_column", "INSERT INTO %s VALUES (100, 'Zoe', '2026-01-01')", "id"},
		{"clustering_old_name_row_tracking", "INSERT INTO %s VALUES (100)", "liquid"},
		{"refuse_write_writer_version_8", "INSERT INTO %s VALUES (1)", "8"},
		{"refuse_catalog_managed", "INSERT INTO %s VALUES (1, 1)", "catalogManaged"},
		{"refuse_unknown_reader_feature", "DELETE FROM %s", "geospatial"},
	} {
		copied := filepath.Join(lake, "tables", c.table)
		if _, err := os.Stat(copied); os.IsNotExist(err) {
			require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join(dir, c.table))))
		}
		table := sharedTable{p: p, dir: copied}
		before := commitsIn(t, copied)
		_, err := table.query(c.statement)
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want, c.statement)
		require.Equal(t, before, commitsIn(t, copied), "a refused statement leaves no commit")
	}
	for name, query := range map[string]struct {
		query string
		want  [][]string
	}{
		"append_only":             {"SELECT * FROM %s ORDER BY a", [][]string{{"1", "11"}, {"2", "12"}, {"3", "13"}}},
		"column_invariants":       {"SELECT * FROM %s ORDER BY dummy", [][]string{{"1"}, {"2"}}},
		"column_defaults":         {"SELECT * FROM %s ORDER BY a", [][]string{{"1", "16"}, {"2", "16"}}},
		"generated_column_empty":  {"SELECT * FROM %s", [][]string{{"1", "2"}, {"1", "2"}}},
		"ckpt_v2_identity_column": {"SELECT id, name FROM %s WHERE id > 43 ORDER BY id", [][]string{{"44", "Mallory"}, {"45", "Zoe"}}},
	} {
		r, err := sharedTable{p: p, dir: filepath.Join(lake, "tables", name)}.query(query.query)
		require.NoError(t, err)
		require.Equal(t, query.want, r.rows, name)
	}
}

// commitsIn are the names of the commits in a table's log. Checksums come beside them, at times of their own.
func commitsIn(t *testing.T, table string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(table, "_delta_log", "[0-9]*[0-9].json"))
	require.NoError(t, err)
	return names
}
