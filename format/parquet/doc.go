// Package parquet reads Parquet files into batches and writes batches to Parquet files. It is the one place where data files are read and written.
//
// A File is an open footer: schema, row groups, statistics, page indexes. A Scanner reads wanted columns of it, flat or nested, or
// parts of nested ones, page by page, and turns whatever the file holds into the wanted type: widened numbers, any physical form of a decimal,
// any unit of a timestamp, INT96, lists and maps of early writers, shredded variants. Strings keep the file's dictionary. A Cache keeps small
// Files open between scans. A Writer writes files that Spark, delta-rs and DuckDB read, and reports exact statistics.
//
// Reading goes from bytes to vectors in four steps, each a file or two: a chunk yields pages, decompressed (page.go, decompress.go); decoders read
// their levels and values in steps of a batch (hybrid.go, decode.go, delta.go); a leafReader turns one leaf's into levels and a dense vector of the
// wanted type (leaf.go, convert.go); a columnReader puts the leaves of a column together (resolve.go, column.go, variant.go).
//
// Writing goes the other way: the schema becomes a tree of nodes (write_schema.go); a batch is shredded down the tree into levels and the rows that have a
// value (write_node.go); a columnWriter makes pages of them, plain or with a dictionary (write_column.go, write_dict.go), and notes each page's place and
// bounds for the page indexes (write_index.go). A Writer holds one row group and says how much that is.
//
// A damaged file gives an error that names the file and the column, never a panic, and no page takes more memory than a batch of what it really
// holds. Encrypted files are refused.
//
// Formats: the specification of apache/parquet-format (Encodings.md, LogicalTypes.md, parquet.thrift).
package parquet
