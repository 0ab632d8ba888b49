// Package vector is the columnar executor: expressions that evaluate a whole batch at once, and operators that hand
// batches on. An Operator pulls batches from its children; a Scan reads the files of a delta.Snapshot and leaves out those
// that statistics prove empty for a filter. A Forker is read by several workers at once, which
// aggregations, sorts and the build sides of joins do. A join tells its probe's scan which keys there are (runtimeFilter). What a Budget has no room for is
// spilled. Window functions are computed for many whole partitions at once, which a sort below brings side by side.
//
// Results are MySQL's to the byte: three-valued logic, overflow is an error, DECIMAL is exact. What cannot be computed exactly
// here has no constructor that accepts it: constructors return an *UnsupportedError and the caller runs the rows instead.
// The package knows no SQL text and no session.
package vector
