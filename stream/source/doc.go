// Package source says what a stream reads from. A Source names positions by offsets, which are JSON text that only the
// source itself understands, and reads the rows between two of them, as often as it is asked, always the same rows.
//
// What every source promises:
//
//  1. Latest makes the range durable before it returns its end: after a crash the same range can be read again.
//  2. Read of one range gives the same rows each time, or an error that names what changed. It never gives other rows.
//  3. Offsets never go backwards, and a row that was there when Latest looked is in some range, exactly one.
//
// The implementations are the packages below this one; sourcetest is the test that all of them pass.
package source
