package interop

import (
	"path/filepath"
	"slices"
	"strings"
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
	readers []reader     // who reads it then, and who cannot; at the end those of them who write, too
	writes  []otherWrite // by others, each on top of those before
	again   []string     // statements of lakesql on top of these
	refused []string     // statements of lakesql that must fail
	end     [][]string   // at the end
}

func rowsOf(rows ...[]string) [][]string { return rows }

// TestFeatures: for each writer feature a table is made by lakesql, read by the others, written by them, read back here, written again,
// and read by them again.
func TestFeatures(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	p := harness.Start(t, dir)
	for _, f := range features {
		t.Run(f.name, func(t *testing.T) { f.test(t, p, filepath.Join(dir, "lake", "lake", "t")) })
	}
	p.Stop(t)
}

func (f feature) test(t *testing.T, p *harness.Process, path string) {
	p.Exec(t, "DROP TABLE IF EXISTS t")
	for _, s := range f.make {
		p.Exec(t, s)
	}
	query, rows := "SELECT "+f.columns+" FROM t", sortRows(slices.Clone(f.want))
	require.Equal(t, rows, ours(t, p, query), "as lakesql reads it")
	for _, r := range f.readers {
		r.check(t, path, rows)
	}
	for _, w := range f.writes {
		rows = w.apply(t, path, rows)
		require.Equal(t, rows, ours(t, p, query), "after %s: %s", w.engine, w.what)
	}
	for _, s := range f.refused {
		_, err := p.DB.Exec(s)
		require.Error(t, err, s)
	}
	if f.again == nil {
		return
	}
	for _, s := range f.again {
		p.Exec(t, s)
	}
	require.Equal(t, f.end, ours(t, p, query), "after lakesql wrote again")
	for _, r := range f.readers {
		if slices.ContainsFunc(f.writes, func(w otherWrite) bool { return w.engine == r.name }) {
			r.check(t, path, f.end)
		}
	}
}

// TestFeaturesThatAreRefused: what lakesql does not write is refused by its name, before a table is there.
func TestFeaturesThatAreRefused(t *testing.T) {
	environment(t)
	dir := t.TempDir()
	p := harness.Start(t, dir)
	for _, property := range []string{"delta.feature.catalogManaged", "delta.feature.catalogOwned-preview", "delta.feature.coordinatedCommits-preview",
		"delta.feature.redirectReaderWriter-preview", "delta.feature.redirectWriterOnly-preview", "delta.feature.geospatial", "delta.feature.timestampNanos",
		"delta.feature.adaptiveMetadata-preview", "delta.feature.columnMappingUsageTracking", "delta.enableIcebergCompatV1", "delta.enableIcebergCompatV2", "delta.enableIcebergCompatV3",
		"delta.enableIcebergWriterCompatV1", "delta.enableIcebergWriterCompatV3", "delta.enableVariantShredding", "delta.universalFormat.enabledFormats"} {
		value := "true"
		if strings.HasPrefix(property, "delta.feature.") {
			value = "supported"
		}
		_, err := p.DB.Exec("CREATE TABLE t (id BIGINT) TBLPROPERTIES ('" + property + "' = '" + value + "')")
		require.ErrorContains(t, err, strings.TrimPrefix(property, "delta.feature."))
		require.NoDirExists(t, filepath.Join(dir, "lake", "lake", "t"))
	}
	p.Stop(t)
}
