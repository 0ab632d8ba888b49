package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape appends what the content of a valid string stands for. Half of a surrogate pair becomes U+FFFD, as in encoding/json, and
// whole is false.
func Unescape(dst, raw []byte) (out []byte, whole bool) {
	whole = true
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...), whole
		}
		dst = append(dst, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hexRune(raw)
			raw = raw[4:]
			if utf16.IsSurrogate(r) {
				var low rune
				if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
					low = hexRune(raw[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					raw = raw[6:]
				} else {
					whole = false
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

// hexRune reads four hexadecimal digits.
func hexRune(text []byte) (r rune) {
	for _, b := range text[:4] {
		r = r<<4 | rune(unhex(b))
	}
	return r
}

// unhex is the value of a hexadecimal digit; more than 15 where it is none.
func unhex(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}
