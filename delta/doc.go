// Package delta speaks the Delta Lake protocol: the log of one table, its snapshots, and commits to it.
//
// A Table is a handle on a folder. Table.Snapshot gives an immutable Snapshot: the newest version, read
// incrementally. Table.Begin starts a Transaction, whose Commit is optimistic: it writes the next version if the name is
// free, else checks what the winners did and tries the next one. A FileWriter writes the Parquet files that a transaction adds, a
// FileReader reads those of a snapshot. Table.Changes is the change data feed.
//
// What it guarantees:
//   - A snapshot is one version, whole. The protocol is checked before any data is touched; a feature that is not
//     built is refused by name (UnsupportedError), never ignored.
//   - A commit is in the log once or not at all, even when the outcome of the write was unknown.
//   - What the table holds is what the successful transactions make of it one after another, as far as they declare what
//     they depend on; down to single rows of a file.
//   - A commit costs the same after a million files as after ten: files live in an append-only, versioned structure
//     that all snapshots of a table share (fileLog).
//
// What it does not do: it evaluates no predicate, and leaves no goroutine running. Checkpoints and checksums of the log are written,
// and the log is cleaned up, when the owner calls Table.Maintain; docs/formats/log.md says how.
package delta
