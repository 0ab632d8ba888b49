// Package catalog is GMS's side of lakesql: the engine with its parser, databases, tables, sessions, statements and
// information_schema, all of them views on one warehouse of Delta tables.
//
// A Catalog owns the engine, the stream manager and the catalog table. What it knows comes from two places only, so that any number of
// servers and foreign writers may share one warehouse:
//
//   - the catalog table, a Delta table at <warehouse>/_lakesql/catalog (see entry): databases, external tables, tables in
//     folders of another name, views, streams, and tombstones of what was dropped;
//   - the folders: <warehouse>/<database>/<table>/_delta_log is a table unless a tombstone names its metaData.id.
//
// The database lake always exists; its tables lie in <warehouse>/lake. The database delta is virtual: its tables are paths.
//
// A statement reads each table at one version, pinned at its first lookup (see transaction). What it writes becomes one
// Delta commit a statement, or one a transaction.
//
// The package does not speak the wire protocol (package server), and maps no error to a number: typed errors of the
// layers below reach the server as they are.
package catalog
