// Package dv reads and writes deletion vectors: sets of rows of a data file that are deleted, though the file still has them.
//
// A Bitmap is such a set. A Descriptor says where a log keeps one: inside the log itself, or in a file that may hold many.
// Read follows a descriptor; a Writer makes a file. The formats are those of the Delta protocol, "Deletion Vector Format",
// read in both of the serializations that engines write and in both ways in which they pad inline vectors.
//
// What is read may be anything: it is checked as far as it can be, and never costs more memory than a constant times its
// size. The package knows no table and no store.
package dv
