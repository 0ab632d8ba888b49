package files

import (
	"fmt"

	"lakesql/batch"
)

// parseColumns reads a list of columns such as "id BIGINT, `a b` STRING, price DECIMAL(10,2)". All are nullable: files
// promise nothing.
func parseColumns(text string) (*batch.Schema, error) {
	fields, err := batch.ParseFields(text)
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%q is no column: write 'name TYPE, name TYPE'", text)
	}
	for _, f := range fields {
		if name := notNull(f); name != "" {
			return nil, fmt.Errorf("column %s: NOT NULL is a matter of the table, not of its files: leave it out", name)
		}
	}
	return batch.NewSchema(fields...), nil
}

// notNull names a column, or a field of one, that is NOT NULL; "" where there is none.
func notNull(f batch.Field) string {
	if !f.Nullable {
		return f.Name
	}
	if f.Type.Kind != batch.Struct {
		return ""
	}
	for _, field := range f.Type.Fields() {
		if name := notNull(field); name != "" {
			return f.Name + "." + name
		}
	}
	return ""
}
