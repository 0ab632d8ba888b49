package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// compare tells how an answer differs from the peer's, "" where it does not. Numbers are the same where their texts are, or where they differ by
// less than the last digit that one of them shows: MySQL rounds quotients and averages of decimals where DuckDB makes them doubles. Each query
// of more than one row has an ORDER BY.
func compare(got, want result) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows instead of %d", len(got), len(want))
	}
	for n, row := range got {
		if !sameRow(row, want[n]) {
			return fmt.Sprintf("row %d is (%s) instead of (%s)", n+1, strings.Join(row, ", "), strings.Join(want[n], ", "))
		}
	}
	return ""
}

func sameRow(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && !sameNumber(a[i], b[i]) {
			return false
		}
	}
	return true
}

// sumError is how far sums of doubles may be from each other, relatively: they are added up in any order.
const sumError = 1e-9

func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(b, 64)
	if err != nil {
		return false
	}
	return math.Abs(x-y) <= max(sumError*max(math.Abs(x), math.Abs(y)), lastDigit(a), lastDigit(b))
}

// lastDigit is half of the unit of the last digit behind the point of a number, 0 where it has none, or an exponent, or as many as a double.
func lastDigit(number string) float64 {
	_, fraction, ok := strings.Cut(number, ".")
	if !ok || len(number) > 15 || strings.ContainsAny(fraction, "eE") {
		return 0
	}
	return 0.5000001 * math.Pow10(-len(fraction))
}
