package sqlext

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"github.com/stretchr/testify/require"

	"lakesql/integration/shared"
)

// TestGolden runs the files in testdata. The commands are
//
//	parse     what Parse makes of the input
//	rewrite   what Rewrite makes of it; "unchanged" when nothing, "vitess: ..." when vitess cannot parse the result
//	select    what ParseStreamSelect makes of it
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return goldenParse(d.Input)
			case "rewrite":
				return goldenRewrite(d.Input)
			case "select":
				return goldenSelect(d.Input)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func goldenParse(sql string) string {
	stmt, rest, ok, err := Parse(sql)
	if err != nil {
		return goldenError(err)
	}
	if !ok {
		return "not ours\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", reflect.TypeOf(stmt).Elem().Name())
	dump(&b, reflect.ValueOf(stmt).Elem(), "  ")
	if rest != "" {
		fmt.Fprintf(&b, "rest: %q\n", rest)
	}
	return b.String()
}

func goldenError(err error) string {
	return fmt.Sprintf("%s: %s\n", strings.TrimPrefix(fmt.Sprintf("%T", err), "*sqlext."), err)
}

func goldenRewrite(sql string) string {
	out, err := Rewrite(sql)
	if err != nil {
		return goldenError(err)
	}
	shown := out + "\n"
	if out == sql {
		shown = "unchanged\n"
	}
	if _, err := sqlparser.Parse(out); err != nil {
		if syntax, ok := FromVitess(err); ok {
			err = syntax
		}
		shown += "vitess: " + err.Error() + "\n"
	}
	return shown
}

func goldenSelect(sql string) string {
	out, sources, err := ParseStreamSelect(sql)
	if err != nil {
		return goldenError(err)
	}
	var b strings.Builder
	fmt.Fprintln(&b, out)
	for i, s := range sources {
		fmt.Fprintf(&b, "%d: %s", i, s.Function)
		if s.Function == "" {
			fmt.Fprintf(&b, "table %s", s.Table)
		}
		for _, a := range s.Args {
			fmt.Fprintf(&b, " %s", a)
		}
		for _, o := range s.Options {
			fmt.Fprintf(&b, " %s=>%s", o.Key, o.Value)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

// dump writes the fields that are not zero, one a line.
func dump(b *strings.Builder, v reflect.Value, indent string) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() == reflect.Pointer && !f.IsNil() {
			f = f.Elem()
		}
		if f.IsZero() {
			continue
		}
		switch x := f.Interface().(type) {
		case Value:
			if x.Kind == ParamValue {
				fmt.Fprintf(b, "%s%s: ?%d\n", indent, name, x.Param)
			} else if x != (Value{Param: -1}) {
				fmt.Fprintf(b, "%s%s: %s\n", indent, name, x)
			}
		case Name, time.Duration, bool, int, []string, map[string]string:
			fmt.Fprintf(b, "%s%s: %v\n", indent, name, x)
		case string:
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, strings.ReplaceAll(x, "\n", `\n`))
		case []Option:
			for _, o := range x {
				fmt.Fprintf(b, "%s%s: %s = %s\n", indent, name, o.Key, o.Value)
			}
		default:
			switch {
			case f.Kind() == reflect.Struct:
				fmt.Fprintf(b, "%s%s:\n", indent, name)
				dump(b, f, indent+"  ")
			case f.Type() == reflect.TypeFor[[]MergeClause](), f.Type() == reflect.TypeFor[[]MergeAssignment]():
				for j := range f.Len() {
					fmt.Fprintf(b, "%s%s[%d]:\n", indent, name, j)
					dump(b, f.Index(j), indent+"  ")
				}
			case f.Kind() == reflect.Slice && f.Type().Elem().Kind() != reflect.Slice:
				for j := range f.Len() {
					fmt.Fprintf(b, "%s%s: %s\n", indent, name, brief(f.Index(j)))
				}
			default:
				fmt.Fprintf(b, "%s%s: %v\n", indent, name, x)
			}
		}
	}
}

// brief is a value on one line, without the fields that are zero.
func brief(v reflect.Value) string {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case Value:
		return x.String()
	case Name, Option, []string, [][]string:
		return fmt.Sprint(x)
	}
	switch v.Kind() {
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, brief(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Struct:
		var parts []string
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Name+": "+brief(f))
			}
		}
		return strings.TrimPrefix(v.Type().String(), "sqlext.") + "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

func TestBind(t *testing.T) {
	out, err := Bind("SELECT ? FROM t WHERE a = '?' AND b = ? -- ?", []string{"1", "'x'"})
	require.NoError(t, err)
	require.Equal(t, "SELECT 1 FROM t WHERE a = '?' AND b = 'x' -- ?", out)
	_, err = Bind("SELECT ?", nil)
	require.ErrorContains(t, err, "more than the 0")
	_, err = Bind("SELECT ?", []string{"1", "2"})
	require.ErrorContains(t, err, "2 were given and the statement has 1")
}

func TestQuote(t *testing.T) {
	for name, want := range map[string]string{"a": "a", "a b": "`a b`", "a`b": "`a``b`", "select": "`select`", "1a": "`1a`", "": "``", "größe": "`größe`"} {
		require.Equal(t, want, QuoteName(name))
	}
	for _, text := range []string{"", "it's", `a\b`, "a\x00b", "\n\"é"} {
		require.Equal(t, text, newLexer(QuoteString(text)).next().text)
	}
}

func TestParseInterval(t *testing.T) {
	d, err := parseInterval("INTERVAL 1 hour 2 minutes")
	require.NoError(t, err)
	require.Equal(t, 62*time.Minute, d)
	for _, text := range []string{"", "10", "ten seconds", "-1 seconds", "1 fortnight", "9999999999999 days"} {
		_, err := parseInterval(text)
		require.ErrorContains(t, err, "interval", text)
	}
}

// metadataStatement says whether a statement is one about metadata that is MySQL's and that lakesql answers by itself.
func metadataStatement(stmt Statement) bool {
	switch stmt.(type) {
	case *ShowMetadata, *ShowProfile, *ExplainFormat, *Help:
		return true
	}
	return false
}

// TestClientsAreLeftAlone: what drivers and BI tools send is none of ours, but for some about metadata.
func TestClientsAreLeftAlone(t *testing.T) {
	text, err := os.ReadFile(shared.Path(t, "clients", "statements.txt"))
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		client, sql, _ := strings.Cut(line, "|")
		if client == "misc" { // not by a client, and some of it ours
			continue
		}
		stmt, _, ok, err := Parse(sql)
		require.NoError(t, err, sql)
		require.Equal(t, metadataStatement(stmt), ok, sql)
		out, err := Rewrite(sql)
		require.NoError(t, err, sql)
		require.Equal(t, sql, AsWritten(out)) // but for the backslashes of patterns
	}
}
