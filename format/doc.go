// Package format holds one package a file format; each turns bytes into batches and back: csv, parquet.
// They know nothing of tables, streams or SQL.
package format
