package catalog

import (
	"reflect"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// callIntervals writes date + INTERVAL and date - INTERVAL as DATE_ADD and DATE_SUB, which they are. GMS has the sum for a DATETIME, and tells that to all columns
// that refer to it.
func callIntervals(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		eachExpr(reflect.ValueOf(n), func(e ast.Expr) ast.Expr {
			if call := intervalCall(e); call != nil {
				return call
			}
			return e
		})
		return true, nil
	}, stmt)
}

// intervalCall is the call that a sum is; nil for any other expression.
func intervalCall(e ast.Expr) ast.Expr {
	sum, ok := e.(*ast.BinaryExpr)
	if !ok {
		return nil
	}
	date, interval := sum.Left, sum.Right
	if _, first := date.(*ast.IntervalExpr); first && sum.Operator == ast.PlusStr {
		date, interval = interval, date
	}
	_, ofDate := date.(*ast.IntervalExpr)
	_, by := interval.(*ast.IntervalExpr)
	name, known := map[string]string{ast.PlusStr: "date_add", ast.MinusStr: "date_sub"}[sum.Operator]
	if !by || ofDate || !known {
		return nil
	}
	return &ast.FuncExpr{Name: ast.NewColIdent(name), Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: date}, &ast.AliasedExpr{Expr: interval}}}
}

var exprType = reflect.TypeFor[ast.Expr]()

// eachExpr puts what change gives in the places of the expressions right below a node: its fields, or its elements where it is a list.
func eachExpr(node reflect.Value, change func(ast.Expr) ast.Expr) {
	for node.Kind() == reflect.Pointer && !node.IsNil() {
		node = node.Elem()
	}
	var places []reflect.Value
	switch node.Kind() {
	case reflect.Struct:
		for i := range node.NumField() {
			places = append(places, node.Field(i))
		}
	case reflect.Slice:
		for i := range node.Len() {
			places = append(places, node.Index(i))
		}
	}
	for _, p := range places {
		switch {
		case p.Type() == exprType && p.CanSet() && !p.IsNil():
			p.Set(reflect.ValueOf(change(p.Interface().(ast.Expr))))
		case p.Kind() == reflect.Slice && p.Type().Elem() == exprType:
			eachExpr(p, change)
		}
	}
}
