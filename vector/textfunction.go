package vector

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"lakesql/batch"
)

var (
	textType = batch.Type{Kind: batch.String}
	longType = batch.Type{Kind: batch.Int64}
)

// takes are parameters of fixed types; from the least-th on they may be left out.
func takes(result batch.Type, least int, params ...batch.Type) func([]Expr) ([]batch.Type, batch.Type, bool) {
	return func(args []Expr) ([]batch.Type, batch.Type, bool) {
		if len(args) < least || len(args) > len(params) {
			return nil, result, false
		}
		for i, a := range args {
			if params[i] == textType && !hasText(a.Type().Kind) {
				return nil, result, false
			}
		}
		return params[:len(args)], result, true
	}
}

// takesTexts are so many texts or more.
func takesTexts(result batch.Type, least int) func([]Expr) ([]batch.Type, batch.Type, bool) {
	return func(args []Expr) ([]batch.Type, batch.Type, bool) {
		if len(args) < least || slices.ContainsFunc(args, func(a Expr) bool { return !hasText(a.Type().Kind) }) {
			return nil, result, false
		}
		return slices.Repeat([]batch.Type{textType}, len(args)), result, true
	}
}

// hasText says whether there is one text for a value of the kind wherever it stands: that of a time depends on its digits, that of a boolean on what made it.
func hasText(k batch.Kind) bool {
	_, isInt := integer(k)
	return k == batch.String || isInt || k == batch.Decimal
}

// The functions of texts. What they count are characters, from 1; texts are compared by their bytes. Arguments that are numbers stand for their texts.
var (
	Length     = &Function{name: "LENGTH", takes: takesTextOrBytes(batch.Type{Kind: batch.Int32}), bind: length}
	CharLength = &Function{name: "CHAR_LENGTH", takes: takes(batch.Type{Kind: batch.Int32}, 1, textType), bind: charLength}
	Upper      = &Function{name: "UPPER", takes: takes(textType, 1, textType), bind: changeCase(bytes.ToUpper, 'a', 'z')}
	Lower      = &Function{name: "LOWER", takes: takes(textType, 1, textType), bind: changeCase(bytes.ToLower, 'A', 'Z')}
	Reverse    = &Function{name: "REVERSE", takes: takes(textType, 1, textType), bind: reverse}
	// Substring is SUBSTRING(text, from [, n]); from < 0 counts from the end.
	Substring = &Function{name: "SUBSTRING", takes: takes(textType, 2, textType, longType, longType), bind: substring}
	Left      = &Function{name: "LEFT", takes: takes(textType, 2, textType, longType), bind: left}
	Right     = &Function{name: "RIGHT", takes: takes(textType, 2, textType, longType), bind: right}
	// TrimBoth is TRIM(BOTH part FROM text) with the arguments text, part; so are TrimLeading and TrimTrailing.
	TrimBoth     = &Function{name: "TRIM", takes: takes(textType, 2, textType, textType), bind: trim(true, true)}
	TrimLeading  = &Function{name: "TRIM", takes: takes(textType, 2, textType, textType), bind: trim(true, false)}
	TrimTrailing = &Function{name: "TRIM", takes: takes(textType, 2, textType, textType), bind: trim(false, true)}
	Concat       = &Function{name: "CONCAT", takes: takesTexts(textType, 1), stops: math.MaxInt, bind: concat}
	// ConcatWS is CONCAT_WS(separator, ...), which leaves out what is NULL.
	ConcatWS = &Function{name: "CONCAT_WS", takes: takesTexts(textType, 2), nulls: true, stops: 1, bind: concatWS}
	Replace  = &Function{name: "REPLACE", takes: takes(textType, 3, textType, textType, textType), stops: 2, bind: replace}
	// Locate is LOCATE(part, text [, from]): where the first part is, at from or behind it; 0: nowhere.
	Locate = &Function{name: "LOCATE", takes: takes(longType, 2, textType, textType, longType), bind: locate}
	// Instr is LOCATE(part, text) with the arguments text, part.
	Instr = &Function{name: "INSTR", takes: takes(longType, 2, textType, textType), bind: instr}
	// SubstringIndex is SUBSTRING_INDEX(text, part, n): what is before the n-th part, or for n < 0 behind the n-th from the end.
	SubstringIndex = &Function{name: "SUBSTRING_INDEX", takes: takes(textType, 3, textType, textType, longType), bind: substringIndex}
	Strcmp         = &Function{name: "STRCMP", takes: takes(batch.Type{Kind: batch.Int8}, 2, textType, textType), bind: strcmp}
	// LPad is LPAD(text, n, pad): n characters, those of text last; so is RPad with those of text first. NULL for n < 0.
	LPad   = &Function{name: "LPAD", takes: takes(textType, 3, textType, longType, textType), fails: true, bind: padTo("lpad", true)}
	RPad   = &Function{name: "RPAD", takes: takes(textType, 3, textType, longType, textType), fails: true, bind: padTo("rpad", false)}
	Repeat = &Function{name: "REPEAT", takes: takes(textType, 2, textType, longType), fails: true, bind: repeat}
	// Insert is INSERT(text, from, n, other): other in place of the n characters from there.
	Insert = &Function{name: "INSERT", takes: takes(textType, 4, textType, longType, longType, textType), bind: insert}
	Ascii  = &Function{name: "ASCII", takes: takes(batch.Type{Kind: batch.Int16}, 1, textType), bind: ascii}
	// Ord is the bytes of the first character as a number.
	Ord = &Function{name: "ORD", takes: takes(longType, 1, textType), bind: ord}
)

