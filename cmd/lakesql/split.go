package main

import "strings"

// piece is one statement of a text.
type piece struct {
	text     string // without the end mark, trimmed
	line     int    // of its first character, from 1
	vertical bool   // it ended in \G: one column a line
	complete bool   // it had an end mark
}

// split cuts a text into statements at `;`, `\g` and `\G`, which do not count in quotes and comments. Pieces of comments and
// blanks only are left out; the last piece may be incomplete.
func split(text string) []piece {
	var pieces []piece
	start, line, code := 0, 1, false
	add := func(end int, p piece) {
		if code {
			body := text[start:end]
			lead := len(body) - len(strings.TrimLeft(body, " \t\r\n"))
			p.text, p.line = strings.TrimSpace(body), line+strings.Count(body[:lead], "\n")
			pieces = append(pieces, p)
		}
	}
	for i := 0; i < len(text); {
		if n := skip(text[i:]); n > 0 {
			code = code || strings.IndexByte("'\"`", text[i]) >= 0 || strings.HasPrefix(text[i:], "/*!")
			i += n
			continue
		}
		mark, vertical := endMark(text[i:])
		if mark == 0 {
			code = code || strings.IndexByte(" \t\r\n", text[i]) < 0
			i++
			continue
		}
		add(i, piece{vertical: vertical, complete: true})
		i += mark
		line += strings.Count(text[start:i], "\n")
		start, code = i, false
	}
	add(len(text), piece{})
	return pieces
}

// endMark returns the length of the end mark that text begins with; 0: none.
func endMark(text string) (n int, vertical bool) {
	switch {
	case text[0] == ';':
		return 1, false
	case strings.HasPrefix(text, `\g`), strings.HasPrefix(text, `\G`):
		return 2, text[1] == 'G'
	}
	return 0, false
}

// skip returns the length of the quoted text or comment that text begins with; 0: neither. One that does not end takes the rest.
func skip(text string) int {
	switch {
	case text[0] == '\'' || text[0] == '"' || text[0] == '`':
		return quoted(text)
	case strings.HasPrefix(text, "/*"):
		return through(text, 2, "*/")
	case text[0] == '#', isDashComment(text):
		return through(text, 1, "\n")
	}
	return 0
}

// isDashComment: MySQL wants a blank behind the two dashes.
func isDashComment(text string) bool {
	return strings.HasPrefix(text, "--") && (len(text) == 2 || strings.IndexByte(" \t\r\n", text[2]) >= 0)
}

func through(text string, from int, end string) int {
	if i := strings.Index(text[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(text)
}

func quoted(text string) int {
	quote := text[0]
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == quote:
			return i + 1 // a doubled quote begins another quoted text at once, which is the same
		}
	}
	return len(text)
}
