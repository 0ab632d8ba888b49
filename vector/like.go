package vector

import (
	"bytes"
	"context"
	"unicode/utf8"

	"lakesql/batch"
)

// like is arg LIKE pattern.
type like struct {
	arg      Expr
	match    func(text []byte) bool
	prefix   []byte // what every match begins with
	byCode   []bool
	byCodeOf *batch.Vector
	out      batch.Vector
}

// NewLike returns arg LIKE pattern under the binary collation; escape is the escape character, 0 for none.
func NewLike(arg Expr, pattern string, escape rune) (Expr, error) {
	if arg.Type().Kind != batch.String {
		return nil, unsupported("LIKE of a %s", arg.Type())
	}
	if !utf8.ValidString(pattern) {
		return nil, unsupported("LIKE with a pattern that is not UTF-8")
	}
	parts, ok := parsePattern(pattern, escape)
	if !ok {
		return nil, unsupported("LIKE with a pattern that ends in the escape character")
	}
	e := &like{arg: arg, match: matcher(parts)}
	if len(parts) > 0 && parts[0].kind == patternText {
		e.prefix = parts[0].text
	}
	return e, nil
}

type patternKind uint8

const (
	patternText patternKind = iota
	patternOne              // _
	patternAny              // %
)

type patternPart struct {
	kind patternKind
	text []byte
}

// parsePattern cuts a pattern into texts and wildcards; adjacent % become one.
func parsePattern(pattern string, escape rune) ([]patternPart, bool) {
	var parts []patternPart
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r, kind := runes[i], patternText
		switch {
		case r == escape && escape != 0:
			i++
			if i == len(runes) {
				return nil, false
			}
			r = runes[i]
		case r == '_':
			kind = patternOne
		case r == '%':
			kind = patternAny
		}
		last := len(parts) - 1
		switch {
		case kind == patternText && last >= 0 && parts[last].kind == patternText:
			parts[last].text = utf8.AppendRune(parts[last].text, r)
		case kind == patternText:
			parts = append(parts, patternPart{text: utf8.AppendRune(nil, r)})
		case kind == patternAny && last >= 0 && parts[last].kind == patternAny:
		default:
			parts = append(parts, patternPart{kind: kind})
		}
	}
	return parts, true
}

// matcher returns the test of a pattern, with fast ones for the usual shapes.
func matcher(parts []patternPart) func(text []byte) bool {
	var shape []byte
	for _, p := range parts {
		shape = append(shape, "t_%"[p.kind])
	}
	switch string(shape) {
	case "":
		return func(text []byte) bool { return len(text) == 0 }
	case "%":
		return func([]byte) bool { return true }
	case "t":
		return func(text []byte) bool { return bytes.Equal(text, parts[0].text) }
	case "t%":
		return func(text []byte) bool { return bytes.HasPrefix(text, parts[0].text) }
	case "%t":
		return func(text []byte) bool { return bytes.HasSuffix(text, parts[1].text) }
	case "%t%":
		return func(text []byte) bool { return bytes.Contains(text, parts[1].text) }
	default:
		return func(text []byte) bool { return matchParts(parts, text) }
	}
}

// matchParts matches from left to right and, when it fails, lets the last % take one more character: earlier ones need not
// be tried again.
func matchParts(parts []patternPart, text []byte) bool {
	p, t, ok := 0, 0, false
	retry, retryText := -1, 0
	for p < len(parts) || t < len(text) {
		if p < len(parts) {
			if parts[p].kind == patternAny {
				if t, ok = nextStart(parts[p+1:], text, t); !ok {
					return false
				}
				retry, retryText = p, t
				p++
				continue
			}
			if n, ok := matchPart(parts[p], text[t:]); ok {
				p, t = p+1, t+n
				continue
			}
		}
		if retry < 0 || retryText >= len(text) {
			return false
		}
		_, n := utf8.DecodeRune(text[retryText:])
		if retryText, ok = nextStart(parts[retry+1:], text, retryText+n); !ok {
			return false
		}
		p, t = retry+1, retryText
	}
	return true
}

// nextStart is the first place from t on where what follows a % can match; false: there is none. The first byte of a character is none within another.
func nextStart(parts []patternPart, text []byte, t int) (int, bool) {
	if len(parts) == 0 || parts[0].kind != patternText || !utf8.RuneStart(parts[0].text[0]) {
		return t, true
	}
	i := bytes.Index(text[t:], parts[0].text)
	return t + i, i >= 0
}

func matchPart(part patternPart, text []byte) (int, bool) {
	if part.kind == patternText {
		return len(part.text), bytes.HasPrefix(text, part.text)
	}
	_, n := utf8.DecodeRune(text)
	return n, n > 0
}

func (e *like) Type() batch.Type { return boolType }

func (e *like) children() []Expr { return []Expr{e.arg} }

func (e *like) Clone() Expr { return &like{arg: e.arg.Clone(), match: e.match, prefix: e.prefix} }

func (e *like) Eval(ctx context.Context, b *batch.Batch) (*batch.Vector, error) {
	v, err := e.arg.Eval(ctx, b)
	if err != nil {
		return nil, err
	}
	reset(&e.out, boolType, b.Len)
	e.out.Valid = v.Valid
	if v.Dict == nil {
		selected(b, func(i int) { e.out.Bools[i] = e.match(v.BytesAt(i)) })
		return &e.out, nil
	}
	if e.byCodeOf != v.Dict {
		e.byCode, e.byCodeOf = resize(e.byCode, v.Dict.Len), v.Dict
		for i := range e.byCode {
			e.byCode[i] = e.match(v.Dict.BytesAt(i))
		}
	}
	byCodes(e.out.Bools, v, e.byCode)
	return &e.out, nil
}
