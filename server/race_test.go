//go:build race

package server

// bigResult is how many rows the largest result has: the race detector makes each row dear.
const bigResult = 300_000
