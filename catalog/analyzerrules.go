package catalog

import (
	"sync"

	"github.com/dolthub/go-mysql-server/sql/analyzer"
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
)

// installRules adds the rules that run for every kind of statement, once: GMS keeps those for the process. An analyzer has the rules of dates, and of
// every row, before all others too, because GMS computes what is constant in a filter; that reaches not every kind of statement.
var installRules = sync.OnceFunc(func() {
	analyzer.AlwaysBeforeDefault = append(analyzer.AlwaysBeforeDefault,
		analyzer.Rule{Id: overflowRule, Apply: checkOverflow},
		analyzer.Rule{Id: intervalRule, Apply: addIntervals},
		analyzer.Rule{Id: dateTextRule, Apply: writeDates},
		analyzer.Rule{Id: dateReadRule, Apply: readDates},
		analyzer.Rule{Id: nanOrderRule, Apply: orderNaN},
		analyzer.Rule{Id: everyRowRule, Apply: evaluateEveryRow},
		analyzer.Rule{Id: unionNumbersRule, Apply: uniteNumbers},
	)
})
