// Package maintain keeps Delta tables in shape: it joins small files (Optimize, and Compact for what streams leave behind), deletes files
// that no version within retention needs (Vacuum), goes back to an old version (Restore), and makes tables of plain Parquet folders (Convert).
//
// What only moves rows commits with dataChange=false and conflicts with nobody but those who change the very files; such a loser drops
// those files from its work and commits the rest.
package maintain
