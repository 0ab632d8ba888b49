// Package parquet reads Parquet files into batches and writes batches to Parquet files. It is the one place where data files are read and written.
//
// A File is an open footer: schema, row groups, statistics. A Scanner reads wanted columns of it, page by page, and turns whatever the
// file holds into the wanted type: widened numbers, any physical form of a decimal, any unit of a timestamp, INT96. Strings keep the
// file's dictionary. A Cache keeps small Files open between scans. A Writer writes files that Spark, delta-rs and DuckDB
// read, and reports exact statistics.
//
// A damaged file gives an error that names the file and the column, never a panic. Columns are flat: a wanted column that is nested in the
// file is refused by name. Encrypted files are refused.
//
// Formats: the specification of apache/parquet-format (Encodings.md, LogicalTypes.md, parquet.thrift).
package parquet
