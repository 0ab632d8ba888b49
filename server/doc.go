// Package server is the two ports of lakesql: MySQL's protocol for statements, and HTTP for health, metrics and profiles.
//
// The MySQL protocol itself is vitess'; what stands in front of and behind it is ours:
//
//   - frontConn is the client's connection as vitess sees it. It hands each prepared statement's text to our parser instead of
//     vitess', answers what vitess does not know (session), can put an error where a result would have ended, and keeps the rows of cursors.
//   - socket has the deadlines of a connection, watch sees that a client leaves, inflater and deflater are the compressed protocol.
//   - handler runs the commands. It streams a result of any size through one small buffer, ends statements that were killed, ran
//     out of time or lost their client, and turns a panic into an error of that statement.
//   - rowPackets writes the rows of batches as packets of the text or binary protocol, without a Go value for each; pastRows takes them to the client past
//     vitess. Other rows go through vitess.
//   - errno.go is the one table from errors to MySQL's numbers and SQLSTATEs.
//
// A Server is made by New, which starts nothing; Serve runs it, Close ends it and waits. Who may log in is in logins, TLS in security, what
// is written down of both in audit.go; docs/security.md is what users are told. The HTTP port listens on loopback addresses only.
package server
