// Package files is sets of source files: which files a path or glob names, which of them are whole, what schema they
// have, and their rows as batches. read_files, COPY INTO and streams read through it.
//
// A Set lists: the listing is the truth. A Watcher only hints that a listing is worth while, and tells the set which
// files it saw being closed or renamed in; gate holds the rule that says when a file is whole. A folder with 100,000 known
// files costs one look at its change time while nothing in it changes, and else its names, never an inode a file.
//
// OpenFile reads one file, OpenParts one that several goroutines take apart. Either binds its columns or keys to a schema by name, and refuses a file that is not as it was
// listed, before and after its rows are given. InferSchema finds the schema of files.
//
// The package remembers no file from one run to the next: which files were read is the stream's business, in its
// checkpoint. Of the formats it reads CSV and JSON; the others are refused by name.
package files
