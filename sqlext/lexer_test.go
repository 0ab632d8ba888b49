package sqlext

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"
)

// vitessTokens returns the values of the tokens that vitess sees, and false where it gives up.
func vitessTokens(sql string) ([]string, bool) {
	var out []string
	tkn := sqlparser.NewStringTokenizer(sql)
	for {
		kind, val := tkn.Scan()
		switch kind {
		case 0:
			return out, true
		case sqlparser.LEX_ERROR:
			return out, false
		case sqlparser.COMMENT:
			continue
		case sqlparser.FOR_SYSTEM_TIME, sqlparser.FOR_VERSION, sqlparser.NOT_ENFORCED:
			out = append(out, strings.Fields(string(val))...)
		case sqlparser.VALUE_ARG:
			out = append(out, "?")
		case sqlparser.HEX, sqlparser.BIT_LITERAL:
			out = append(out, "bits "+string(val))
		default:
			if val == nil {
				out = append(out, operatorText(kind))
			} else {
				out = append(out, string(val))
			}
		}
	}
}

func operatorText(kind int) string {
	switch kind {
	case sqlparser.STRING, sqlparser.ID:
		return "" // an empty one has no value
	case sqlparser.AND:
		return "&&"
	case sqlparser.OR:
		return "||"
	case sqlparser.JSON_UNQUOTE_EXTRACT_OP:
		return "->>"
	case sqlparser.JSON_EXTRACT_OP:
		return "->"
	case sqlparser.NE:
		return "<>"
	case sqlparser.SHIFT_LEFT:
		return "<<"
	case sqlparser.SHIFT_RIGHT:
		return ">>"
	case sqlparser.NULL_SAFE_EQUAL:
		return "<=>"
	case sqlparser.LE:
		return "<="
	case sqlparser.GE:
		return ">="
	}
	return string(rune(kind))
}

func ourTokens(sql string) []string {
	var out []string
	for l := newLexer(sql); ; {
		t := l.next()
		switch {
		case t.kind == tokEOF:
			return out
		case t.kind == tokNumber && strings.HasSuffix(t.text, "'"):
			out = append(out, "bits "+t.text[2:len(t.text)-1])
		case t.punct("!="):
			out = append(out, "<>")
		default:
			out = append(out, t.text)
		}
	}
}

func TestLexerSeesWhatVitessSees(t *testing.T) {
	for _, sql := range []string{
		"SELECT a, `b``c`, 'it''s', \"x\\n\" FROM t WHERE a<=>1 AND b!=2 && c->>'$.x' || d>=1.5e-3",
		"CREATE /* c */ STREAM -- x\n s # y\n INTO t // z\n AS",
		"/*!80000 CREATE STREAM s */ INTO /*!50100 t */ x /*!123 plain */ /*! now */",
		"SELECT 'a' 'b'\n\"c\", x'4F', b'01', 0x1F, .5, 1., 12abc, @a, @@global.x, 'u'@'h', `u`@h",
		"a => b, a=>b, a <= > b, :=, ? , ?",
		"FOR VERSION AS OF 3, FOR SYSTEM_TIME AS OF 'x', FOR UPDATE, NOT ENFORCED, NOT NULL",
		"SELECT 1;SELECT 2;",
		"",
		"SELECT .5, a.b, a .c",
	} {
		want, ok := vitessTokens(sql)
		require.True(t, ok, sql)
		require.Equal(t, want, ourTokens(sql), sql)
	}
}

// TestNamesThatBeginWithDigits: the vitess parser tells its tokenizer that a name came before, a bare tokenizer does not know.
func TestNamesThatBeginWithDigits(t *testing.T) {
	require.Equal(t, []string{"db", ".", "2t", "a", ".", "5"}, ourTokens("db.2t `a`.5"))
}

// FuzzLexer holds the lexer to vitess where vitess finds no error, outside of what the two differ in on purpose.
func FuzzLexer(f *testing.F) {
	f.Add("SELECT a FROM `t` WHERE b = 'x' AND c => ? /*!80000 x */ -- y\n")
	f.Add("1.5e+3.4 0x 'a' \"b\" x'00' @@a.b'c' 12ab .5 a.5")
	f.Fuzz(func(t *testing.T, sql string) {
		covered := 0
		for l := newLexer(sql); ; {
			tok := l.next()
			require.GreaterOrEqual(t, tok.start, covered)
			require.GreaterOrEqual(t, tok.end, tok.start)
			covered = tok.end
			if tok.kind == tokEOF {
				break
			}
			require.Greater(t, tok.end, tok.start)
		}
		if strings.ContainsAny(sql, "$:@.\x00") || strings.Contains(sql, "/*!") || strings.Contains(sql, "/*M!") || !isASCII(sql) {
			return
		}
		if want, ok := vitessTokens(sql); ok {
			require.Equal(t, want, ourTokens(sql))
		}
	})
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
