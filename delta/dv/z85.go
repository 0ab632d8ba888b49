package dv

import (
	"errors"
	"fmt"
	"math"
)

// z85 is ZeroMQ's alphabet of 85 digits (RFC 32). Five of them are four bytes, the most significant first.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85Digits has, for each character, its value plus one; 0: not a digit.
var z85Digits = func() (digits [256]byte) {
	for i := range len(z85) {
		digits[z85[i]] = byte(i + 1)
	}
	return digits
}()

// appendZ85 encodes data, whose length is a multiple of 4.
func appendZ85(dst []byte, data []byte) []byte {
	for ; len(data) >= 4; data = data[4:] {
		n := uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3])
		for div := uint32(85 * 85 * 85 * 85); div > 0; div /= 85 {
			dst = append(dst, z85[n/div%85])
		}
	}
	return dst
}

// paddingDigit in front of a group says that the group is padded: as the highest digit it would be more than four bytes hold.
const paddingDigit = '#'

// decodeZ85 decodes size bytes. Where size is no multiple of 4, the last group is padded in one of two ways: Spark fills
// up with zero bytes behind the data; others write the bytes that are left as one number, with paddingDigit in front.
func decodeZ85(text string, size int) ([]byte, error) {
	if len(text)%5 != 0 || len(text)/5 != (size+3)/4 {
		return nil, fmt.Errorf("%d characters of Z85 are not %d bytes", len(text), size)
	}
	out := make([]byte, 0, size+3)
	for ; len(text) > 0; text = text[5:] {
		group, left := text[:5], size-len(out)
		if group[0] == paddingDigit && left < 4 {
			return appendPadded(out, group, left)
		}
		n, err := z85Number(group)
		if err != nil {
			return nil, err
		}
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return out[:size], nil
}

// appendPadded decodes the last group, which is left bytes as one number: 1 byte has three padding digits, 3 bytes have one.
func appendPadded(dst []byte, group string, left int) ([]byte, error) {
	padding := 4 - left
	for i := range padding {
		if group[i] != paddingDigit {
			return nil, fmt.Errorf("the group %q of Z85 is not padded for %d bytes", group, left)
		}
	}
	n, err := z85Number(group[padding:])
	if err != nil {
		return nil, err
	}
	if n >= 1<<(8*left) {
		return nil, fmt.Errorf("the group %q of Z85 is more than %d bytes", group, left)
	}
	for shift := 8 * (left - 1); shift >= 0; shift -= 8 {
		dst = append(dst, byte(n>>shift))
	}
	return dst, nil
}

func z85Number(digits string) (uint32, error) {
	var n uint64
	for i := range len(digits) {
		d := z85Digits[digits[i]]
		if d == 0 {
			return 0, fmt.Errorf("%q is not a digit of Z85", digits[i])
		}
		n = n*85 + uint64(d-1)
	}
	if n > math.MaxUint32 {
		return 0, errors.New("a group of Z85 is more than four bytes")
	}
	return uint32(n), nil
}
