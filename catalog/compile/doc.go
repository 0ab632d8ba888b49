// Package compile executes GMS's plans: what it can as a vector pipeline, the rest as GMS's rows over the same scans.
//
// Builder is GMS's PriorityBuilder: it is asked for every node of a plan before GMS builds it. A tree of joins, filters,
// projections, aliases, aggregations, sorts and limits over Sources becomes one pipeline when every expression compiles. Where a filter compiles in part, that part runs
// on batches, and is what files are skipped by; the rest runs on the rows that are left.
//
// Inner joins are put in an order of our own (joinOrder). A subquery of no outer query is executed once; one that refers to an outer query becomes a join
// where it can, and else the whole is left to the rows.
//
// Two executors, one answer: an expression compiles only when vector gives the value, and the type, that the row would
// have. GROUP BY is an aggregation on batches where its keys and arguments compile; else, by keys, it is always executed here (see groupBy).
package compile
