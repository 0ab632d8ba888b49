package sqlext

import "strings"

// isAlterTable reports a statement whose columns alterType looks at.
func (r *rewriter) isAlterTable() bool { return r.at(0).is("ALTER") && r.at(1).is("TABLE") }

// alterType rewrites the type at token i of an ALTER TABLE when it is Delta's: that of ADD, MODIFY or CHANGE [COLUMN] name type.
func (r *rewriter) alterType(i int) error {
	typ := r.at(i)
	if !isDeltaType(typ, r.at(i+1)) || !r.afterNewColumn(i-1) {
		return nil
	}
	word := strings.ToUpper(typ.text)
	if nestedTypes[word] || word == "TIMESTAMP_NTZ" {
		return &RefusedError{NotSupported, "column " + r.at(i-1).text + ": the type " + word + " is not supported in ALTER TABLE yet"}
	}
	r.edits.replace(typ.start, typ.end, deltaTypes[word])
	return nil
}

// afterNewColumn reports whether token i is the name of a column that ADD, MODIFY or CHANGE defines.
func (r *rewriter) afterNewColumn(i int) bool {
	if t := r.at(i); t.kind != tokWord && t.kind != tokQuoted || t.is("COLUMN") || isKeyWord(t) {
		return false
	}
	verb := func(i int) token {
		if r.at(i).is("COLUMN") {
			i--
		}
		return r.at(i)
	}
	return verb(i-1).is("ADD") || verb(i-1).is("MODIFY") || verb(i-2).is("CHANGE")
}
