package csv

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"lakesql/batch"
	"lakesql/format"

	"github.com/stretchr/testify/require"
)

// schemaOf reads "a INT, b STRING".
func schemaOf(t testing.TB, text string) *batch.Schema {
	t.Helper()
	schema := &batch.Schema{}
	for _, col := range strings.Split(text, ", ") {
		name, typ, _ := strings.Cut(col, " ")
		parsed, err := batch.ParseType(typ)
		require.NoError(t, err)
		schema.Fields = append(schema.Fields, batch.Field{Name: name, Type: parsed, Nullable: true})
	}
	return schema
}

// result is what a reader gave: rows as texts with "|" between the columns, and the errors as "line column message".
type result struct {
	rows   []string
	errors []string
	raws   []string
	extra  []string
	err    error
}

func readAll(t testing.TB, in io.Reader, schema *batch.Schema, opts Options) (res result) {
	t.Helper()
	opts.OnError = func(e format.RowError) {
		res.errors = append(res.errors, strings.TrimSpace(strings.Join([]string{itoa(e.Line), e.Column, e.Message}, " ")))
		res.raws = append(res.raws, string(e.Raw))
	}
	r, err := NewReader(in, schema, opts)
	if err != nil {
		res.err = err
		return res
	}
	res.extra = r.Extra()
	for {
		b, err := r.Next()
		if err == io.EOF {
			return res
		}
		if err != nil {
			res.err = err
			return res
		}
		for i := range b.Rows() {
			row := b.Row(i)
			cells := make([]string, len(b.Cols))
			for c, v := range b.Cols {
				cells[c] = "NULL"
				if !v.IsNull(row) {
					cells[c] = v.Format(row)
				}
			}
			res.rows = append(res.rows, strings.Join(cells, "|"))
		}
	}
}

func itoa(n int64) string { return strings.TrimPrefix(columnName(int(n)), "_c") }

