// Package interop tests lakesql together with real Spark and delta-rs. `make interop` makes their environment and runs it;
// without one the tests say so and are skipped.
package interop