func takesTextOrBytes(result batch.Type) func([]Expr) ([]batch.Type, batch.Type, bool) {
	of := takes(result, 1, textType)
	return func(args []Expr) ([]batch.Type, batch.Type, bool) {
		if len(args) == 1 && args[0].Type().Kind == batch.Binary {
			return []batch.Type{args[0].Type()}, result, true
		}
		return of(args)
	}
}

// maxPacket is MySQL's max_allowed_packet: a function that multiplies its text gives no longer one.
const maxPacket = 64 << 20

// tooLong is what MySQL says of a longer one, which is NULL.
func tooLong(name string) Warning {
	return Warning{Code: 1301, Message: "Result of " + name + "() was larger than max_allowed_packet (67108864) - truncated"}
}

// chars counts characters: the bytes that do not continue one.
func chars(text []byte) int {
	n := len(text)
	for len(text) >= 8 {
		w := binary.LittleEndian.Uint64(text)
		n -= bits.OnesCount64(w >> 7 & (^w >> 6) & 0x0101010101010101)
		text = text[8:]
	}
	for _, b := range text {
		if b&0xC0 == 0x80 {
			n--
		}
	}
	return n
}

// skip is where the character behind n of them begins; the end where there are no more.
func skip(text []byte, n int64) int {
	if n >= int64(len(text)) {
		return len(text)
	}
	at := 0
	for ; n > 0 && at < len(text); n-- {
		if text[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// skipBack is where the last n characters begin, the start where there are no more.
func skipBack(text []byte, n int64) int {
	if n >= int64(len(text)) {
		return 0
	}
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		if text[at-1] < utf8.RuneSelf {
			at--
			continue
		}
		_, size := utf8.DecodeLastRune(text[:at])
		at -= size
	}
	return at
}

func length(f *frame) valueFunc {
	out, in := f.out.I32, f.args[0]
	return func(i int) bool {
		out[i] = int32(len(in.BytesAt(i)))
		return true
	}
}

func charLength(f *frame) valueFunc {
	out, in := f.out.I32, f.args[0]
	return func(i int) bool {
		out[i] = int32(chars(in.BytesAt(i)))
		return true
	}
}

// changeCase adds 32 to, or takes it from, letters from first to last, where there are none but ASCII's.
func changeCase(other func([]byte) []byte, first, last byte) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		out, in := f.out, f.args[0]
		return func(i int) bool {
			text := in.BytesAt(i)
			before := len(out.Bytes)
			out.Bytes = append(out.Bytes, text...)
			for at, b := range out.Bytes[before:] {
				if b >= utf8.RuneSelf {
					out.Bytes = append(out.Bytes[:before], other(text)...)
					return true
				}
				if first <= b && b <= last {
					out.Bytes[before+at] = b ^ 0x20
				}
			}
			return true
		}
	}
}

