package delta

import "strings"

// mentions tells whether an identifier stands in a SQL text, outside of its strings.
func mentions(sql, name string) bool {
	for i := 0; i < len(sql); {
		switch c := sql[i]; {
		case c == '\'' || c == '"' || c == '`':
			end := i + 1
			for end < len(sql) && sql[end] != c {
				if sql[end] == '\\' && c != '`' {
					end++
				}
				end++
			}
			if c != '\'' && strings.EqualFold(sql[i+1:min(end, len(sql))], name) {
				return true
			}
			i = end + 1
		case isIdentifier(c):
			end := i
			for end < len(sql) && isIdentifier(sql[end]) {
				end++
			}
			if strings.EqualFold(sql[i:end], name) {
				return true
			}
			i = end
		default:
			i++
		}
	}
	return false
}

func isIdentifier(c byte) bool { return c == '_' || c >= 0x80 || isAlphanumeric(c) }
