// Package checkpoint reads and writes a stream's checkpoint in Spark's format.
package checkpoint
