// Package batch is the columnar batch that everybody passes: types, typed vectors in Arrow's layout, validity,
// dictionary codes and a selection. It knows nothing of files, tables or SQL.
package batch
