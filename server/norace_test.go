//go:build !race

package server

// bigResult is how many rows the largest result has.
const bigResult = 3_000_000
