// Package rate is a source that makes rows by the clock: for demos and for load. It is Spark's of that name: columns timestamp and value,
// values counted from 0, a checkpoint that either one continues.
//
// The offset is how many seconds have passed since the source began, whose time is in the checkpoint (sources/<i>/0). The
// rows of a second follow from the options alone, so that a range gives the same rows each time it is read.
package rate
