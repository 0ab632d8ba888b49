// Package store is where bytes live. Everything that lakesql reads or writes goes through its Store interface, so that a
// local folder, memory, a fault-injecting wrapper and later an object store are interchangeable.
//
// Local is a folder, Memory behaves as Local does without a disk, Sub is a view of what lies below a prefix. What all of
// them promise stands at Store and is tested for each by storetest. Fence decides which paths a statement may reach;
// FileURI and ParseFileURI are the one place that turns paths into URIs and back.
//
// No store makes its own root, except MakeRoot when it is asked to: a checkpoint or a table that somebody deleted stays
// deleted. The package knows nothing of tables, logs or formats.
package store
