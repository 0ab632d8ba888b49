// Package stream runs streams: SELECTs over growing sources whose rows go into Delta tables, every row exactly once.
package stream
