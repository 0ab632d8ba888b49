// Package interop tests lakesql together with real Spark, delta-rs and DuckDB; docs/engines.md sums up what they do. `make interop`
// makes their environment and runs it; without one the tests say so and are skipped.
package interop
