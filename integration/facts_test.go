package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/integration/shared"
)

// The facts about the shared tables were written by DuckDB. This file brings what the server answers, and what it is to be compared with,
// to one form.

// column is a column of a shared table.
type column struct {
	name string
	typ  batch.Type
}

// columnsOf reads the text of a schema, "id long {metadata}, p struct<a:string>".
func columnsOf(facts shared.Table) ([]column, error) {
	var out []column
	for rest := facts.Schema; rest != ""; {
		var part string
		part, rest = cutTopLevel(rest)
		name, text, _ := strings.Cut(part, " ")
		text, _, _ = strings.Cut(text, " {")
		typ, err := batch.ParseType(text)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", name, err)
		}
		out = append(out, column{name, typ})
	}
	return out, nil
}

// cutTopLevel cuts a list at its first comma outside of brackets and quotes.
func cutTopLevel(list string) (first, rest string) {
	depth, quoted := 0, false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("<({[", c) >= 0:
			depth++
		case strings.IndexByte(">)}]", c) >= 0:
			depth--
		case c == ',' && depth == 0:
			return list[:i], strings.TrimSpace(list[i+1:])
		}
	}
	return list, ""
}

// columnFacts are the facts about one column, "" where the list has none.
type columnFacts struct{ name, nonNull, distinct, low, high, sum string }

var columnFactsForm = regexp.MustCompile(`(?s)^(.*?): nonnull=(\d+)(?: distinct=(\d+) min=(.*) max=(.*?)(?: sum=(\S+))?)?$`)

func columnFactsOf(text string) columnFacts {
	m := columnFactsForm.FindStringSubmatch(text)
	return columnFacts{m[1], m[2], m[3], m[4], m[5], m[6]}
}

// duckText brings a flat value of the server into DuckDB's form.
func duckText(t batch.Type, text string) string {
	switch t.Kind {
	case batch.Bool:
		return map[string]string{"0": "false", "1": "true"}[text]
	case batch.Timestamp:
		return trimZeros(text) + "+00"
	case batch.TimestampNTZ:
		return trimZeros(text)
	case batch.Binary:
		var out strings.Builder
		for _, b := range []byte(text) {
			if b >= ' ' && b <= '~' && b != '\\' {
				out.WriteByte(b)
			} else {
				fmt.Fprintf(&out, `\x%02X`, b)
			}
		}
		return out.String()
	case batch.Float32, batch.Float64: // the client has made a number of it, and DuckDB a DOUBLE
		f, err := strconv.ParseFloat(text, map[batch.Kind]int{batch.Float32: 32, batch.Float64: 64}[t.Kind])
		if err == nil {
			return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "+Inf", "Infinity", 1)
		}
	}
	return text
}

// trimZeros drops the zeros at the end of a second's fraction, and the point if nothing is left.
func trimZeros(timestamp string) string {
	if !strings.Contains(timestamp, ".") {
		return timestamp
	}
	return strings.TrimSuffix(strings.TrimRight(timestamp, "0"), ".")
}

var beforeChrist = regexp.MustCompile(`(\d+)(-\d\d-\d\d) \(BC\)`)

// plainYears replaces DuckDB's "10000-12-31 (BC)" by the year of the proleptic calendar, -9999-12-31.
func plainYears(text string) string {
	return beforeChrist.ReplaceAllStringFunc(text, func(s string) string {
		m := beforeChrist.FindStringSubmatch(s)
		year, _ := strconv.Atoi(m[1])
		if year == 1 {
			return "0000" + m[2]
		}
		return fmt.Sprintf("-%04d%s", year-1, m[2])
	})
}

// sameValue compares values of a type in DuckDB's form; floats as numbers.
func sameValue(t batch.Type, want, got string) bool {
	if t.Kind != batch.Float32 && t.Kind != batch.Float64 {
		return plainYears(want) == got
	}
	bits := map[batch.Kind]int{batch.Float32: 32, batch.Float64: 64}[t.Kind]
	w, err := strconv.ParseFloat(want, bits)
	g, err2 := strconv.ParseFloat(got, bits)
	return err == nil && err2 == nil && (w == g || math.IsNaN(w) && math.IsNaN(g))
}

