// Package kafka is a source that reads topics of Kafka. It is Spark's of that name: the same options, columns and offsets, so that
// either one continues the other's checkpoint. Besides, it takes values apart: JSON, CSV and text become columns.
//
// An offset is {"topic":{"0":123,"1":456}}: of each partition the next record to read. The checkpoint owns them; no consumer group
// takes part. What the source begins with is in the checkpoint (sources/<i>/0) before the first range.
//
// A record never changes, so that a range gives the same rows each time it is read, or an error: records of it may have been
// deleted since, by retention or with their topic. Whether that ends the stream is failOnDataLoss.
//
// Memory is bounded by one answer of each broker (kafka.fetch.max.bytes, before its records are decompressed), of which the next
// is asked for while one is worked on.
package kafka
