// Package files is the file source of streams: each file of a folder or glob is read once, whatever its age or name.
//
// What is durable when:
//
//  1. A file that is whole is put into the source log (Spark's sources/<i>/<M>) and then pinned (size and time), before the
//     stream writes the offset {"logOffset":M}. From then on it belongs to that range.
//  2. A range is read from the log, not from a listing. A file that is not as it was pinned is refused by name.
//  3. What is in the log is never taken again; what is not is never skipped, however old it is or late it comes.
//
// What a listing has found waits in the backlog until ranges have taken it; while it waits only names are listed.
//
// An entry that no offset covers, which a crash between the two leaves, is the next range. The inferred schema is in the
// checkpoint before the first range is recorded.
package files
