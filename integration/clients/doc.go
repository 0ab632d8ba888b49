// Package clients tests lakesql with real MySQL clients of several languages: each logs in, browses, reads every type, binds parameters,
// fails and is cancelled, in a small program of its own language beside its test. `make interop` makes their environment and runs them; without
// one those tests say so and are skipped. What needs no more than Go runs in `make test`: go-sql-driver, the statements that tools are known to send
// (in ../shared), and the list of what clients rely on, T01 to T50.
package clients
