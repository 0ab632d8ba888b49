// Package store is where bytes live. Everything that lakesql reads or writes goes through its Store interface, so that a
// local folder, memory, a fault-injecting wrapper and later an object store are interchangeable.
package store
