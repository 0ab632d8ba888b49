package main

import (
	"testing"

	"github.com/dolthub/go-mysql-server/enginetest"
)

// TestSuites runs each suite of GMS as a subtest.
func TestSuites(t *testing.T) {
	for _, s := range []struct {
		name string
		run  func(*testing.T, enginetest.Harness)
	}{
		{"Queries", enginetest.TestQueries},
		{"QueriesPrepared", enginetest.TestQueriesPrepared},
		{"JoinQueries", enginetest.TestJoinQueries},
		{"JoinQueriesPrepared", enginetest.TestJoinQueriesPrepared},
		{"LateralJoinQueries", enginetest.TestLateralJoinQueries},
		{"JSONTableQueries", enginetest.TestJSONTableQueries},
		{"ColumnAliases", enginetest.TestColumnAliases},
		{"DerivedTableOuterScopeVisibility", enginetest.TestDerivedTableOuterScopeVisibility},
		{"AmbiguousColumnResolution", enginetest.TestAmbiguousColumnResolution},
		{"OrderByGroupBy", enginetest.TestOrderByGroupBy},
		{"WindowFunctions", enginetest.TestWindowFunctions},
		{"WindowRowFrames", enginetest.TestWindowRowFrames},
		{"WindowRangeFrames", enginetest.TestWindowRangeFrames},
		{"NamedWindows", enginetest.TestNamedWindows},
		{"NaturalJoin", enginetest.TestNaturalJoin},
		{"NaturalJoinEqual", enginetest.TestNaturalJoinEqual},
		{"NaturalJoinDisjoint", enginetest.TestNaturalJoinDisjoint},
		{"InnerNestedInNaturalJoins", enginetest.TestInnerNestedInNaturalJoins},
		{"TupleQueries", enginetest.TestTupleQueries},
		{"TimeQueries", enginetest.TestTimeQueries},
		{"DateParse", enginetest.TestDateParse},
		{"Convert", enginetest.TestConvert},
		{"NullRanges", enginetest.TestNullRanges},
		{"NumericErrorScripts", enginetest.TestNumericErrorScripts},
		{"QueryErrors", enginetest.TestQueryErrors},
		{"Views", enginetest.TestViews},
		{"Variables", enginetest.TestVariables},
		{"SessionSelectLimit", enginetest.TestSessionSelectLimit},
		{"AnsiQuotesSqlMode", enginetest.TestAnsiQuotesSqlMode},
		{"CharsetCollationEngine", enginetest.TestCharsetCollationEngine},
		{"Scripts", enginetest.TestScripts},
		{"JsonScripts", func(t *testing.T, h enginetest.Harness) { enginetest.TestJsonScripts(t, h, nil) }},
	} {
		t.Run(s.name, func(t *testing.T) { s.run(t, newLake(t)) })
	}
}
