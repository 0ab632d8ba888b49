package integration

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers lists the packages from the top down. A package may import what stands in a lower line, and what `beside`
// allows within its own.
var layers = [][]string{
	{"cmd/lakesql"},
	{"server"},
	{"catalog", "catalog/compile", "catalog/mysqltype", "catalog/resultmeta"},
	{"sqlext", "stream", "stream/source", "stream/source/deltatable", "stream/source/files", "stream/source/kafka", "stream/source/rate", "stream/source/sourcetest"},
	{"vector", "files"},
	{"delta/maintain"},
	{"checkpoint", "delta"},
	{"delta/dv"},
	{"format/avro", "format/csv", "format/json", "format/parquet", "format/text"},
	{"format"},
	{"batch", "store", "store/faultstore", "store/storetest"},
	{"format/jsontext", "format/variant"},
	{"version"},
}

var beside = map[string][]string{
	"catalog":                  {"catalog/compile", "catalog/mysqltype", "catalog/resultmeta"},
	"catalog/compile":          {"catalog/mysqltype"},
	"catalog/resultmeta":       {"catalog/mysqltype"},
	"stream":                   {"stream/source", "stream/source/files", "stream/source/sourcetest"},
	"stream/source/deltatable": {"stream/source"},
	"stream/source/files":      {"stream/source"},
	"stream/source/kafka":      {"stream/source", "stream/source/sourcetest"},
	"stream/source/rate":       {"stream/source"},
	"stream/source/sourcetest": {"stream/source"},
	"store/faultstore":         {"store"},
	"store/storetest":          {"store"},
}

// engineUsers may import go-mysql-server; sqlext only the parser that it brings.
var engineUsers = map[string]bool{"server": true, "catalog": true, "catalog/compile": true, "catalog/mysqltype": true, "catalog/resultmeta": true}

func TestImportsRunDownwardOnly(t *testing.T) {
	level := map[string]int{}
	for i, line := range layers {
		for _, p := range line {
			level[p] = i
		}
	}
	gone := maps.Clone(level)
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "lakesql/")
		delete(gone, name)
		if strings.HasPrefix(name, "integration") {
			continue
		}
		from, known := level[name]
		if !known {
			t.Errorf("%s has no place in the layers: add it to this test", name)
			continue
		}
		for _, imp := range p.Imports {
			if strings.HasPrefix(imp, "github.com/dolthub/go-mysql-server") && !engineUsers[name] {
				t.Errorf("%s imports %s: only %v may", name, imp, engineUsers)
			}
			if strings.HasPrefix(imp, "github.com/dolthub/vitess") && !engineUsers[name] && name != "sqlext" {
				t.Errorf("%s imports %s", name, imp)
			}
			to, ours := strings.CutPrefix(imp, "lakesql/")
			if !ours || slices.Contains(beside[name], to) {
				continue
			}
			if l, known := level[to]; !known || l <= from {
				t.Errorf("%s imports %s, which does not lie below it", name, to)
			}
		}
	}
	require.Empty(t, gone, "layers names packages that do not exist")
}

type goPackage struct {
	ImportPath string
	Imports    []string // without those of tests
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-tags", "gms_pure_go", "-json=ImportPath,Imports", "lakesql/...")
	out, err := cmd.Output()
	require.NoError(t, err)
	var packages []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
	require.NotEmpty(t, packages)
	return packages
}

// SET time_zone and CONVERT_TZ know time zones by name on a machine without any.
func TestTimeZonesAreInTheBinary(t *testing.T) {
	for _, p := range listPackages(t) {
		if p.ImportPath == "lakesql/cmd/lakesql" {
			require.Contains(t, p.Imports, "time/tzdata")
		}
	}
}
