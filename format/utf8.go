package format

import "unicode/utf8"

// replacement stands for bytes that are no UTF-8.
const replacement = "\uFFFD"

// AppendUTF8 appends a text in which each sequence of bytes that is no character is one U+FFFD: as Java reads it, the longest beginning of a character, else one
// byte.
func AppendUTF8(dst, text []byte) []byte {
	for len(text) > 0 {
		n := 0
		for n < len(text) {
			r, size := utf8.DecodeRune(text[n:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			n += size
		}
		dst, text = append(dst, text[:n]...), text[n:]
		if len(text) > 0 {
			dst, text = append(dst, replacement...), text[begun(text):]
		}
	}
	return dst
}

// begun is how many bytes of a text that begins with no character are the beginning of one; at least 1.
func begun(text []byte) int {
	low, high, width := byte(0x80), byte(0xBF), 1
	switch c := text[0]; {
	case c >= 0xC2 && c <= 0xDF:
		width = 2
	case c >= 0xE0 && c <= 0xEF:
		width = 3
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		width = 4
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for n < min(width, len(text)) && text[n] >= low && text[n] <= high {
		low, high = 0x80, 0xBF
		n++
	}
	return n
}
