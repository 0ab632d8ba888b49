// Package differential proves that two executors give one answer: random queries over random tables run on batches (lakesql_vector = ON) and on
// go-mysql-server's rows (OFF) of one server, over the wire, and what the client sees is compared: columns, rows, error numbers and warnings.
//
// A query is a tree (query, sel, expr) that a generator draws from the rules in grammar_test.go; a difference is made smaller by
// leaving out of the tree whatever it does not need. LAKESQL_QUERIES says how many queries run, LAKESQL_SEED which;
// LAKESQL_QUERY runs one of that seed alone, by the number that a difference is told with.
// It holds nothing but tests.
package differential
