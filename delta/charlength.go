package delta

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"lakesql/batch"
)

// CharVarcharKey is the key of column metadata in which Spark keeps the type that a string column was declared with.
const CharVarcharKey = "__CHAR_VARCHAR_TYPE_STRING"

// lengthLimit is a column that was declared char(n) or varchar(n).
type lengthLimit struct {
	column   int
	name     string
	declared string
	chars    int
	pad      bool // char(n): values are padded with blanks to n
}

func lengthLimitOf(column int, f batch.Field) (lengthLimit, bool) {
	l := lengthLimit{column: column, name: f.Name, declared: f.MetadataText(CharVarcharKey)}
	kind, rest, ok := strings.Cut(strings.TrimSuffix(l.declared, ")"), "(")
	n, err := strconv.Atoi(strings.TrimSpace(rest))
	if !ok || err != nil || f.Type.Kind != batch.String || kind != "char" && kind != "varchar" {
		return lengthLimit{}, false
	}
	l.chars, l.pad = n, kind == "char"
	return l, true
}

// apply replaces the column by one that keeps the limit, as Spark does: blanks at the end give way, anything else is an error.
func (l lengthLimit) apply(b *batch.Batch) error {
	v := b.Cols[l.column]
	if !l.touches(b, v) {
		return nil
	}
	out := batch.NewVector(v.Type, b.Len)
	next := 0
	for i := range b.Rows() {
		row := b.Row(i)
		out.AppendNulls(row - next)
		next = row + 1
		if v.IsNull(row) {
			out.AppendNull()
			continue
		}
		text, ok := l.fit(string(v.BytesAt(row)))
		if !ok {
			return fmt.Errorf("%w: [DELTA_EXCEED_CHAR_VARCHAR_LIMIT] value %.100q of column %s is longer than %s", ErrLength, v.BytesAt(row), l.name, l.declared)
		}
		out.AppendString(text)
	}
	out.AppendNulls(b.Len - next)
	b.Cols[l.column] = out
	return nil
}

// touches tells whether a row is not as it must be.
func (l lengthLimit) touches(b *batch.Batch, v *batch.Vector) bool {
	for i := range b.Rows() {
		row := b.Row(i)
		if v.IsNull(row) {
			continue
		}
		if n := utf8.RuneCount(v.BytesAt(row)); n > l.chars || l.pad && n < l.chars {
			return true
		}
	}
	return false
}

func (l lengthLimit) fit(text string) (string, bool) {
	n := utf8.RuneCountInString(text)
	for n > l.chars && strings.HasSuffix(text, " ") {
		text, n = text[:len(text)-1], n-1
	}
	if l.pad && n < l.chars {
		text += strings.Repeat(" ", l.chars-n)
	}
	return text, n <= l.chars
}
