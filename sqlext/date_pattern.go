package sqlext

import (
	"fmt"
	"strings"
)

// DatePart is a piece of a date pattern: a letter and how often it stands there, or a text that stands for itself.
type DatePart struct {
	Letter byte // 0: Text
	Count  int
	Text   string
}

// dateLetters are the letters of Java's date patterns that are supported, with the most that they may stand in a row.
var dateLetters = map[byte]int{
	'y': 4, 'M': 4, 'd': 2, 'D': 3, 'H': 2, 'h': 2, 'm': 2, 's': 2, 'S': 9, 'E': 4, 'a': 1, 'Q': 1, 'q': 1,
}

// ParseDatePattern reads a pattern of Java's DateTimeFormatter, which Spark's date_format takes.
func ParseDatePattern(pattern string) ([]DatePart, error) {
	if strings.Contains(pattern, "%") {
		return nil, fmt.Errorf("the pattern '%s' is MySQL's; a table's metadata speak Spark's SQL: 'yyyy-MM-dd HH:mm:ss'", pattern)
	}
	var out []DatePart
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			text, n, err := quotedPattern(pattern[i:])
			if err != nil {
				return nil, err
			}
			out = append(out, DatePart{Text: text})
			i += n
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if most, ok := dateLetters[c]; !ok || n > most || c == 'y' && n == 3 {
				return nil, fmt.Errorf("the letters '%s' of the pattern '%s' are not supported", pattern[i:i+n], pattern)
			}
			out = append(out, DatePart{Letter: c, Count: n})
			i += n
		default:
			out = append(out, DatePart{Text: pattern[i : i+1]})
			i++
		}
	}
	return out, nil
}

// quotedPattern reads 'text', in which two quotes are one; without text between them they are a quote.
func quotedPattern(pattern string) (text string, length int, err error) {
	for i := 1; i < len(pattern); i++ {
		switch {
		case pattern[i] != '\'':
			text += pattern[i : i+1]
		case i+1 < len(pattern) && pattern[i+1] == '\'' && i > 1:
			text += "'"
			i++
		case i == 1:
			return "'", 2, nil
		default:
			return text, i + 1, nil
		}
	}
	return "", 0, fmt.Errorf("the pattern %s has a quote without an end", pattern)
}
