package catalog

import (
	"errors"
	"fmt"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/vector"
)

// syncIdentity moves the mark of an identity column to the farthest of its values that are in the table, where somebody has given values
// beyond it. The table's rows are read.
func (a *alteration) syncIdentity(f batch.Field, set func(*delta.Metadata, error) error) error {
	if !isIdentity(f) {
		return refuse(KindInvalid, "column %s is no identity column: it has no mark to SYNC", f.Name)
	}
	if a.t.snap.Schema().Index(f.Name) < 0 {
		return refuse(KindUnsupported, "SYNC IDENTITY of column %s, which this statement renames or adds, has to be a statement of its own", f.Name)
	}
	least, most, some, err := a.c.range64(a.ctx, a.t, f.Name)
	if err != nil || !some {
		return err
	}
	a.readsRows = true
	next, err := a.meta.SyncIdentity(f.Name, least, most)
	if err == nil && next == a.meta {
		return nil
	}
	return set(next, err)
}

// range64 reads the least and the greatest value of a column of type long; some is false when there is no value.
func (c *Catalog) range64(ctx *sql.Context, t *table, column string) (least, most int64, some bool, err error) {
	scan, err := vector.NewScan(t.handle, t.snap, []string{column}, nil)
	if err != nil {
		return 0, 0, false, err
	}
	scan.UseCache(c.dataFiles)
	for {
		b, err := scan.Next(ctx)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			if err = errors.Join(err, scan.Close()); err != nil {
				err = fmt.Errorf("read column %s of %s.%s: %w", column, t.database, t.name, err)
			}
			return least, most, some, err
		}
		v := b.Cols[0].Decode()
		for i := range b.Rows() {
			row := b.Row(i)
			if v.IsNull(row) {
				continue
			}
			n := v.I64[row]
			if !some {
				least, most, some = n, n, true
			}
			least, most = min(least, n), max(most, n)
		}
	}
}
