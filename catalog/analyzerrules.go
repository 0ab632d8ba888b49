package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// The ids of our rules among the analyzer's; GMS's own are small numbers.
const (
	nullabilityRule analyzer.RuleId = 10001 + iota
	overflowRule
	intervalRule
	dateTextRule
	dateReadRule
	nanOrderRule
	everyRowRule
	unionNumbersRule
	exactNumbersRule
	operandRule
	countKeysRule
	orderDistinctRule
	scalarRule
	joinOperandsRule
	memberRule
	collatedRule
	collatedMembersRule
	dateNumbersRule
	grantTablesRule
	concatRule
	globalsRule
	searchedCaseRule
	likeRule
	jsonTruthRule
	variablesRule
	betweenRule
	carriedRule
	convertRule
	textNumberRule
	resultRule
	unionTypesRule
	carriedColumnsRule
	trimRule
	jsonCastRule
	uniqueColumnsRule
)

// installRules adds the rules that run for every kind of statement, once: GMS keeps those for the process. An analyzer has the rules of the types of UNION, of dates, of
// every row, of COLLATE, of BETWEEN and of LIKE before all others too, because GMS computes what is constant in a filter; that reaches not every kind of statement.
var installRules = sync.OnceFunc(func() {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault,
		analyzer.Rule{Id: resultRule, Apply: describeResult}, // before expressions are others than those of the statement; an analyzer does so before its own rules too
		analyzer.Rule{Id: globalsRule, Apply: checkGlobals},
		analyzer.Rule{Id: uniqueColumnsRule, Apply: everywhere(uniqueColumns)},
		analyzer.Rule{Id: grantTablesRule, Apply: keepGrantTables},
		analyzer.Rule{Id: variablesRule, Apply: everywhere(typeVariables)},
		analyzer.Rule{Id: searchedCaseRule, Apply: everywhere(eachExpression(searchCases))},
		analyzer.Rule{Id: carriedRule, Apply: everywhere(eachExpression(carryCollations))},
		analyzer.Rule{Id: carriedColumnsRule, Apply: everywhere(carryColumns)}, // before columns learn the types of what they refer to
		analyzer.Rule{Id: unionTypesRule, Apply: everywhere(uniteTypes)},
		analyzer.Rule{Id: unionNumbersRule, Apply: everywhere(uniteNumbers)}, // before columns learn the types of what they refer to
		analyzer.Rule{Id: textNumberRule, Apply: everywhere(eachExpression(numberTexts))},
		analyzer.Rule{Id: dateNumbersRule, Apply: everywhere(eachExpression(numberDates))}, // before arithmetic is exact
		analyzer.Rule{Id: exactNumbersRule, Apply: exactNumbers},
		analyzer.Rule{Id: overflowRule, Apply: everywhere(eachExpression(checkOverflow))},
		analyzer.Rule{Id: intervalRule, Apply: everywhere(eachExpression(addIntervals))},
		analyzer.Rule{Id: concatRule, Apply: everywhere(eachExpression(concatGroups))},
		analyzer.Rule{Id: convertRule, Apply: everywhere(eachExpression(convertTexts))},
		analyzer.Rule{Id: trimRule, Apply: everywhere(eachExpression(trimBytes))},
		analyzer.Rule{Id: dateTextRule, Apply: everywhere(eachExpression(writeDates))},
		analyzer.Rule{Id: dateReadRule, Apply: everywhere(eachExpression(readDates))},
		analyzer.Rule{Id: orderDistinctRule, Apply: everywhere(orderDistinct)},
		analyzer.Rule{Id: nanOrderRule, Apply: everywhere(orderNaN)},
		analyzer.Rule{Id: everyRowRule, Apply: evaluateEveryRow},
		analyzer.Rule{Id: betweenRule, Apply: everywhere(eachExpression(computeBounds))},
		analyzer.Rule{Id: operandRule, Apply: everywhere(eachExpression(compareOperands))},
		analyzer.Rule{Id: countKeysRule, Apply: everywhere(eachExpression(countKeys))},
		analyzer.Rule{Id: scalarRule, Apply: keepScalars},
		analyzer.Rule{Id: collatedRule, Apply: everywhere(eachExpression(collateTexts))},
		analyzer.Rule{Id: likeRule, Apply: everywhere(eachExpression(likeTexts))},
		analyzer.Rule{Id: jsonTruthRule, Apply: everywhere(eachExpression(countTruths))},
		analyzer.Rule{Id: jsonCastRule, Apply: everywhere(eachExpression(castJSON))}, // behind what gives it dates and truths
		analyzer.Rule{Id: collatedMembersRule, Apply: everywhere(eachExpression(collateMembers))},
	)
	allowSubqueries()
	analyzer.OnceAfterDefault = append(analyzer.OnceAfterDefault, analyzer.Rule{Id: joinOperandsRule, Apply: joinOperands}) // where joins are planned
	analyzer.OnceAfterAll = append(analyzer.OnceAfterAll, analyzer.Rule{Id: memberRule, Apply: findMembers})                // behind what looks for IN (SELECT ...)
})

// everywhere applies a rule to subqueries too. GMS does so for some of them: not for those in a UNION.
func everywhere(rule analyzer.RuleFunc) analyzer.RuleFunc {
	var apply analyzer.RuleFunc
	apply = func(
		ctx *sql.Context, a *analyzer.Analyzer, n sql.Node, scope *plan.Scope, sel analyzer.RuleSelector, flags *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		n, same, err := rule(ctx, a, n, scope, sel, flags)
		if err != nil {
			return nil, same, err
		}
		out, unchanged, err := transform.NodeExprsWithOpaque(ctx, n, func(ctx *sql.Context, e sql.Expression) (sql.Expression, transform.TreeIdentity, error) {
			s, ok := e.(*plan.Subquery)
			if !ok {
				return e, transform.SameTree, nil
			}
			query, same, err := apply(ctx, a, s.Query, scope, sel, flags)
			if err != nil || same {
				return e, transform.SameTree, err
			}
			return s.WithQuery(query), transform.NewTree, nil
		})
		return out, same && unchanged, err
	}
	return apply
}

// eachExpression is a rule that changes expressions one by one.
func eachExpression(change transform.ExprFunc) analyzer.RuleFunc {
	return func(
		ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags,
	) (sql.Node, transform.TreeIdentity, error) {
		return transform.NodeExprsWithOpaque(ctx, n, change)
	}
}
