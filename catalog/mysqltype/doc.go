// Package mysqltype maps Delta's types to MySQL's and back, and values of columns to values of rows.
//
// A row holds what GMS's types hold: int8 to int64, float32, float64, *apd.Decimal, time.Time in UTC, string, []byte, *Document, nil.
// A batch.Vector holds the same in columns; the two directions are exact inverses for every type that both sides have.
package mysqltype