func reverse(f *frame) valueFunc {
	out, in := f.out, f.args[0]
	return func(i int) bool {
		text := in.BytesAt(i)
		for at := len(text); at > 0; {
			begin := skipBack(text[:at], 1)
			out.Bytes = append(out.Bytes, text[begin:at]...)
			at = begin
		}
		return true
	}
}

func substring(f *frame) valueFunc {
	out, in, from := f.out, f.args[0], f.args[1].I64
	var lengths []int64
	if len(f.args) > 2 {
		lengths = f.args[2].I64
	}
	return func(i int) bool {
		text := in.BytesAt(i)
		switch at := from[i]; {
		case at > 0:
			text = text[skip(text, at-1):]
		case at < 0 && -at <= int64(len(text)) && -at <= int64(chars(text)):
			text = text[skipBack(text, -at):]
		default:
			return true
		}
		if lengths != nil {
			text = text[:skip(text, lengths[i])]
		}
		out.Bytes = append(out.Bytes, text...)
		return true
	}
}

func left(f *frame) valueFunc {
	out, in, n := f.out, f.args[0], f.args[1].I64
	return func(i int) bool {
		text := in.BytesAt(i)
		out.Bytes = append(out.Bytes, text[:skip(text, n[i])]...)
		return true
	}
}

func right(f *frame) valueFunc {
	out, in, n := f.out, f.args[0], f.args[1].I64
	return func(i int) bool {
		text := in.BytesAt(i)
		out.Bytes = append(out.Bytes, text[skipBack(text, n[i]):]...)
		return true
	}
}

func trim(leading, trailing bool) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		out, in, parts := f.out, f.args[0], f.args[1]
		return func(i int) bool {
			text, part := in.BytesAt(i), parts.BytesAt(i)
			for leading && len(part) > 0 && bytes.HasPrefix(text, part) {
				text = text[len(part):]
			}
			for trailing && len(part) > 0 && bytes.HasSuffix(text, part) {
				text = text[:len(text)-len(part)]
			}
			out.Bytes = append(out.Bytes, text...)
			return true
		}
	}
}

func concat(f *frame) valueFunc {
	return func(i int) bool {
		for _, in := range f.args {
			f.out.Bytes = append(f.out.Bytes, in.BytesAt(i)...)
		}
		return true
	}
}

func concatWS(f *frame) valueFunc {
	separators, parts := f.args[0], f.args[1:]
	return func(i int) bool {
		if separators.IsNull(i) {
			return false
		}
		first := true
		for _, in := range parts {
			if in.IsNull(i) {
				continue
			}
			if !first {
				f.out.Bytes = append(f.out.Bytes, separators.BytesAt(i)...)
			}
			f.out.Bytes, first = append(f.out.Bytes, in.BytesAt(i)...), false
		}
		return true
	}
}

func replace(f *frame) valueFunc {
	out, texts, olds, news := f.out, f.args[0], f.args[1], f.args[2]
	return func(i int) bool {
		text, old := texts.BytesAt(i), olds.BytesAt(i)
		for len(old) > 0 {
			at := bytes.Index(text, old)
			if at < 0 {
				break
			}
			out.Bytes = append(append(out.Bytes, text[:at]...), news.BytesAt(i)...)
			text = text[at+len(old):]
		}
		out.Bytes = append(out.Bytes, text...)
		return true
	}
}

func locate(f *frame) valueFunc {
	out, parts, texts := f.out.I64, f.args[0], f.args[1]
	var froms []int64
	if len(f.args) > 2 {
		froms = f.args[2].I64
	}
	return func(i int) bool {
		text, from := texts.BytesAt(i), int64(1)
		if froms != nil {
			from = froms[i]
		}
		out[i] = 0
		if from < 1 || from > 1 && from > int64(chars(text))+1 {
			return true
		}
		text = text[skip(text, from-1):]
		if at := bytes.Index(text, parts.BytesAt(i)); at >= 0 {
			out[i] = from + int64(chars(text[:at]))
		}
		return true
	}
}