// sameSum compares sums: exactly, but for the last digits of floats, which depend on the order of the additions.
func sameSum(t batch.Type, want, got string) bool {
	if t.Kind == batch.Float32 || t.Kind == batch.Float64 {
		w, err := strconv.ParseFloat(want, 64)
		g, err2 := strconv.ParseFloat(got, 64)
		return err == nil && err2 == nil && (math.Abs(w-g) <= 1e-12*math.Abs(w) || math.IsNaN(w) && math.IsNaN(g))
	}
	return sameNumber(want, got)
}

func sameNumber(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok && ok2 && x.Cmp(y) == 0
}

// rowJSON writes a row of the server as the list has it: decimals, dates and binaries as strings. What is null is in null.
func rowJSON(columns []column, row []string, null []bool) string {
	quote := func(s string) string {
		text, _ := json.Marshal(s) // of a string it cannot fail
		return string(text)
	}
	var out strings.Builder
	for i, c := range columns {
		out.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + quote(c.name) + ":")
		switch {
		case null[i]:
			out.WriteString("null")
		case c.typ.Fields() != nil: // JSON already
			out.WriteString(row[i])
		default:
			text := duckText(c.typ, row[i])
			switch c.typ.Kind {
			case batch.Bool, batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Float32, batch.Float64:
				if _, ok := new(big.Rat).SetString(text); ok || c.typ.Kind == batch.Bool {
					out.WriteString(text)
					continue
				}
			}
			out.WriteString(quote(text))
		}
	}
	return out.String() + "}"
}

var (
	notANumber   = regexp.MustCompile(`:(-?NaN|-?Infinity)\b`)
	rawVariant   = regexp.MustCompile(`"\{'value': (.*?), 'metadata': (.*?)\}"`)
	typedVariant = regexp.MustCompile(`"\{'id': (\d+), 'name': (\d+)\}"`)
)

// expectedRow makes an expected row comparable: NaN and Infinity as strings, and variants as the JSON that they hold, which
// DuckDB showed as what is in the file: two binaries, or shredded columns.
func expectedRow(text string) (string, error) {
	text = plainYears(notANumber.ReplaceAllString(text, `:"$1"`))
	text = typedVariant.ReplaceAllString(text, `{"id":$1,"name":"$2"}`)
	var failed error
	text = rawVariant.ReplaceAllStringFunc(text, func(s string) string {
		m := rawVariant.FindStringSubmatch(s)
		value, err := duckBytes(m[1])
		if err != nil {
			failed = err
		}
		metadata, err := duckBytes(m[2])
		if err != nil {
			failed = err
		}
		v := batch.NewVector(batch.Type{Kind: batch.Variant}, 1)
		v.Children[0].AppendBytes(metadata)
		v.Children[1].AppendBytes(value)
		v.EndRow()
		return string(v.AppendJSON(nil, 0))
	})
	if cut := strings.Index(text, `"{'value'`); cut >= 0 { // a variant that the list has cut short
		text = text[:cut]
	}
	return text, failed
}

// duckBytes reads DuckDB's text of a binary, inside a JSON string.
func duckBytes(text string) ([]byte, error) {
	var s string
	if err := json.Unmarshal([]byte(`"`+text+`"`), &s); err != nil {
		return nil, err
	}
	var out []byte
	for len(s) > 0 {
		if strings.HasPrefix(s, `\x`) && len(s) >= 4 {
			b, err := strconv.ParseUint(s[2:4], 16, 8)
			if err != nil {
				return nil, err
			}
			out, s = append(out, byte(b)), s[4:]
			continue
		}
		out, s = append(out, s[0]), s[1:]
	}
	return out, nil
}

// sameJSON compares two JSON texts, of which the first may be cut short, token by token: numbers as numbers, in keys too.
func sameJSON(want, got string) bool {
	tokens := tokensOf(want)
	if !json.Valid([]byte(want)) && len(tokens) > 0 {
		tokens = tokens[:len(tokens)-1] // the last one may be half a token
	}
	other := tokensOf(got)
	if len(other) < len(tokens) || json.Valid([]byte(want)) && len(other) != len(tokens) {
		return false
	}
	for i, w := range tokens {
		g := other[i]
		if w != g && !sameNumber(fmt.Sprint(w), fmt.Sprint(g)) {
			return false
		}
	}
	return true
}

func tokensOf(text string) []any {
	var out []any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return append(out, err.Error())
			}
			return out
		}
		out = append(out, token)
	}
}
