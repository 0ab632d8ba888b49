package sqlext

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// What an expression's values are, as far as that decides whether both systems do the same with them. A type that is not told has "".
const (
	sparkText    = "string"
	sparkWhole   = "integer" // of any width
	sparkDec     = "decimal"
	sparkFloat   = "double"
	sparkBool    = "boolean"
	sparkDate    = "date"
	sparkTime    = "timestamp"
	sparkBytes   = "binary"
	sparkNothing = "null"
)

// sparkClass is what a column of one of Spark's types has.
func sparkClass(typ string) string {
	name, _, _ := strings.Cut(strings.ToLower(typ), "(")
	switch name {
	case "byte", "tinyint", "short", "smallint", "int", "integer", "long", "bigint":
		return sparkWhole
	case "float", "double":
		return sparkFloat
	case "decimal", "string", "boolean", "date", "binary", "timestamp":
		return name
	}
	return ""
}

// Each method below writes an expression and returns its class.

func (w *sparkWriter) expr(e sqlparser.Expr) string {
	switch e := e.(type) {
	case *sqlparser.SQLVal:
		return w.literal(e)
	case *sqlparser.NullVal:
		w.put("NULL")
		return sparkNothing
	case sqlparser.BoolVal:
		w.put(map[bool]string{true: "TRUE", false: "FALSE"}[bool(e)])
		return sparkBool
	case *sqlparser.ColName:
		return w.column(e)
	case *sqlparser.ParenExpr:
		w.put("(")
		class := w.expr(e.Expr)
		w.put(")")
		return class
	case *sqlparser.AndExpr:
		return w.condition("AND", e.Left, e.Right)
	case *sqlparser.OrExpr:
		return w.condition("OR", e.Left, e.Right)
	case *sqlparser.NotExpr:
		w.put("NOT (")
		w.expr(e.Expr)
		w.put(")")
		return sparkBool
	case *sqlparser.IsExpr:
		w.put("(")
		w.expr(e.Expr)
		w.put(") ", strings.ToUpper(e.Operator))
		return sparkBool
	case *sqlparser.ComparisonExpr:
		return w.comparison(e)
	case *sqlparser.RangeCond:
		w.expr(e.Left)
		w.put(" ", strings.ToUpper(e.Operator), " ")
		w.expr(e.From)
		w.put(" AND ")
		w.expr(e.To)
		return sparkBool
	case sqlparser.ValTuple:
		w.put("(")
		w.list(sqlparser.Exprs(e))
		w.put(")")
		return ""
	case *sqlparser.UnaryExpr:
		return w.unary(e)
	case *sqlparser.BinaryExpr:
		return w.arithmetic(e)
	case *sqlparser.CaseExpr:
		return w.caseOf(e)
	case *sqlparser.ConvertExpr:
		return w.cast(e)
	case *sqlparser.FuncExpr:
		return w.call(e)
	case *sqlparser.SubstrExpr:
		return w.substring(e)
	case *sqlparser.TrimExpr:
		return w.trim(e)
	}
	w.refuse("%s", sqlparser.String(e))
	return ""
}

func (w *sparkWriter) list(exprs sqlparser.Exprs) (classes []string) {
	for i, e := range exprs {
		if i > 0 {
			w.put(", ")
		}
		classes = append(classes, w.expr(e))
	}
	return classes
}

func (w *sparkWriter) literal(v *sqlparser.SQLVal) string {
	text := string(v.Val)
	switch v.Type {
	case sqlparser.StrVal:
		w.put("'", strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text), "'")
		return sparkText
	case sqlparser.IntVal:
		w.put(text)
		return sparkWhole
	case sqlparser.FloatVal:
		w.put(text)
		if strings.ContainsAny(text, "eE") {
			return sparkFloat
		}
		return sparkDec
	case sqlparser.HexVal:
		w.put("X'", text, "'")
		return sparkBytes
	}
	w.refuse("the literal %s", sqlparser.String(v))
	return ""
}

