package catalog

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"

	"lakesql/store"
	"lakesql/stream"
)

// Config says what a catalog works on.
type Config struct {
	Warehouse string           // absolute URI of the warehouse's folder; it is made when missing
	Open      store.Opener     // opens tables, checkpoints and source files by URI
	Fence     *store.Fence     // the paths that statements may name
	DataDir   string           // the server's own folder, which is not part of the lake
	Owner     string           // names this server in leases: host, process, start time
	Logger    *slog.Logger     // nil: discards
	Now       func() time.Time // nil: time.Now
}

// Catalog is one warehouse as a SQL engine. Open makes it, Start starts its streams, Close stops everything and waits.
type Catalog struct {
	cfg     Config
	root    store.Store
	engine  *sqle.Engine
	streams *stream.Manager

	closeOnce sync.Once
	closeErr  error
}

// Open opens the warehouse, makes its folder and the database lake when they are missing, and reads the catalog table.
// It starts no stream.
func Open(ctx context.Context, cfg Config) (*Catalog, error) {
	return nil, errors.New("not built")
}

// Engine runs statements.
func (c *Catalog) Engine() *sqle.Engine { return c.engine }

// Start starts the streams that were not paused.
func (c *Catalog) Start(ctx context.Context) error { return nil }

// Close stops the streams, waits for them and closes the engine. It may be called twice.
func (c *Catalog) Close() error {
	c.closeOnce.Do(func() { c.closeErr = c.engine.Close() })
	return c.closeErr
}

// Streams is the manager of the lake's streams.
func (c *Catalog) Streams() *stream.Manager { return c.streams }
