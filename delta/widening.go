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
			if errFrom != nil || errTo != nil || !widens(from, to) {
				return &UnsupportedError{Op: "read", Features: []string{"typeWidening"},
					Detail: fmt.Sprintf("column %s was changed from %s to %s, which this version does not know", joinPath(path, c.FieldPath), c.FromType, c.ToType)}
			}
		}
		return nil
	})
}

// integerDigits are the decimal digits that hold every value of an integer type, as the protocol counts them.
var integerDigits = map[batch.Kind]uint8{batch.Int8: 10, batch.Int16: 10, batch.Int32: 10, batch.Int64: 20}

// widens tells whether a flat type may become another by the feature typeWidening: no value is lost.
func widens(from, to batch.Type) bool {
	integer := integerDigits[from.Kind] > 0
	switch to.Kind {
	case batch.Int16, batch.Int32, batch.Int64:
		return integer && from.Kind < to.Kind
	case batch.Float64:
		return from.Kind == batch.Float32 || integer && from.Kind != batch.Int64
	case batch.TimestampNTZ:
		return from.Kind == batch.Date
	case batch.Decimal:
		if integer {
			return grows(batch.DecimalOf(integerDigits[from.Kind], 0), to)
		}
		return from.Kind == batch.Decimal && from != to && grows(from, to)
	}
	return false
}

// grows tells whether a decimal has room for another on both sides of the point.
func grows(from, to batch.Type) bool {
	return from.Scale <= to.Scale && from.Precision <= to.Precision && to.Precision-from.Precision >= to.Scale-from.Scale
}
