// Package text reads files as Spark's format text does: a row a line, or a row a file, in one column. Bytes that are no UTF-8 become U+FFFD and
// are reported.
package text