func instr(f *frame) valueFunc {
	turned := *f
	turned.args = []*batch.Vector{f.args[1], f.args[0]}
	return locate(&turned)
}

func substringIndex(f *frame) valueFunc {
	out, texts, parts, counts := f.out, f.args[0], f.args[1], f.args[2].I64
	return func(i int) bool {
		text, part, n := texts.BytesAt(i), parts.BytesAt(i), counts[i]
		if len(part) == 0 || n == 0 {
			return true
		}
		from, to := 0, len(text)
		if n > 0 {
			for at := 0; n > 0; n-- {
				next := bytes.Index(text[at:], part)
				if next < 0 {
					to = len(text)
					break
				}
				to = at + next
				at = to + len(part)
			}
		} else {
			for end := len(text); n < 0; n++ {
				end = bytes.LastIndex(text[:end], part)
				if end < 0 {
					from = 0
					break
				}
				from = end + len(part)
			}
		}
		out.Bytes = append(out.Bytes, text[from:to]...)
		return true
	}
}

func strcmp(f *frame) valueFunc {
	out, l, r := f.out.I8, f.args[0], f.args[1]
	return func(i int) bool {
		out[i] = int8(bytes.Compare(l.BytesAt(i), r.BytesAt(i)))
		return true
	}
}

func padTo(name string, before bool) func(*frame) valueFunc {
	return func(f *frame) valueFunc {
		out, texts, lengths, pads := f.out, f.args[0], f.args[1].I64, f.args[2]
		return func(i int) bool {
			text, with, n := texts.BytesAt(i), pads.BytesAt(i), lengths[i]
			if n < 0 {
				return false
			}
			rest := n - int64(chars(text))
			if rest <= 0 {
				out.Bytes = append(out.Bytes, text[:skip(text, n)]...)
				return true
			}
			if n > maxPacket/utf8.UTFMax {
				f.found.warn(tooLong(name))
				return false
			}
			if len(with) == 0 {
				return true
			}
			if !before {
				out.Bytes = append(out.Bytes, text...)
			}
			for width := int64(chars(with)); rest >= width; rest -= width {
				out.Bytes = append(out.Bytes, with...)
			}
			out.Bytes = append(out.Bytes, with[:skip(with, rest)]...)
			if before {
				out.Bytes = append(out.Bytes, text...)
			}
			return true
		}
	}
}

func repeat(f *frame) valueFunc {
	out, texts, counts := f.out, f.args[0], f.args[1].I64
	return func(i int) bool {
		text, n := texts.BytesAt(i), counts[i]
		if n <= 0 || len(text) == 0 {
			return true
		}
		if n > maxPacket/int64(len(text)) {
			f.found.warn(tooLong("repeat"))
			return false
		}
		for range n {
			out.Bytes = append(out.Bytes, text...)
		}
		return true
	}
}

func insert(f *frame) valueFunc {
	out, texts, froms, lengths, others := f.out, f.args[0], f.args[1].I64, f.args[2].I64, f.args[3]
	return func(i int) bool {
		text, from, n := texts.BytesAt(i), froms[i], lengths[i]
		if from < 1 || from > int64(chars(text)) {
			out.Bytes = append(out.Bytes, text...)
			return true
		}
		begin := skip(text, from-1)
		rest := text[begin:]
		if n >= 0 {
			rest = rest[skip(rest, n):]
		} else {
			rest = nil
		}
		out.Bytes = append(append(append(out.Bytes, text[:begin]...), others.BytesAt(i)...), rest...)
		return true
	}
}

func ascii(f *frame) valueFunc {
	out, in := f.out.I16, f.args[0]
	return func(i int) bool {
		out[i] = 0
		if text := in.BytesAt(i); len(text) > 0 {
			out[i] = int16(text[0])
		}
		return true
	}
}

func ord(f *frame) valueFunc {
	out, in := f.out.I64, f.args[0]
	return func(i int) bool {
		text := in.BytesAt(i)
		out[i] = 0
		for _, b := range text[:skip(text, 1)] {
			out[i] = out[i]<<8 | int64(b)
		}
		return true
	}
}
