// Package csv turns CSV bytes into typed batches and back into nothing else: no per-field allocation, one pass over the
// bytes to find the fields and one over each column to convert them.
//
// The dialect is Spark's (CSVOptions, UnivocityParser): the quote escape is a backslash unless the option says otherwise,
// blank lines vanish, an unquoted empty field is NULL, and a record that does not fit is handled by the mode. Where the
// package departs from Spark, the option or function says so.
//
// Reader reads one file against a schema. Infer looks at files and finds a schema. Memory is bounded by MaxRecordBytes
// however large the file is.
package csv
