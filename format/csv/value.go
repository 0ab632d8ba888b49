package csv

import (
	"fmt"

	"lakesql/batch"
	"lakesql/format"
)

// AppendValue adds a text that stands outside of a file, such as the value of a key=value folder, to a vector.
func AppendValue(v *batch.Vector, text string, opts Options) error {
	conv, err := newConverter(&opts)
	if err != nil {
		return err
	}
	if !conv.append(v, []byte(text)) {
		return fmt.Errorf("%s is no %s", format.Quote([]byte(text)), v.Type)
	}
	return nil
}

// append adds one value; false when the text is none of the vector's type.
func (c *converter) append(v *batch.Vector, text []byte) (ok bool) {
	switch v.Type.Kind {
	case batch.Bool:
		ok = add(v.AppendBool, format.ParseBool, text)
	case batch.Int8:
		ok = add(v.AppendInt8, narrowInt[int8], text)
	case batch.Int16:
		ok = add(v.AppendInt16, narrowInt[int16], text)
	case batch.Int32:
		ok = add(v.AppendInt32, narrowInt[int32], text)
	case batch.Int64:
		ok = add(v.AppendInt64, format.ParseInt, text)
	case batch.Float32:
		ok = add(v.AppendFloat32, c.float32, text)
	case batch.Float64:
		ok = add(v.AppendFloat64, c.float64, text)
	case batch.Date:
		ok = add(v.AppendInt32, c.Date, text)
	case batch.Timestamp:
		ok = add(v.AppendInt64, c.Timestamp, text)
	case batch.TimestampNTZ:
		ok = add(v.AppendInt64, c.WallClock, text)
	case batch.Decimal:
		x, err := batch.ParseDecimalRounded(text, v.Type.Precision, v.Type.Scale)
		if ok = err == nil; ok {
			v.AppendDecimal(x)
		}
	case batch.String, batch.Binary:
		v.AppendBytes(text)
		ok = true
	}
	return ok
}

func add[T any](to func(T), parse func([]byte) (T, bool), text []byte) bool {
	x, ok := parse(text)
	if ok {
		to(x)
	}
	return ok
}

// Add merges a value that stands outside of a file, such as that of a key=value folder. As in Spark, true and false are
// texts there.
func (in *Inference) Add(name, text string, null bool, opts Options) error {
	conv, err := newConverter(&opts)
	if err != nil {
		return err
	}
	c := &in.cols[in.columns([]string{name})[0]]
	switch {
	case null:
		return nil
	case !opts.InferTypes:
		c.class = stringClass
		return nil
	}
	found, precision := classify([]byte(text), c.class, conv, &opts)
	if found == booleanClass {
		found = stringClass
	}
	c.merge(found, precision, opts.TimestampFormat == "")
	return nil
}
