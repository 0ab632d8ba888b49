// Package csv turns CSV bytes into typed batches; it writes no CSV. Nothing is allocated for a field: one pass over the bytes
// finds the fields, and one over each column converts them.
//
// The dialect is Spark's (CSVOptions, UnivocityParser): the quote escape is a backslash unless the option says otherwise,
// blank lines vanish, an unquoted empty field is NULL, and a record that does not fit is handled by the mode. Where the
// package departs from Spark, the option or function says so.
//
// Reader reads one file against a schema. Infer looks at files and finds a schema. Memory is bounded by format.MaxRecordBytes
// however large the file is.
package csv
