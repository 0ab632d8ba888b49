package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"lakesql/delta"
)

// tableKey is a PRIMARY KEY or UNIQUE of a table: information that nothing enforces.
type tableKey struct {
	name    string
	columns []string
	primary bool
}

// keysOf are the keys that CREATE TABLE left in a table's properties, the primary one first. MySQL names a UNIQUE after its first column.
func keysOf(m *delta.Metadata) []tableKey {
	var out []tableKey
	if text := m.Configuration[primaryKeyProperty]; text != "" {
		out = append(out, tableKey{name: "PRIMARY", columns: strings.Split(strings.ReplaceAll(text, "; ", ", "), ", "), primary: true})
	}
	text := m.Configuration[uniqueKeysProperty]
	if text == "" {
		return out
	}
	seen := make(map[string]int)
	for _, columns := range strings.Split(text, "; ") {
		k := tableKey{columns: strings.Split(columns, ", ")}
		k.name = k.columns[0]
		if seen[k.name]++; seen[k.name] > 1 {
			k.name = fmt.Sprintf("%s_%d", k.name, seen[k.name])
		}
		out = append(out, k)
	}
	return out
}

// tableCheck is a CHECK, which each write is held to.
type tableCheck struct{ name, clause string }

func checksOf(m *delta.Metadata) []tableCheck {
	var out []tableCheck
	for _, key := range slices.Sorted(maps.Keys(m.Configuration)) {
		if name, ok := strings.CutPrefix(key, delta.ConstraintPrefix); ok {
			out = append(out, tableCheck{name, m.Configuration[key]})
		}
	}
	return out
}
