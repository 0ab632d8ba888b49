package catalog

import (
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/catalog/mysqltype"
	"lakesql/sqlext"
)

// variableFunctions are assignments to variables of the session amid a statement, and the values of variables in such a statement.
var variableFunctions = map[string]sql.Function{
	sqlext.AssignFunction: sql.FunctionN{Name: sqlext.AssignFunction, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		name, err := variableNamed(ctx, args, 3)
		if err != nil {
			return nil, err
		}
		return &assignVariable{expression.UnaryExpressionStub{Child: args[1]}, name}, nil
	}},
	sqlext.VariableFunction: sql.FunctionN{Name: sqlext.VariableFunction, Fn: func(ctx *sql.Context, args ...sql.Expression) (sql.Expression, error) {
		name, err := variableNamed(ctx, args, 1)
		if err != nil {
			return nil, err
		}
		t, _, err := ctx.GetUserVariable(ctx, name)
		if t == nil {
			t = types.Null
		}
		return &variableValue{name: name, typ: t}, err
	}},
}

func variableNamed(ctx *sql.Context, args []sql.Expression, n int) (string, error) {
	if len(args) == n {
		if text, ok := args[0].(*expression.Literal); ok {
			if written, ok := text.Value().(string); ok && strings.HasPrefix(written, "@") {
				return strings.ToLower(sqlext.VariableName(written)), nil
			}
		}
	}
	return "", sql.ErrFunctionNotFound.New(sqlext.AssignFunction)
}

// assignVariable is @name := value. It is computed for each row, in their order, and never on batches.
type assignVariable struct {
	expression.UnaryExpressionStub
	name string
}

var _ sql.NonDeterministicExpression = (*assignVariable)(nil)

// IsNonDeterministic has the engine compute it for each row.
func (*assignVariable) IsNonDeterministic() bool { return true }

// Eval assigns.
func (a *assignVariable) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	kept := mysqltype.WithText(v, a.Child.Type(ctx)) // a variable holds no dates
	return v, ctx.SetUserVariable(ctx, a.name, kept, types.ApproximateTypeFromValue(kept))
}

// Type is the value's.
func (a *assignVariable) Type(ctx *sql.Context) sql.Type { return a.Child.Type(ctx) }

// String is the assignment.
func (a *assignVariable) String() string { return fmt.Sprintf("@%s := %s", a.name, a.Child) }

// WithChildren is the assignment of another value.
func (a *assignVariable) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	return &assignVariable{expression.UnaryExpressionStub{Child: children[0]}, a.name}, nil
}

// variableValue is the value of a variable in a statement that assigns to variables, as of what is assigned to it there: GMS has the type of before the statement.
type variableValue struct {
	name string
	typ  sql.Type
}

var _ sql.NonDeterministicExpression = (*variableValue)(nil)

// IsNonDeterministic has the engine compute it for each row.
func (*variableValue) IsNonDeterministic() bool { return true }

// Eval is the value at this moment.
func (v *variableValue) Eval(ctx *sql.Context, _ sql.Row) (any, error) {
	_, value, err := ctx.GetUserVariable(ctx, v.name)
	if err != nil || value == nil || types.IsNullType(v.typ) {
		return value, err
	}
	converted, _, err := v.typ.Convert(ctx, value)
	return converted, err
}

// Type is that of what is assigned.
func (v *variableValue) Type(*sql.Context) sql.Type { return v.typ }

// IsNullable is true.
func (*variableValue) IsNullable(*sql.Context) bool { return true }

// Resolved is true.
func (*variableValue) Resolved() bool { return true }

// String is the variable.
func (v *variableValue) String() string { return "@" + v.name }

// Children are none.
func (*variableValue) Children() []sql.Expression { return nil }

// WithChildren is the same.
func (v *variableValue) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(v, len(children), 0)
	}
	return v, nil
}

// typeVariables gives the values of variables the types of what is assigned to them in the statement, and of what they were before. An assignment may be of
// the variable itself, so the types are found in two steps.
func typeVariables(
	ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
) (sql.Node, transform.TreeIdentity, error) {
	identity := transform.SameTree
	for range 2 {
		assigned := assignedTypes(ctx, n)
		if len(assigned) == 0 {
			break
		}
		typed, same, err := transform.NodeExprsWithOpaque(ctx, n, func(_ *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			v, ok := e.(*variableValue)
			if !ok || assigned[v.name] == nil {
				return e, transform.SameTree, nil
			}
			t := widest(types.GeneralizeTypes(v.typ, assigned[v.name]))
			if t.Equals(v.typ) {
				return e, transform.SameTree, nil
			}
			return &variableValue{name: v.name, typ: t}, transform.NewTree, nil
		})
		if err != nil || same {
			return n, identity, err
		}
		n, identity = typed, transform.NewTree
	}
	return n, identity, nil
}

func assignedTypes(ctx *sql.Context, n sql.Node) map[string]sql.Type {
	out := make(map[string]sql.Type)
	var inNode func(ctx *sql.Context, n sql.Node) bool
	inExpression := func(ctx *sql.Context, e sql.Expression) bool {
		switch e := e.(type) {
		case *plan.Subquery:
			transform.InspectWithOpaque(ctx, e.Query, inNode)
		case *assignVariable:
			if !e.Resolved() {
				break
			}
			t := e.Type(ctx)
			if before, ok := out[e.name]; ok {
				t = types.GeneralizeTypes(before, t)
			}
			out[e.name] = t
		}
		return false
	}
	inNode = func(ctx *sql.Context, n sql.Node) bool {
		if with, ok := n.(sql.Expressioner); ok {
			for _, e := range with.Expressions() {
				transform.InspectExpr(ctx, e, inExpression)
			}
		}
		return true
	}
	transform.InspectWithOpaque(ctx, n, inNode)
	return out
}

// widest is the type of a variable that has values of the type: what is assigned for one row may be longer than for another.
func widest(t sql.Type) sql.Type {
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t):
		return types.Int64
	case types.IsFloat(t):
		return types.Float64
	case types.IsDecimal(t):
		return types.InternalDecimalType // MySQL's, too
	case types.IsTextOnly(t):
		return types.LongText
	}
	return t
}
