// Package deltatable is a Delta table as the source of a stream: the rows of a snapshot, then those of each version after it. It is
// delta-spark's source: the same options, the same offsets, a checkpoint that either one continues.
//
// An offset names a version and the last file of it that was read. Files of the initial snapshot count from 0 by the time of their
// modification and then by their path, those of a commit in the order of its lines, as far as they bring rows (dataChange). The end of version v is
// written as v+1, index -1. What a range has follows from the table's log alone, so that it is read again as it was, while the log
// still has the versions and the folder the files; where that has ended, the error says which are gone.
//
// Durable besides, in the checkpoint's own part: the columns, and the version at which the stream began where the options say latest or a
// time. Without it, a crash before the first batch would begin later and lose what had come meanwhile.
package deltatable
