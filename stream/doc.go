// Package stream runs streams: SELECTs over growing sources whose rows go into Delta tables, every row exactly once.
//
// A Manager owns the streams of one catalog. Each stream has one goroutine, which runs one session after another: a session
// opens checkpoint, sources and target, finds out from them where the stream stands, and runs batches until its first
// error. Nothing that a session knows outlives it, so a retry is a restart, and a restart is what a crash needs.
//
// The streams of a manager share a pool of workers, fairly: see workers. A large batch has several of them, each with a part of the source's rows and data files of its own
// (write.go); what the sources tell of files and rows comes in the same order as for one. What the batches hold in memory until it is written is counted in one
// budget, the server's; where that is nearly used, they end their row groups early.
//
// # What a batch does
//
// Batch N, in this order. Each step is durable before the next begins; testdata/one_batch.txt has the writes themselves.
//
//  1. Verify: the checkpoint is there, with the id that the stream knows.
//  2. Latest: each source records its next range (sources/<i>/<M>, and what each file looks like).
//  3. offsets/N: the ends of the ranges, and the time that current_timestamp has in this batch.
//  4. The table's newest snapshot: its txn of this checkpoint's id must be N-1, and its id the one that the checkpoint is
//     bound to. This comes before anything about columns.
//  5. The ranges are read, through the SELECT, into data files that nothing refers to yet. Malformed rows are kept, and what the sources left out; dead letters are
//     committed to their table, with the same txn, unless that has it already.
//  6. One Delta commit: the files and txn(appId = the checkpoint's id, version = N), and for the first batch protocol and
//     metadata. A batch without rows is a commit, too.
//  7. The first batch binds the checkpoint to the table's id. commits/N.
//  8. What nobody waits for: results of each file, purging of offsets/ and commits/ below N-100, progress, upkeep.
//
// Until step 6 a stop or an error drops the batch whole; from the commit on it is finished.
//
// # Why every row is there exactly once
//
// Let N be the last id in offsets/, C the last in commits/, t the version of the table's txn of this checkpoint; -1 where
// there is none. position.decide is the whole rule:
//
//   - t = N: batch N is in the table. commits/N is written if a crash has kept it away, and N+1 is next.
//   - t = N-1 and C < N: batch N is recorded and not in the table. It is run over the same ranges, at the same time.
//   - t > N: the checkpoint is older than the table. Going on would skip what its new ranges hold: refused.
//   - Everything else: the table has lost batches, which no range covers any more: refused. So is C > N.
//
// The invariants behind it:
//
//  1. A file is in one range of the source log at the most, because the log is the set of what was seen, and in one at
//     the least, because what is not in the log is taken, whatever its age.
//  2. A range belongs to one batch: offsets/N is written once and never changed, and batch N begins where N-1 ended.
//  3. A batch is in the table once at the most: its commit carries txn N, and a commit that meets another one of the same
//     appId is a conflict that is never retried. Leases only save work: a process that was paused, and wakes up after
//     another one has taken over, loses here.
//  4. A batch is not left out: N+1 is recorded only after the table's txn was seen to be N.
//  5. A range read again gives the same rows: a file that is not as it was recorded is refused by name. (What was read
//     before the crash was not committed, so even another choice of rows would double nothing.)
//  6. A checkpoint and its table are one: another id of either one is refused. A checkpoint that is gone is never made
//     anew, because the store makes no missing root.
//
// # States and errors
//
// An *Error is what a retry cannot mend: the stream is FAILED with what was found and what to type. Every other error is
// RETRYING, for ever, with a capped exponential backoff that a success ends. STALLED is work that is due and not committed for too long, while an
// attempt hangs or all of them fail. It is found by whoever asks, because the stream's own goroutine may be what hangs. A panic is the stream's error.
package stream