// sparkLiterals are the texts of DATE and TIMESTAMP '...' that Spark takes as MySQL does.
var sparkLiterals = map[string]*regexp.Regexp{
	"DATE":      regexp.MustCompile(`^\d{4}-\d\d-\d\d$`),
	"TIMESTAMP": regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$`),
}

func (w *sparkWriter) typedLiteral(args sqlparser.Exprs) string {
	word, text := strings.ToUpper(string(args[0].(*sqlparser.SQLVal).Val)), string(args[1].(*sqlparser.SQLVal).Val)
	if form := sparkLiterals[word]; form == nil || !form.MatchString(text) {
		w.refuse("the literal %s '%s'", word, text)
		return ""
	}
	w.put(word, " '", text, "'")
	return map[string]string{"DATE": sparkDate, "TIMESTAMP": sparkTime}[word]
}

func (w *sparkWriter) column(c *sqlparser.ColName) string {
	var path []string
	for _, part := range []string{c.Qualifier.DbQualifier.String(), c.Qualifier.Name.String(), c.Name.String()} {
		if part != "" {
			path = append(path, SparkName(part))
		}
	}
	w.put(strings.Join(path, "."))
	if strings.EqualFold(c.Qualifier.Name.String(), "_metadata") {
		switch strings.ToLower(c.Name.String()) {
		case "file_path", "file_name":
			return sparkText
		case "file_modification_time":
			return sparkTime
		}
		return sparkWhole
	}
	return w.classes[strings.ToLower(c.Name.String())]
}

func (w *sparkWriter) condition(op string, left, right sqlparser.Expr) string {
	for i, side := range []sqlparser.Expr{left, right} {
		if i > 0 {
			w.put(" ", op, " ")
		}
		w.put("(")
		if class := w.expr(side); class != sparkBool && class != sparkNothing && class != "" {
			w.refuse("%s as a condition: write %s <> 0", sqlparser.String(side), sqlparser.String(side))
		}
		w.put(")")
	}
	return sparkBool
}

var sparkComparisons = []string{"=", "<", ">", "<=", ">=", "!=", "<=>", "in", "not in", "like", "not like"}

func (w *sparkWriter) comparison(e *sqlparser.ComparisonExpr) string {
	if !slices.Contains(sparkComparisons, e.Operator) {
		w.refuse("%s", strings.ToUpper(e.Operator))
	}
	left := w.expr(e.Left)
	w.put(" ", strings.ToUpper(e.Operator), " ")
	right := w.expr(e.Right)
	if strings.HasSuffix(e.Operator, "like") {
		w.wantText("LIKE", left, right)
		if e.Escape != nil {
			w.put(" ESCAPE ")
			w.expr(e.Escape)
		}
	}
	return sparkBool
}

// wantText refuses values whose texts differ between the systems.
func (w *sparkWriter) wantText(of string, classes ...string) {
	for _, class := range classes {
		if class != sparkText && class != sparkWhole && class != sparkNothing {
			w.refuse("%s of a value that is not known to be a text or a whole number", of)
		}
	}
}

func (w *sparkWriter) unary(e *sqlparser.UnaryExpr) string {
	switch e.Operator {
	case sqlparser.UMinusStr, sqlparser.UPlusStr:
		w.put(e.Operator, "(")
		class := w.expr(e.Expr)
		w.put(")")
		w.wantNumber(e.Operator, class)
		return class
	case sqlparser.BangStr:
		w.put("NOT (")
		w.expr(e.Expr)
		w.put(")")
		return sparkBool
	}
	w.refuse("%s", sqlparser.String(e))
	return ""
}

func (w *sparkWriter) wantNumber(of string, classes ...string) {
	for _, class := range classes {
		if class != sparkWhole && class != sparkDec && class != sparkFloat && class != sparkNothing {
			w.refuse("%s of a value that is not known to be a number", of)
		}
	}
}

// arithmetic writes +, - and *. MySQL's division is one of decimals with four more digits, and Spark's is not.
func (w *sparkWriter) arithmetic(e *sqlparser.BinaryExpr) string {
	if e.Operator != sqlparser.PlusStr && e.Operator != sqlparser.MinusStr && e.Operator != sqlparser.MultStr {
		w.refuse("the operator %s", e.Operator)
	}
	w.put("(")
	left := w.expr(e.Left)
	w.put(" ", e.Operator, " ")
	right := w.expr(e.Right)
	w.put(")")
	w.wantNumber(e.Operator, left, right)
	return widest(left, right)
}

func widest(classes ...string) string {
	for _, class := range []string{sparkFloat, sparkDec, sparkWhole} {
		if slices.Contains(classes, class) {
			return class
		}
	}
	return sparkNothing
}

// alike is the class of a value that is one of several; they are refused where that is not one class.
func (w *sparkWriter) alike(of string, classes ...string) string {
	out := sparkNothing
	for _, class := range classes {
		switch {
		case class == sparkNothing:
		case out == sparkNothing:
			out = class
		case class != out:
			w.refuse("%s with values of several types: CAST them to one", of)
		}
	}
	return out
}

func (w *sparkWriter) caseOf(e *sqlparser.CaseExpr) string {
	w.put("CASE")
	if e.Expr != nil {
		w.put(" ")
		w.expr(e.Expr)
	}
	var classes []string
	for _, when := range e.Whens {
		w.put(" WHEN ")
		w.expr(when.Cond)
		w.put(" THEN ")
		classes = append(classes, w.expr(when.Val))
	}
	if e.Else != nil {
		w.put(" ELSE ")
		classes = append(classes, w.expr(e.Else))
	}
	w.put(" END")
	return w.alike("CASE", classes...)
}

// cast writes the casts that give the same: of texts to anything, and of others where no rounding and no text of a number is at stake.
func (w *sparkWriter) cast(e *sqlparser.ConvertExpr) string {
	var from string
	inner := w.aside(func() { from = w.expr(e.Expr) })
	var to, class string
	var of []string
	switch strings.ToLower(e.Type.Type) {
	case "signed", "signed integer":
		to, class, of = "BIGINT", sparkWhole, []string{sparkText, sparkWhole, sparkBool}
	case "char", "nchar":
		to, class, of = "STRING", sparkText, []string{sparkText, sparkWhole, sparkDate, sparkBytes}
	case "decimal":
		to, class, of = "DECIMAL("+sizeOf(e.Type.Length, "10")+","+sizeOf(e.Type.Scale, "0")+")", sparkDec, []string{sparkText, sparkWhole, sparkDec}
	case "double", "real":
		to, class, of = "DOUBLE", sparkFloat, []string{sparkText, sparkWhole, sparkDec, sparkFloat}
	case "date":
		to, class, of = "DATE", sparkDate, []string{sparkText, sparkDate, sparkTime}
	case "datetime":
		if sizeOf(e.Type.Length, "0") == "6" {
			to, class, of = "TIMESTAMP", sparkTime, []string{sparkText, sparkDate, sparkTime}
		}
	}
	if to == "STRING" && e.Type.Length != nil || !slices.Contains(append(of, sparkNothing), from) {
		w.refuse("%s (of a value that is not known to convert alike)", sqlparser.String(e))
		return class
	}
	word, err := w.names.Cast(from)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.put(word, "(", inner, " AS ", to, ")")
	return class
}

func sizeOf(v *sqlparser.SQLVal, otherwise string) string {
	if v == nil {
		return otherwise
	}
	return string(v.Val)
}

// sparkFunction is a function that both have: how Spark calls it, what it wants and what it gives.
type sparkFunction struct{ name, wants, gives string }

// Values that functions want.
const (
	wantsTexts   = "texts"
	wantsNumbers = "numbers without fractions that are binary"
	wantsTimes   = "dates"
)

var sparkFunctions = map[string]sparkFunction{
	"concat": {"concat", wantsTexts, sparkText}, "upper": {"upper", wantsTexts, sparkText}, "ucase": {"upper", wantsTexts, sparkText},
	"lower": {"lower", wantsTexts, sparkText}, "lcase": {"lower", wantsTexts, sparkText}, "ltrim": {"ltrim", wantsTexts, sparkText},
	"rtrim": {"rtrim", wantsTexts, sparkText}, "replace": {"replace", wantsTexts, sparkText}, "reverse": {"reverse", wantsTexts, sparkText},
	"left": {"left", wantsTexts, sparkText}, "right": {"right", wantsTexts, sparkText}, "concat_ws": {"concat_ws", wantsTexts, sparkText},
	"md5": {"md5", wantsTexts, sparkText}, "length": {"octet_length", wantsTexts, sparkWhole}, "octet_length": {"octet_length", wantsTexts, sparkWhole},
	"char_length": {"char_length", wantsTexts, sparkWhole}, "character_length": {"char_length", wantsTexts, sparkWhole},
	"instr": {"instr", wantsTexts, sparkWhole}, "abs": {"abs", wantsNumbers, ""}, "round": {"round", wantsNumbers, ""}, "floor": {"floor", wantsNumbers, sparkWhole},
	"ceil": {"ceil", wantsNumbers, sparkWhole}, "ceiling": {"ceil", wantsNumbers, sparkWhole},
	"year": {"year", wantsTimes, sparkWhole}, "month": {"month", wantsTimes, sparkWhole}, "day": {"day", wantsTimes, sparkWhole},
	"dayofmonth": {"day", wantsTimes, sparkWhole}, "dayofweek": {"dayofweek", wantsTimes, sparkWhole}, "dayofyear": {"dayofyear", wantsTimes, sparkWhole},
	"weekday": {"weekday", wantsTimes, sparkWhole}, "quarter": {"quarter", wantsTimes, sparkWhole}, "hour": {"hour", wantsTimes, sparkWhole},
	"minute": {"minute", wantsTimes, sparkWhole}, "second": {"second", wantsTimes, sparkWhole}, "last_day": {"last_day", wantsTimes, sparkDate},
	"date": {"to_date", wantsTimes, sparkDate}, "datediff": {"datediff", wantsTimes, sparkWhole},
}

func (w *sparkWriter) call(f *sqlparser.FuncExpr) string {
	name := f.Name.Lowered()
	var args sqlparser.Exprs
	for _, a := range f.Exprs {
		plain, ok := a.(*sqlparser.AliasedExpr)
		if !ok {
			w.refuse("%s", sqlparser.String(f))
			return ""
		}
		args = append(args, plain.Expr)
	}
	fn, known := sparkFunctions[name]
	switch {
	case f.Over != nil || f.Distinct || !f.Qualifier.IsEmpty():
		w.refuse("%s", sqlparser.String(f))
		return ""
	case known:
		return w.known(fn, args)
	case name == LiteralFunction:
		return w.typedLiteral(args)
	case name == "now", name == "current_timestamp", name == "localtimestamp":
		return w.now(args)
	case name == "curdate", name == "current_date":
		w.put("current_date()")
		return sparkDate
	case name == "coalesce", name == "ifnull" && len(args) == 2:
		w.put("coalesce(")
		classes := w.list(args)
		w.put(")")
		return w.alike(name, classes...)
	case name == "nullif" && len(args) == 2:
		w.put("nullif(")
		classes := w.list(args)
		w.put(")")
		return w.alike(name, classes...)
	case name == "if" && len(args) == 3:
		w.put("if(")
		classes := w.list(args)
		w.put(")")
		return w.alike(name, classes[1:]...)
	}
	w.refuse("the function %s", name)
	return ""
}

func (w *sparkWriter) known(fn sparkFunction, args sqlparser.Exprs) string {
	w.put(fn.name, "(")
	classes := w.list(args)
	w.put(")")
	switch fn.wants {
	case wantsTexts:
		w.wantText(fn.name, classes...)
	case wantsNumbers:
		w.wantNumber(fn.name, classes...)
		if fn.name != "abs" && slices.Contains(classes, sparkFloat) {
			w.refuse("%s of a floating point number", fn.name)
		}
	default:
		for _, class := range classes {
			if class != sparkDate && class != sparkTime && class != sparkNothing {
				w.refuse("%s of a value that is not known to be a date or a time", fn.name)
			}
		}
	}
	if fn.gives == "" && len(classes) > 0 {
		return classes[0]
	}
	return fn.gives
}

// now is the batch's time, which MySQL cuts to whole seconds unless it is asked for more.
func (w *sparkWriter) now(args sqlparser.Exprs) string {
	switch {
	case len(args) == 0:
		w.put("date_trunc('SECOND', current_timestamp())")
	case len(args) == 1 && sqlparser.String(args[0]) == "6":
		w.put("current_timestamp()")
	default:
		w.refuse("the time with fewer than 6 digits of a second")
	}
	return sparkTime
}

// substring writes positions that count from one of the ends; 0 means nothing in MySQL and 1 in Spark.
func (w *sparkWriter) substring(e *sqlparser.SubstrExpr) string {
	w.put("substring(")
	var class string
	if e.Name != nil {
		class = w.expr(e.Name)
	} else {
		class = w.expr(e.StrVal)
	}
	w.wantText("SUBSTRING", class)
	w.put(", ")
	from, ok := e.From.(*sqlparser.SQLVal)
	if !ok || from.Type != sqlparser.IntVal || string(from.Val) == "0" {
		w.refuse("SUBSTRING from a position that is no number from 1 on")
	}
	w.expr(e.From)
	if e.To != nil {
		w.put(", ")
		w.expr(e.To)
	}
	w.put(")")
	return sparkText
}

func (w *sparkWriter) trim(e *sqlparser.TrimExpr) string {
	pattern, ok := e.Pattern.(*sqlparser.SQLVal)
	if !ok || len(pattern.Val) > 1 {
		w.refuse("TRIM of more than one character")
	}
	w.put("trim(", map[string]string{sqlparser.Leading: "LEADING ", sqlparser.Trailing: "TRAILING "}[e.Dir])
	if e.Dir != sqlparser.Leading && e.Dir != sqlparser.Trailing {
		w.put("BOTH ")
	}
	w.expr(e.Pattern)
	w.put(" FROM ")
	w.wantText("TRIM", w.expr(e.Str))
	w.put(")")
	return sparkText
}
