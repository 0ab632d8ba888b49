// Package integration tests lakesql end to end: the real binary in a process of its own, real clients over TCP, kill -9.
// It holds nothing but tests; integration/interop adds real Spark and delta-rs.
package integration
