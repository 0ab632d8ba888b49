// Package files is sets of source files: which files a path or glob names, which of them are whole, what schema they
// have, and their rows as batches. read_files, COPY INTO and streams read through it.
//
// A Set lists: the listing is the truth. A Watcher only hints that a listing is worth while, and tells the set which
// files it saw being closed or renamed in. OpenFile reads one file and refuses one that changed since it was listed.
package files
