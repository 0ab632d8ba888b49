package delta

import (
	"encoding/json"
	"fmt"

	"lakesql/batch"
)

// typeChangesKey is the key of column metadata that says how the column's type was widened: files from before a change hold the
// narrower type.
const typeChangesKey = "delta.typeChanges"

// typeWideningProperty allows types to be widened.
const typeWideningProperty = "delta.enableTypeWidening"

// typeChange is one entry of it. FieldPath leads into arrays and maps below the column, such as "element" or "value.key".
type typeChange struct {
	FromType  string `json:"fromType"`
	ToType    string `json:"toType"`
	FieldPath string `json:"fieldPath,omitempty"`
}

// typeChangesOf reads the history of a field. Tables of the feature's preview also have a tableVersion in it, which is kept only as long
// as the type does not change again.
func typeChangesOf(f batch.Field) ([]typeChange, error) {
	text := f.Metadata[typeChangesKey]
	if text == "" {
		return nil, nil
	}
	var out []typeChange
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("%w: %s of column %s: %w", ErrCorrupt, typeChangesKey, f.Name, err)
	}
	return out, nil
}

// checkTypeChanges refuses a history with a change that this build does not know how to read through.
func checkTypeChanges(schema *batch.Schema) error {
	return eachStructField(schema.Fields, func(path string, f batch.Field) error {
		changes, err := typeChangesOf(f)
		if err != nil {
			return err
		}
		for _, c := range changes {
			from, errFrom := batch.ParseType(c.FromType)
			to, errTo := batch.ParseType(c.ToType)
			if errFrom != nil || errTo != nil || !batch.Widens(from, to) {
				return &UnsupportedError{Op: "read", Features: []string{"typeWidening"},
					Detail: fmt.Sprintf("column %s was changed from %s to %s, which this version does not know", joinPath(path, c.FieldPath), c.FromType, c.ToType)}
			}
		}
		return nil
	})
}
