package files

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode/utf32"
)

// charsetOf finds a character set by its name in the IANA registry, or Java's Cp1252; nil: UTF-8.
func charsetOf(name string) (encoding.Encoding, error) {
	switch upper := strings.ToUpper(name); upper {
	case "UTF-8", "UTF8", "US-ASCII", "ASCII":
		return nil, nil
	case "UTF-32":
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM), nil
	case "UTF-32BE":
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), nil
	case "UTF-32LE":
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), nil
	default:
		if number, ok := strings.CutPrefix(upper, "CP125"); ok {
			name = "windows-125" + number
		}
	}
	found, err := ianaindex.IANA.Encoding(name)
	if err != nil {
		return nil, fmt.Errorf("there is no such character set; write its name as the IANA registry has it, such as UTF-8, ISO-8859-1, windows-1252, UTF-16LE or Shift_JIS")
	}
	if found == nil {
		return nil, notBuilt("the character set %s is not supported: convert the files, for example with iconv -f %s -t UTF-8", name, name)
	}
	return found, nil
}

// decode gives bytes of a character set as UTF-8. What is none of its characters becomes U+FFFD.
func decode(r io.Reader, charset encoding.Encoding) io.Reader {
	if charset == nil {
		return r
	}
	return charset.NewDecoder().Reader(r)
}
