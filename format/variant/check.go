package variant

import "bytes"

// MaxDepth is how deep objects and arrays may lie in one another, so that walking a variant takes a bounded stack.
const MaxDepth = 1000

// Check walks the whole of a variant from outside and says what is wrong with it: bytes that are missing, ids without a name, a field that
// an object has twice, values that overlap (a small variant could stand for an endless one), more than MaxDepth levels. Of a variant
// that passes, every Field and Element can be read.
func Check(metadata, value []byte) error {
	v, err := Parse(metadata, value)
	if err != nil {
		return err
	}
	c := checker{left: len(v.raw)}
	return c.check(v, 0)
}

// checker counts the bytes of the values that it has seen: those that do not overlap take no more than there are.
type checker struct{ left int }

func (c *checker) check(v Value, depth int) error {
	own := len(v.raw)
	if v.kind == Object || v.kind == Array {
		own -= len(v.data)
	}
	if c.left -= own; c.left < 0 {
		return damaged("values overlap")
	}
	if depth > MaxDepth {
		return damaged("more than %d levels", MaxDepth)
	}
	var last []byte
	for i := range v.n {
		var child Value
		var err error
		if v.kind == Object {
			var name []byte
			if name, child, err = v.Field(i); err == nil && i > 0 && bytes.Equal(name, last) {
				err = damaged("field %q twice in one object", name)
			}
			last = name
		} else {
			child, err = v.Element(i)
		}
		if err == nil {
			err = c.check(child, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
