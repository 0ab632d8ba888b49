// Package sqlext is the grammar on top of MySQL's: what lakesql understands beyond what the vitess parser does.
//
// Parse recognises the statements that are ours alone (streams, Delta's DESCRIBE, CREATE TABLE with Spark's clauses) and
// returns one of the Statement types. Everything else belongs to vitess, after Rewrite has turned the expressions that
// vitess cannot read (named arguments, time travel) into ones that it can. ParseStreamSelect does the same for the
// SELECT of a stream and takes its streaming sources out of it.
//
// Guarantees: a statement that is not ours is not touched, byte for byte; Rewrite is idempotent; no input panics.
// Positions and line numbers in errors are those of the text as the user wrote it.
//
// The package has a lexer of its own, which sees the tokens that the vitess tokenizer sees (a test holds the two together) but
// knows where each begins and ends in the text; the vitess tokenizer joins, reads ahead and renumbers.
// It knows no table, no stream and no session: names are not resolved, options are not interpreted.
package sqlext
