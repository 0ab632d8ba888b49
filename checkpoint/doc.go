// Package checkpoint reads and writes a stream's checkpoint exactly as Spark Structured Streaming does (log version 1), so that
// Spark can continue a stream of ours and we one of Spark's. docs/formats/checkpoint.md has every byte.
//
//	metadata            the query's id, which is the appId of the target table's txn action
//	offsets/<N>         OffsetLog: batch N will end at these offsets; written before the batch reads
//	commits/<N>         CommitLog: batch N is in the table
//	sources/<i>/<M>     SourceLog: the files that source i has seen, with a compact file every ten
//	_lakesql/           our own: Lease, Binding, schemas, FileLog, progress and error Rings, the marker of a reset
//
// CopyLog is no part of a checkpoint: it is COPY INTO's record in a table's own folder.
//
// What it guarantees:
//
//   - A file is published whole and durable, or not at all, and never changed afterwards (_lakesql/ has a few that are replaced).
//   - Of two processes that add the same batch, one gets Kind Concurrent.
//   - Open refuses what it cannot continue safely, with an Error that names the file, what was found, and what to type.
//   - A checkpoint that somebody deleted stays deleted: only Create makes its root.
//   - Reset is all or nothing: the next Open finishes one that was cut short.
//
// It knows no delta table and no stream. Whether a batch is in the table is the caller's question; see package stream.
package checkpoint
