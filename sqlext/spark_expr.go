package sqlext

import (
	"fmt"
	"strings"

	"github.com/dolthub/vitess/go/vt/sqlparser"
)

// sameInMySQL are the functions of Spark's that MySQL has under the same name, with the same meaning.
var sameInMySQL = wordSet(`abs acos asin atan atan2 ceil ceiling floor cos cot sin tan degrees radians exp ln log10 log2 pow power sqrt sign mod
	round pi concat concat_ws lower lcase upper ucase lpad rpad replace reverse repeat left right instr locate char_length
	character_length bit_length hex md5 sha1 sha sha2 crc32 space coalesce if ifnull nullif isnull year month day dayofmonth dayofweek dayofyear
	hour minute second quarter weekofyear weekday last_day datediff current_date curdate uuid current_user
	ltrim rtrim trim`)

// otherInMySQL are functions of Spark's that have another name here.
var otherInMySQL = map[string]string{
	"length": "char_length", "len": "char_length", "octet_length": "length", "nvl": "ifnull", "signum": "sign", "substring": SparkSubstring, "substr": SparkSubstring,
	"greatest": SparkGreatest, "least": SparkLeast, "date_trunc": SparkDateTrunc, "trunc": SparkTrunc, "add_months": SparkAddMonths,
}

// castFunctions are Spark's functions that are CASTs.
var castFunctions = map[string]string{
	"string": "string", "int": "int", "bigint": "bigint", "smallint": "smallint", "tinyint": "tinyint", "double": "double", "float": "float",
	"boolean": "boolean", "date": "date", "to_date": "date", "timestamp": "timestamp", "to_timestamp": "timestamp", "binary": "binary",
}

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// sparkMapper maps an expression that vitess has parsed. Its first error sticks.
type sparkMapper struct {
	text string
	err  error
}

func (m *sparkMapper) refuse(format string, args ...any) sqlparser.Expr {
	if m.err == nil {
		m.err = refuseSpark(m.text, fmt.Sprintf(format, args...))
	}
	return &sqlparser.NullVal{}
}

// expr returns the expression with the same value in MySQL. It changes e.
func (m *sparkMapper) expr(e sqlparser.Expr) sqlparser.Expr {
	switch e := e.(type) {
	case *sqlparser.SQLVal, *sqlparser.NullVal, sqlparser.BoolVal:
		return e
	case *sqlparser.ColName:
		return m.column(e)
	case *sqlparser.AndExpr:
		e.Left, e.Right = m.expr(e.Left), m.expr(e.Right)
	case *sqlparser.OrExpr:
		e.Left, e.Right = m.expr(e.Left), m.expr(e.Right)
	case *sqlparser.NotExpr:
		e.Expr = m.expr(e.Expr)
	case *sqlparser.ParenExpr:
		e.Expr = m.expr(e.Expr)
	case *sqlparser.IsExpr:
		e.Expr = m.expr(e.Expr)
	case *sqlparser.ComparisonExpr:
		e.Left, e.Right = m.expr(e.Left), m.expr(e.Right)
	case *sqlparser.RangeCond:
		e.Left, e.From, e.To = m.expr(e.Left), m.expr(e.From), m.expr(e.To)
	case sqlparser.ValTuple:
		for i := range e {
			e[i] = m.expr(e[i])
		}
	case *sqlparser.UnaryExpr:
		e.Expr = m.expr(e.Expr)
	case *sqlparser.BinaryExpr:
		return m.binary(e)
	case *sqlparser.CaseExpr:
		m.caseOf(e)
	case *sqlparser.ExtractFuncExpr:
		return m.extract(e)
	case *sqlparser.FuncExpr:
		return m.call(e)
	case *sqlparser.SubstrExpr:
		return m.substring(e)
	case *sqlparser.TrimExpr:
		e.Str = m.expr(e.Str)
		if e.Pattern != nil {
			e.Pattern = m.expr(e.Pattern)
		}
	default:
		return m.refuse("%s is not known to mean the same everywhere", sqlparser.String(e))
	}
	return e
}

// column names a column of a struct by the way to it.
func (m *sparkMapper) column(c *sqlparser.ColName) sqlparser.Expr {
	name := c.Name.String()
	for _, outer := range []string{c.Qualifier.Name.String(), c.Qualifier.DbQualifier.String()} {
		if outer != "" {
			name = outer + "." + name
		}
	}
	return sqlparser.NewColName(name)
}

// binary maps arithmetic. Spark's division is that of doubles, or of decimals; MySQL's rounds whole numbers to four digits.
func (m *sparkMapper) binary(e *sqlparser.BinaryExpr) sqlparser.Expr {
	if i, ok := e.Right.(*sqlparser.IntervalExpr); ok {
		return m.interval(e.Left, e.Operator, i)
	}
	if i, ok := e.Left.(*sqlparser.IntervalExpr); ok && e.Operator == sqlparser.PlusStr {
		return m.interval(e.Right, e.Operator, i)
	}
	left, right := m.expr(e.Left), m.expr(e.Right)
	if e.Operator == sqlparser.DivStr {
		return callOf(SparkDivide, left, right)
	}
	e.Left, e.Right = left, right
	return e
}

// intervalUnits are the units of an INTERVAL.
var intervalUnits = wordSet("year quarter month week day hour minute second millisecond microsecond")

// interval maps t + INTERVAL n unit and t - INTERVAL n unit.
func (m *sparkMapper) interval(of sqlparser.Expr, operator string, i *sqlparser.IntervalExpr) sqlparser.Expr {
	unit := strings.ToLower(i.Unit)
	if !intervalUnits[unit] || operator != sqlparser.PlusStr && operator != sqlparser.MinusStr {
		return m.refuse("%s with an INTERVAL of %s is not supported", operator, i.Unit)
	}
	n := m.expr(i.Expr)
	if operator == sqlparser.MinusStr {
		n = &sqlparser.UnaryExpr{Operator: sqlparser.UMinusStr, Expr: &sqlparser.ParenExpr{Expr: n}}
	}
	return callOf(SparkAddTime, m.expr(of), n, sqlparser.NewStrVal([]byte(unit)))
}

