// Package avro turns values of Avro's binary encoding, as messages carry them, into columns. It reads no files of Avro and writes nothing.
//
// A Schema is the JSON by which the values were written; nothing in a value tells it. The columns are those that Spark's from_avro gives:
//
//	boolean, int, long, float, double   BOOLEAN, INT, BIGINT, FLOAT, DOUBLE
//	string, enum                        STRING
//	bytes, fixed                        BINARY
//	record, array, map                  STRUCT, ARRAY, MAP<STRING, ...>
//	null                                VOID
//	[null, T]                           T
//	[int, long], [float, double]        BIGINT, DOUBLE
//	another union                       STRUCT<member0, member1, ...>, one of which is not NULL; null counts for none
//	decimal (bytes, fixed)              DECIMAL
//	date (int)                          DATE
//	timestamp-millis, -micros (long)    TIMESTAMP
//	local-timestamp-millis, -micros     TIMESTAMP_NTZ
//
// Other logical types are what they are made of. The fields of a record at the top are columns, and anything else there is one column, value. Each column and field may be
// NULL, as it is where from_avro is PERMISSIVE.
//
// A value is read whole or not at all: one that ends early, has bytes behind its end, or holds what its type has not, is malformed. What a value can make a reader
// allocate is bounded by its length.
package avro
