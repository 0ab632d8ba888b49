// Package json turns JSON into typed batches; it writes none. A file has a document a line (JSON lines), or with MultiLine
// documents of any number of lines, one after the other or in an array. A record is an object; its keys are the columns.
//
// Two passes, neither of which allocates anything for a value. The first takes a block of records apart into a table of tokens: a row
// a record, a column for each column of the schema and each field of a struct, at any depth. It expects the keys in the order in
// which they came last, so that a key costs one comparison. The second pass converts column by column. A list or a map has
// one token in the first pass; the second takes those of a block apart into a table of elements, and converts that alike.
//
// The dialect is Spark's (JacksonParser, JsonInferSchema): a missing key is NULL, of a key that is there twice the last value
// counts, names of columns and fields differ by case, a value that is not of its column's type is NULL and makes its record a
// malformed one, for which the mode says what becomes of it. Departures: a record of a line must have nothing behind it; a record that
// is malformed takes none beside it along; inferred columns come in the order in which they are met.
//
// Reader reads one file against a schema. Infer looks at files and finds a schema. Memory is bounded by format.MaxRecordBytes
// however large the file is.
package json
