package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var texts = []string{
	`{"a":1,"b":[true,false,null,{"c":"x\u00e9\n"}],"d":-1.5e+10}`, ` [ ] `, `{}`, `"\ud83d\ude00"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\u0041"`, `""`, `0`, `-0`, `01`, `1.`, `.5`, `-`, `1e`, `1e+`, `1E5`,
	`tru`, `nul`, `[1,]`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `"a` + "\n" + `"`, `"\x"`, `"\u12g4"`, `"abcdefghijklmnop\"qrstuvw"`, `NaN`, `Infinity`, `[1 2]`, `{"a":1 "b":2}`, `"unclosed`, `[`, `{`, `{"a"`, ``, `"` + "\xff" + `"`,
}

// valid says whether a text is one value and nothing else.
func valid(l Lexer, text []byte) bool {
	end := l.Value(text, Space(text, 0))
	return end >= 0 && Space(text, end) == len(text)
}

// FuzzValue: what encoding/json takes for JSON is taken, nothing else is, and strings stand for the same.
func FuzzValue(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := valid(Lexer{}, text)
		require.Equal(t, json.Valid(text), got, "%q", text)
		valid(Lexer{SingleQuotes: true, NonNumeric: true}, text)
		trimmed := bytes.TrimSpace(text)
		if !got || trimmed[0] != '"' || !utf8.Valid(text) {
			return
		}
		var want string
		require.NoError(t, json.Unmarshal(trimmed, &want))
		plain, _ := Unescape(nil, trimmed[1:len(trimmed)-1])
		require.Equal(t, want, string(plain))
	})
}

func TestLexerOptions(t *testing.T) {
	lax := Lexer{SingleQuotes: true, NonNumeric: true}
	for _, text := range []string{`{'a':'x"y'}`, `[NaN,Infinity,+Infinity,-Infinity,+INF,-INF]`, `{"a":'it is'}`} {
		require.True(t, valid(lax, []byte(text)), text)
		require.False(t, valid(Lexer{}, []byte(text)), text)
	}
	for _, text := range []string{`{'a":1}`, `NAN`, `+1`, `INF`, `-Inf`} {
		require.False(t, valid(lax, []byte(text)), text)
	}
}

func TestPositions(t *testing.T) {
	for text, want := range map[string]int{`{"a":x}`: 5, `{"a":1`: 6, `[1,2}`: 4, "\"ab\ncd\"": 3, `{"a" 1}`: 5, `"`: 1} {
		require.Equal(t, ^want, Lexer{}.Value([]byte(text), 0), text)
	}
	deep := []byte(strings.Repeat("[", MaxDepth+1))
	require.Equal(t, ^MaxDepth, Lexer{}.Value(deep, 0))
}

func TestClosing(t *testing.T) {
	require.Equal(t, 15, Lexer{}.Closing([]byte(`{"a}":[tru}, 1} x`), 0))
	require.Equal(t, ^5, Lexer{}.Closing([]byte(`{"a":`), 0))
}
