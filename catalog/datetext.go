package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/compile"
)

// writeDates puts a DateText around each date that an expression takes as a text. GMS makes a text of the value alone, in which a date looks
// like a time at midnight.
func writeDates(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
	if !slices.ContainsFunc(e.Children(), func(c sql.Expression) bool { return isDate(ctx, c) }) {
		return e, transform.SameTree, nil
	}
	switch e := e.(type) {
	case *expression.Case:
		return writeBranches(ctx, e)
	case *function.Coalesce:
		if dates := firstDate(ctx, e.Children()); dates != nil {
			return dates, transform.NewTree, nil
		}
	}
	if !takesText(ctx, e) {
		return e, transform.SameTree, nil
	}
	dateText := compile.NewDateText
	if isJSONCast(ctx, e) {
		dateText = compile.NewDateJSON
	}
	children := slices.Clone(e.Children())
	for i, c := range children {
		if isDate(ctx, c) && !takesDocument(e, i) {
			children[i] = dateText(c)
		}
	}
	out, err := e.WithChildren(ctx, children...)
	return out, transform.NewTree, err
}

// writeBranches are the values of a CASE that is a text. What it compares stays.
func writeBranches(ctx *sql.Context, c *expression.Case) (sql.Expression, transform.TreeIdentity, error) {
	if !types.IsText(c.Type(ctx)) {
		return c, transform.SameTree, nil
	}
	out := *c
	out.Branches = slices.Clone(c.Branches)
	for i, b := range out.Branches {
		if isDate(ctx, b.Value) {
			out.Branches[i].Value = compile.NewDateText(b.Value)
		}
	}
	if c.Else != nil && isDate(ctx, c.Else) {
		out.Else = compile.NewDateText(c.Else)
	}
	return &out, transform.NewTree, nil
}

// firstDate is COALESCE of dates and times, which is a time; GMS's is a text. nil where there is something else, or no need.
func firstDate(ctx *sql.Context, dates []sql.Expression) sql.Expression {
	mixed := false
	for _, d := range dates {
		if !isDate(ctx, d) {
			return nil
		}
		mixed = mixed || !d.Type(ctx).Equals(dates[0].Type(ctx))
	}
	if !mixed {
		return nil
	}
	out := dates[len(dates)-1]
	for _, d := range slices.Backward(dates[:len(dates)-1]) {
		out = function.NewIfNull(ctx, d, out)
	}
	return out
}

func isDate(ctx *sql.Context, e sql.Expression) bool {
	return e != nil && e.Resolved() && types.IsTime(e.Type(ctx))
}

// takesText tells whether an expression reads its operands, or those that are dates, as texts.
func takesText(ctx *sql.Context, e sql.Expression) bool {
	switch e := e.(type) {
	case *expression.Convert:
		return types.IsText(e.Type(ctx)) || types.IsJSON(e.Type(ctx))
	case *expression.Like, *expression.Binary, *expression.ConvertUsing:
		return true
	case sql.FunctionExpression:
		name := strings.ToLower(e.FunctionName())
		switch {
		case strings.HasPrefix(name, "json_"), strings.HasPrefix(name, "regexp_"), textFunctions[name]:
			return true
		case choosingFunctions[name]:
			return types.IsText(e.Type(ctx))
		}
	}
	return false
}

// isJSONCast tells whether an expression reads a text as JSON, so that a date must be a JSON string already.
func isJSONCast(ctx *sql.Context, e sql.Expression) bool {
	_, cast := e.(*expression.Convert)
	return cast && types.IsJSON(e.Type(ctx))
}

// takesDocument tells whether an operand is a document, which no date is: the function says so.
func takesDocument(e sql.Expression, operand int) bool {
	f, ok := e.(sql.FunctionExpression)
	return ok && operand < documents[strings.ToLower(f.FunctionName())]
}

// documents are how many of the first operands of MySQL's functions are documents.
var documents = map[string]int{
	"json_array_append": 1, "json_array_insert": 1, "json_contains": 2, "json_contains_path": 1, "json_depth": 1, "json_extract": 1, "json_insert": 1, "json_keys": 1,
	"json_length": 1, "json_overlaps": 2, "json_pretty": 1, "json_remove": 1, "json_replace": 1, "json_search": 1, "json_set": 1, "json_type": 1, "json_value": 1,
}

// textFunctions are the functions of texts, by GMS's names.
var textFunctions = map[string]bool{
	"ascii": true, "bit_length": true, "character_length": true, "char_length": true, "compress": true, "concat": true, "concat_ws": true, "crc32": true, "elt": true,
	"find_in_set": true, "from_base64": true, "group_concat": true, "hex": true, "insert": true, "instr": true, "jsonarray": true, "left": true, cutCharacters: true, "length": true, "locate": true,
	"lower": true, "lpad": true, "ltrim": true, "md5": true, "ord": true, "quote": true, "repeat": true, "replace": true, "reverse": true,
	"right": true, "rpad": true, "rtrim": true, "sha1": true, "sha2": true, "soundex": true, "str_to_date": true, "strcmp": true, "substring": true, "substring_index": true,
	"to_base64": true, "trim": true, "unhex": true, "upper": true,
}

// choosingFunctions give one of their operands, which is a text where one of them is.
var choosingFunctions = map[string]bool{"coalesce": true, "if": true, "ifnull": true}