// TestReader holds Spark's rules, section by section of its options.
func TestReader(t *testing.T) {
	with := func(change func(*Options)) Options {
		o := DefaultOptions()
		o.Header = true
		if change != nil {
			change(&o)
		}
		return o
	}
	noHeader := func(o *Options) { o.Header = false }
	tests := []struct {
		name   string
		opts   Options
		schema string
		in     string
		rows   []string
		errors []string
	}{
		{"blank line before the header", with(nil), "id INT, name STRING", "\nid,name\n1,a\n", []string{"1|a"}, nil},
		{"blank lines of white space everywhere", with(nil), "id INT, name STRING", " \n\t \nid,name\n\n1,a\n   \n2,b\n\n", []string{"1|a", "2|b"}, nil},
		{"without header the header line is data", with(noHeader), "id STRING, name STRING", "\nid,name\n1,a\n", []string{"id|name", "1|a"}, nil},
		{"separators only are a row of nulls", with(nil), "a INT, b STRING, c INT", "a,b,c\n,,\n", []string{"NULL|NULL|NULL"}, nil},
		{"byte-order mark", with(nil), "id INT", "\xEF\xBB\xBFid\n7\n", []string{"7"}, nil},
		{"empty file", with(nil), "id INT", "", nil, nil},
		{"header only", with(nil), "id INT", "id", nil, nil},
		{"no final line end", with(nil), "id INT", "id\n7", []string{"7"}, nil},
		{"CR LF", with(nil), "a INT, b STRING", "a,b\r\n1,x\r\n\r\n2,y\r\n", []string{"1|x", "2|y"}, nil},
		{"CR", with(nil), "a INT, b STRING", "a,b\r1,x\r2,y", []string{"1|x", "2|y"}, nil},
		{"mixed line ends", with(nil), "a INT, b STRING", "a,b\r1,x\n2,y\r\n3,z\r", []string{"1|x", "2|y", "3|z"}, nil},
		{"columns by name, other order and case", with(nil), "id INT, name STRING", "NAME,Id\na,1\n", []string{"1|a"}, nil},
		{"missing column is null", with(nil), "id INT, name STRING", "id\n1\n", []string{"1|NULL"}, nil},
		{"by position", with(func(o *Options) { o.EnforceSchema = true }), "id INT, name STRING", "x,y\n1,a\n", []string{"1|a"}, nil},

		{"quoted separator", with(nil), "a STRING, b INT", "a,b\n\"x,y\",2\n", []string{"x,y|2"}, nil},
		{"quoted number", with(nil), "a INT, b INT", "a,b\n\"1\",\"2\"\n", []string{"1|2"}, nil},
		{"escaped quote", with(nil), "a STRING, b INT", "a,b\n\"x\\\"y\",2\n", []string{`x"y|2`}, nil},
		{"escaped escape", with(nil), "a STRING, b INT", "a,b\n\"x\\\\\",2\n", []string{`x\|2`}, nil},
		{"escape before another character stays", with(nil), "a STRING, b INT", "a,b\n\"x\\ny\",2\n", []string{`x\ny|2`}, nil},
		{"escape outside quotes stays", with(nil), "a STRING, b INT", "a,b\nx\\\"y,2\n", []string{`x\"y|2`}, nil},
		{"doubled quotes are not Spark's default", with(nil), "a STRING, b INT", "a,b\n\"x\"\"y\",2\n", []string{`"x""y"|2`}, nil},
		{"doubled quotes with escape '\"'", with(func(o *Options) { o.Escape = '"' }), "a STRING, b INT", "a,b\n\"x\"\"y\",2\n\"\"\"\",3\n", []string{`x"y|2`, `"|3`}, nil},
		{"white space behind the closing quote", with(nil), "a STRING, b INT", "a,b\n\"x\"  ,2\n", []string{"x|2"}, nil},
		{"text behind the closing quote", with(nil), "a STRING, b INT", "a,b\n\"x\" y,2\n", []string{`"x" y|2`}, nil},
		{"quote within an unquoted field", with(nil), "a STRING, b INT", "a,b\nx\"y\",2\n", []string{`x"y"|2`}, nil},
		{"no quoting", with(func(o *Options) { o.Quote = 0 }), "a STRING, b STRING", "a,b\n\"x,y\"\n", []string{`"x|y"`}, nil},
		{"unclosed quote ends with its line", with(nil), "a STRING, b INT", "a,b\n\"x,2\n3,4\n", []string{"x,2|NULL", "3|4"},
			[]string{"2  the record has 1 fields and the header has 2; a quote is not closed on its line: multiLine => true reads quoted texts over several lines"}},
		{"multiLine", with(func(o *Options) { o.MultiLine = true }), "a STRING, b INT", "\na,b\r\n\"x\r\ny\",2\n\n\"z\",3", []string{"x\r\ny|2", "z|3"}, nil},
		{"multiLine, blanks are a row", with(func(o *Options) { o.MultiLine = true }), "a STRING", "a\n  \n", []string{"  "}, nil},
		{"multiLine, unclosed quote", with(func(o *Options) { o.MultiLine = true }), "a STRING, b INT", "a,b\n\"x\ny,2\n", []string{"x\ny,2\n|NULL"}, []string{"2  the record has 1 fields and the header has 2"}},
		{"multiLine, line numbers", with(func(o *Options) { o.MultiLine = true }), "a INT", "a\n\"1\n2\"\nx\n", []string{"NULL", "NULL"},
			[]string{`2 a "1\n2" is no integer`, `4 a "x" is no integer`}},

		{"tab", with(func(o *Options) { o.Sep = "\t" }), "a INT, b INT", "a\tb\n1\t2\n", []string{"1|2"}, nil},
		{"separator of several characters", with(func(o *Options) { o.Sep = "||" }), "a STRING, b INT", "a||b\nx|y||2\n\"p||q\"||3\n", []string{"x|y|2", "p||q|3"}, nil},
		{"separator of several characters, multiLine", with(func(o *Options) { o.Sep = "::"; o.MultiLine = true }), "a STRING, b INT", "a::b\nx:y::2\n\"p\nq\"::3\n", []string{"x:y|2", "p\nq|3"}, nil},
		{"comments", with(func(o *Options) { o.Comment = '#' }), "a INT, b STRING", "#x\na,b\n#y\n1,#z\n", []string{"1|#z"}, nil},
		{"comments, multiLine", with(func(o *Options) { o.Comment = '#'; o.MultiLine = true }), "a INT", "#x\na\n#y\n1\n#z", []string{"1"}, nil},
		{"lineSep", with(func(o *Options) { o.LineSep = ";" }), "a INT, b STRING", "a,b;1,x\ny;2,z", []string{"1|x\ny", "2|z"}, nil},
		{"leading and trailing white space stays", with(nil), "a STRING", "a\n x \n", []string{" x "}, nil},
		{"ignoreLeadingWhiteSpace", with(func(o *Options) { o.IgnoreLeadingWhiteSpace = true }), "a STRING, b STRING", "a, b\n  x , \"y\"\n", []string{"x |y"}, nil},
		{"ignoreTrailingWhiteSpace", with(func(o *Options) { o.IgnoreTrailingWhiteSpace = true }), "a STRING, b STRING", "a,b\n x  ,  \n", []string{" x|NULL"}, nil},

		{"unquoted and quoted empty are null by default", with(nil), "a STRING, b STRING", "a,b\n,\"\"\n", []string{"NULL|NULL"}, nil},
		{"nullValue; quoted empty is a text then", with(func(o *Options) { o.NullValue = "NA" }), "a STRING, b STRING, c INT, d STRING", "a,b,c,d\n,\"\",NA,NA\n", []string{"NULL||NULL|NULL"}, nil},
		{"emptyValue", with(func(o *Options) { o.EmptyValue = "EMPTY" }), "a STRING, b STRING", "a,b\n,\"\"\n", []string{"NULL|EMPTY"}, nil},

		{"too few fields", with(nil), "a INT, b STRING, c INT", "a,b,c\n1,x\n2,y,3\n", []string{"1|x|NULL", "2|y|3"}, []string{"2  the record has 2 fields and the header has 3"}},
		{"too many fields", with(nil), "a INT, b STRING", "a,b\n1,x,9\n", []string{"1|x"}, []string{"2  the record has 3 fields and the header has 2"}},
		{"too many fields, by position", with(noHeader), "a INT, b STRING", "1,x,9\n", []string{"1|x"}, []string{"1  the record has 3 fields and the schema has 2"}},
		{"fields that do not convert", with(nil), "a INT, b DATE", "a,b\nx,2024-02-30\n2,2024-02-29\n", []string{"NULL|NULL", "2|2024-02-29"},
			[]string{`2 a "x" is no integer`, `2 b "2024-02-30" is no date`}},
		{"DROPMALFORMED", with(func(o *Options) { o.Mode = format.DropMalformed }), "a INT", "a\n1\nx\n3,4\n5\n", []string{"1", "5"}, []string{`3 a "x" is no integer`, "4  the record has 2 fields and the header has 1"}},
		{"DROPMALFORMED of all", with(func(o *Options) { o.Mode = format.DropMalformed }), "a INT", "a\nx\n3,4\n", nil, []string{`2 a "x" is no integer`, "3  the record has 2 fields and the header has 1"}},
		{"corrupt record", with(nil), "a INT, _corrupt_record STRING", "a\n1\nx\n", []string{"1|NULL", "NULL|x"}, []string{`3 a "x" is no integer`}},
		{"invalid UTF-8", with(nil), "a STRING, b STRING", "a,b\nx\xff,é\n", []string{"x\uFFFD|é"}, []string{`2 a "x\xff" is no UTF-8; such bytes are read as U+FFFD`}},

		{"integers", with(nil), "a TINYINT, b SMALLINT, c INT, d BIGINT", "a,b,c,d\n127,-32768,+5,9223372036854775807\n128,32768,2147483648,9223372036854775808\n 1,1 ,1.0,0x1\n",
			[]string{"127|-32768|5|9223372036854775807", "NULL|NULL|NULL|NULL", "NULL|NULL|NULL|NULL"},
			[]string{`3 a "128" does not fit into byte`, `3 b "32768" does not fit into short`, `3 c "2147483648" does not fit into integer`, `3 d "9223372036854775808" does not fit into long`,
				`4 a " 1" is no byte`, `4 b "1 " is no short`, `4 c "1.0" is no integer`, `4 d "0x1" is no long`}},
		{"floating point", with(nil), "a DOUBLE, b FLOAT", "a,b\n1.5,-2.25\nNaN,Inf\n 1e3 ,1e-2\n.5,5.\n1e999,-Inf\n", []string{"1.5|-2.25", "NaN|+Inf", "1000|0.01", "0.5|5", "+Inf|-Inf"}, nil},
		{"no floating point", with(nil), "a DOUBLE", "a\n1.5f\n.\n1e\n0x10\n1_000\n-\n", []string{"NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
			[]string{`2 a "1.5f" is no double`, `3 a "." is no double`, `4 a "1e" is no double`, `5 a "0x10" is no double`, `6 a "1_000" is no double`, `7 a "-" is no double`}},
		{"decimals", with(nil), "a DECIMAL(5,2), b DECIMAL(38,3)", "a,b\n1.5,12345678901234567890123456789012345.125\n-999.99,0\n1000,1\n1.005,1e2\n",
			[]string{"1.50|12345678901234567890123456789012345.125", "-999.99|0.000", "NULL|1.000", "1.01|100.000"}, []string{`4 a "1000" is no decimal(5,2)`}},
		{"booleans", with(nil), "a BOOLEAN", "a\ntrue\nFALSE\n1\n", []string{"true", "false", "NULL"}, []string{`4 a "1" is no boolean`}},
		{"timestamps", with(nil), "a TIMESTAMP, b TIMESTAMP_NTZ", "a,b\n2024-01-02T03:04:05.678901Z,2024-01-02 03:04:05\n2024-01-02 03:04:05+01:00,2024-01-02\n",
			[]string{"2024-01-02 03:04:05.678901|2024-01-02 03:04:05", "2024-01-02 02:04:05|2024-01-02 00:00:00"}, nil},
		{"date pattern", with(func(o *Options) { o.DateFormat = "dd/MM/yyyy" }), "a DATE", "a\n31/12/2024\n2024-12-31\n", []string{"2024-12-31", "NULL"}, []string{`3 a "2024-12-31" is no date by dateFormat 'dd/MM/yyyy'`}},
		{"timestamp pattern", with(func(o *Options) { o.TimestampFormat = "yyyyMMdd HHmmss[.SSS][ XXX]" }), "a TIMESTAMP", "a\n20240102 030405\n20240102 030405.5 +02:00\n", []string{"2024-01-02 03:04:05", "2024-01-02 01:04:05.500000"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema := schemaOf(t, tt.schema)
			for _, in := range []io.Reader{strings.NewReader(tt.in), iotest.OneByteReader(strings.NewReader(tt.in))} {
				got := readAll(t, in, schema, tt.opts)
				require.NoError(t, got.err)
				require.Equal(t, tt.rows, got.rows)
				var want []string
				for _, e := range tt.errors {
					want = append(want, strings.TrimSpace(e))
				}
				require.Equal(t, want, got.errors)
			}
		})
	}
}
