// Package variant reads and writes the binary encoding of a variant, a value that brings its own type: two byte strings, the metadata (a
// dictionary of the field names) and the value. The encoding is that of Apache Parquet's VariantEncoding.md, version 1.
//
// Parse gives a Value, which is walked by Element and Field; nothing is copied. A Builder makes a variant from typed parts, and can go
// on from the metadata that a shredded variant keeps. Check proves that every byte of a variant from outside is sound. Reading never
// goes beyond the bytes that were given, whatever they hold.
//
// The package knows no text: what a variant looks like as JSON is the business of package batch.
package variant
