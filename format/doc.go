// Package format holds one package a file format; each turns bytes into batches, and Parquet back: csv, json, parquet. They know
// nothing of tables, streams or SQL.
//
// What the text formats share stands here: malformed rows and what the mode does with them, numbers, dates and times by their
// patterns, and what the first bytes of a file may be.
package format