func (m *sparkMapper) caseOf(e *sqlparser.CaseExpr) {
	if e.Expr != nil {
		e.Expr = m.expr(e.Expr)
	}
	for _, w := range e.Whens {
		w.Cond, w.Val = m.expr(w.Cond), m.expr(w.Val)
	}
	if e.Else != nil {
		e.Else = m.expr(e.Else)
	}
}

// extract maps EXTRACT(unit FROM t) to the function of the unit's name.
func (m *sparkMapper) extract(e *sqlparser.ExtractFuncExpr) sqlparser.Expr {
	unit := strings.ToLower(e.Unit)
	switch unit {
	case "year", "quarter", "month", "day", "hour", "minute":
		return callOf(unit, m.expr(e.Expr))
	}
	return m.refuse("EXTRACT(%s FROM ...) is not supported", e.Unit)
}

func (m *sparkMapper) substring(e *sqlparser.SubstrExpr) sqlparser.Expr {
	var of sqlparser.Expr
	if e.Name != nil {
		of = e.Name
	} else {
		of = e.StrVal
	}
	args := []sqlparser.Expr{m.expr(of), m.expr(e.From)}
	if e.To != nil {
		args = append(args, m.expr(e.To))
	}
	return callOf(SparkSubstring, args...)
}

// call maps a function.
func (m *sparkMapper) call(f *sqlparser.FuncExpr) sqlparser.Expr {
	name := f.Name.Lowered()
	if f.Over != nil || f.Distinct || !f.Qualifier.IsEmpty() {
		return m.refuse("%s is not a function of one row", name)
	}
	var args []sqlparser.Expr
	for _, a := range f.Exprs {
		plain, ok := a.(*sqlparser.AliasedExpr)
		if !ok {
			return m.refuse("%s is not a function of one row", name)
		}
		args = append(args, m.expr(plain.Expr))
	}
	switch to, isCast := castFunctions[name]; {
	case name == SparkCast:
		return m.cast(args)
	case isCast && len(args) == 1:
		return callOf(SparkCast, args[0], sqlparser.NewStrVal([]byte(to)))
	case sameInMySQL[name]:
		return callOf(name, args...)
	case otherInMySQL[name] != "":
		return callOf(otherInMySQL[name], args...)
	}
	return m.rewritten(name, args)
}

// rewritten maps the functions that take other arguments here.
func (m *sparkMapper) rewritten(name string, args []sqlparser.Expr) sqlparser.Expr {
	switch {
	case name == "now", name == "current_timestamp", name == "localtimestamp":
		return callOf("now", sqlparser.NewIntVal([]byte("6")))
	case name == "date_format" && len(args) == 2:
		return m.dateFormat(args)
	case (name == "date_add" || name == "dateadd") && len(args) == 2:
		return callOf(SparkDateAdd, args...)
	case name == "date_sub" && len(args) == 2:
		return callOf(SparkDateAdd, args[0], &sqlparser.UnaryExpr{Operator: sqlparser.UMinusStr, Expr: &sqlparser.ParenExpr{Expr: args[1]}})
	case name == "isnotnull" && len(args) == 1:
		return &sqlparser.ParenExpr{Expr: &sqlparser.IsExpr{Operator: sqlparser.IsNotNullStr, Expr: args[0]}}
	case name == "nvl2" && len(args) == 3:
		return callOf("if", &sqlparser.IsExpr{Operator: sqlparser.IsNotNullStr, Expr: args[0]}, args[1], args[2])
	}
	return m.refuse("the function %s is not known to mean the same everywhere; CAST, arithmetic, comparisons and the common functions of texts, numbers and dates are", name)
}

// sparkCastTypes are the types that CAST takes, without their arguments.
var sparkCastTypes = wordSet("string int integer bigint long smallint short tinyint byte double float real boolean date timestamp timestamp_ntz timestamp_ltz binary decimal dec numeric")

func (m *sparkMapper) cast(args []sqlparser.Expr) sqlparser.Expr {
	if len(args) == 2 {
		to, ok := args[1].(*sqlparser.SQLVal)
		if name, _, _ := strings.Cut(string(valOf(to, ok)), "("); ok && sparkCastTypes[name] {
			return callOf(SparkCast, args...)
		}
		if ok {
			return m.refuse("CAST to %s is not supported", to.Val)
		}
	}
	return m.refuse("CAST wants a value and a type")
}

func valOf(v *sqlparser.SQLVal, ok bool) []byte {
	if !ok {
		return nil
	}
	return v.Val
}

// dateFormat checks the pattern, which is Java's.
func (m *sparkMapper) dateFormat(args []sqlparser.Expr) sqlparser.Expr {
	pattern, ok := args[1].(*sqlparser.SQLVal)
	if !ok || pattern.Type != sqlparser.StrVal {
		return m.refuse("the pattern of date_format must be a text")
	}
	if _, err := ParseDatePattern(string(pattern.Val)); err != nil {
		return m.refuse("%v", err)
	}
	return callOf(SparkDateFormat, args...)
}

func callOf(name string, args ...sqlparser.Expr) *sqlparser.FuncExpr {
	f := &sqlparser.FuncExpr{Name: sqlparser.NewColIdent(name)}
	for _, a := range args {
		f.Exprs = append(f.Exprs, &sqlparser.AliasedExpr{Expr: a})
	}
	return f
}
