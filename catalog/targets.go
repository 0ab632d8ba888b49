package catalog

import (
	"context"
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/delta"
	"lakesql/stream"
)

// targets opens the tables that streams write.
type targets struct{ c *Catalog }

var _ stream.Targets = targets{}

// Open finds the table, or the place for it.
func (t targets) Open(ctx context.Context, ref stream.TargetRef) (stream.Target, error) {
	if ref.Path != "" {
		if err := t.c.cfg.Fence.Check(ref.Path); err != nil {
			return stream.Target{}, err
		}
		if err := checkPlace(ref.Path); err != nil {
			return stream.Target{}, err
		}
		handle, err := t.c.tableAt(ref.Path)
		if err != nil {
			return stream.Target{}, err
		}
		return existing(ctx, handle, func(ctx context.Context) error { return makeRoot(ctx, handle.Store()) })
	}
	sqlCtx := t.c.background(ctx, ref.Database, "")
	database, err := t.c.databaseOf(sqlCtx, ref.Database)
	if err != nil {
		return stream.Target{}, err
	}
	s, err := t.c.ledger.read(ctx)
	if err != nil {
		return stream.Target{}, err
	}
	if _, ok := s.get(viewEntry, qualified(database, ref.Table)); ok {
		return stream.Target{}, refuse(KindInvalid, "%s is a view: a stream writes a table", ref)
	}
	p, ok, err := t.c.locate(sqlCtx, s, database, ref.Table)
	if err != nil {
		return stream.Target{}, err
	}
	if ok {
		return existing(ctx, p.table, func(ctx context.Context) error { return makeRoot(ctx, p.table.Store()) })
	}
	return t.place(sqlCtx, database, ref.Table)
}

// existing says whether the table has a log.
func existing(ctx context.Context, handle *delta.Table, create func(context.Context) error) (stream.Target, error) {
	_, err := handle.Snapshot(ctx)
	if errors.Is(err, delta.ErrNoTable) {
		return stream.Target{Table: handle, Create: create}, nil
	}
	if err != nil {
		return stream.Target{}, err
	}
	return stream.Target{Table: handle, Exists: true, Create: create}, nil
}

// place is where a new table goes.
func (t targets) place(ctx *sql.Context, database, name string) (stream.Target, error) {
	folder, err := t.c.freeFolder(ctx, database, name)
	if err != nil {
		return stream.Target{}, err
	}
	handle, err := t.c.managedAt(folder)
	if err != nil {
		return stream.Target{}, err
	}
	create := func(ctx context.Context) error {
		return t.c.createTarget(t.c.background(ctx, database, ""), database, name, handle, folder)
	}
	return stream.Target{Table: handle, Create: create}, nil
}
