package delta

import (
	"fmt"
	"maps"
	"strings"

	"lakesql/batch"
)

// AddConstraint adds a CHECK. The caller has seen that the expression compiles and that every row meets it.
func (m *Metadata) AddConstraint(name, expr string) (*Metadata, error) {
	key := ConstraintPrefix + strings.ToLower(name)
	if old, ok := m.Configuration[key]; ok {
		return nil, fmt.Errorf("[DELTA_CONSTRAINT_ALREADY_EXISTS] there is a constraint %s (%s) already; drop it first, or take another name", name, old)
	}
	return m.withProperty(key, expr), nil
}

// DropConstraint drops a CHECK.
func (m *Metadata) DropConstraint(name string) (*Metadata, error) {
	key := ConstraintPrefix + strings.ToLower(name)
	if _, ok := m.Configuration[key]; !ok {
		return nil, fmt.Errorf("[DELTA_CONSTRAINT_DOES_NOT_EXIST] there is no constraint %s", name)
	}
	return m.withoutProperty(key), nil
}

// SetProperties sets table properties, with what they bring about: column mapping that is switched on gives the columns their ids, row
// tracking its columns' names.
func (m *Metadata) SetProperties(properties map[string]string) (*Metadata, error) {
	out := m
	for _, k := range sortedKeys(properties) {
		if err := checkSetByHand(k, properties[k]); err != nil {
			return nil, err
		}
		out = out.withProperty(k, properties[k])
	}
	if out == m {
		return m, nil
	}
	if err := checkMappingChange(m, out); err != nil {
		return nil, err
	}
	out.nameRowTracking()
	if m.Mapping() != out.Mapping() {
		schema, err := ParseSchema(m.SchemaString)
		if err != nil {
			return nil, err
		}
		out = out.withSchema(schema, 0, func(f batch.Field) string { return f.Name }) // which is what the files have
	}
	return out, nil
}

// checkMappingChange allows column mapping by name to be switched on; every other change would need all files written anew.
func checkMappingChange(from, to *Metadata) error {
	if from.Mapping() == to.Mapping() || from.Mapping() == "" && to.Mapping() == mappingByName {
		return nil
	}
	mode := func(m *Metadata) string {
		if m.Mapping() == "" {
			return "none"
		}
		return m.Mapping()
	}
	return fmt.Errorf("[DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE] delta.columnMapping.mode cannot be changed from %s to %s on a table that exists; "+
		"only from none to name. CREATE TABLE ... AS SELECT makes a copy with another mode", mode(from), mode(to))
}

// UnsetProperties removes table properties; those that are not set are passed over.
func (m *Metadata) UnsetProperties(keys ...string) (*Metadata, error) {
	out := m
	for _, k := range keys {
		if strings.HasPrefix(k, ConstraintPrefix) || properties[k].internal {
			return nil, fmt.Errorf("[DELTA_CANNOT_MODIFY_TABLE_PROPERTY] table property %s is kept by the table itself and cannot be unset", k)
		}
		out = out.withoutProperty(k)
	}
	return out, checkMappingChange(m, out)
}

func (m *Metadata) withProperty(key, value string) *Metadata {
	out := *m
	out.Configuration = maps.Clone(m.Configuration)
	if out.Configuration == nil {
		out.Configuration = make(map[string]string, 1)
	}
	out.Configuration[key] = value
	return &out
}

func (m *Metadata) withoutProperty(key string) *Metadata {
	out := *m
	out.Configuration = maps.Clone(m.Configuration)
	delete(out.Configuration, key)
	return &out
}

// withStatsColumns changes the names in delta.dataSkippingStatsColumns; nil drops one.
func (m *Metadata) withStatsColumns(change func(name []string) []string) *Metadata {
	const key = "delta.dataSkippingStatsColumns"
	list, ok := m.Configuration[key]
	if !ok {
		return m
	}
	names, err := splitColumnNames(list)
	if err != nil { // nobody can read it, so it stays
		return m
	}
	var out [][]string
	for _, name := range names {
		if name = change(name); name != nil {
			out = append(out, name)
		}
	}
	return m.withProperty(key, joinColumnNames(out))
}

// Replace returns the metadata of a table whose rows and columns are all replaced, as NewMetadata takes them. Ids of columns are not used
// again: older versions of the table still have theirs.
func (m *Metadata) Replace(schema *batch.Schema, partitionBy []string, config map[string]string) (*Metadata, error) {
	out, err := newMetadata(schema, partitionBy, config, m.count(mappingMaxID, 0))
	if err != nil {
		return nil, err
	}
	out.ID, out.CreatedTime = m.ID, m.CreatedTime
	if last, ok := m.Configuration[mappingMaxID]; ok && out.Mapping() == "" { // it may be mapped again later
		out = out.withProperty(mappingMaxID, last)
	}
	return out, nil
}
