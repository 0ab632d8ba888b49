package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"lakesql/catalog"
	"lakesql/server"
	"lakesql/store"
	"lakesql/version"
)

// instance is a lake and the server on it.
type instance struct {
	settings settings
	password string // of root, for this process's own client
	fence    *store.Fence
	catalog  *catalog.Catalog
	server   *server.Server
	http     net.Listener // nil: none
}

// newInstance opens the lake and its ports. It starts nothing.
func newInstance(ctx context.Context, s settings, log *slog.Logger) (_ *instance, err error) {
	i := &instance{settings: s, password: rand.Text()}
	var undo []io.Closer
	defer func() {
		if err != nil {
			for k := len(undo) - 1; k >= 0; k-- {
				err = errors.Join(err, undo[k].Close())
			}
		}
	}()
	listener, err := listen(s.Listen, "--listen")
	if err != nil {
		return nil, err
	}
	undo = append(undo, listener)
	if s.HTTP != "" {
		if err := server.CheckLoopback(s.HTTP); err != nil {
			return nil, fmt.Errorf("--http: %w", err)
		}
		if i.http, err = listen(s.HTTP, "--http"); err != nil {
			return nil, err
		}
		undo = append(undo, i.http)
	}
	if i.catalog, i.fence, err = openCatalog(ctx, s, log); err != nil {
		return nil, err
	}
	undo = append(undo, i.catalog)
	encrypted, err := server.TLSFiles{Folder: s.DataDir, Cert: s.SSLCert, Key: s.SSLKey, CA: s.SSLCA}.Config()
	if err != nil {
		return nil, err
	}
	native, err := s.nativePassword()
	if err != nil {
		return nil, err
	}
	i.server, err = server.New(server.Config{
		Listener: listener, HTTP: i.http, Engine: i.catalog.Engine(), NewSession: i.catalog.NewSession, Streams: i.catalog.Streams(),
		Memory: i.catalog.MemoryUse, Budget: i.catalog.Budget(), Spill: i.catalog.SpillSpace(), Version: version.String(), Logger: log,
		TLS: encrypted, NativePassword: native, OwnerPassword: i.password,
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// start starts the streams. Where that fails, everything is closed.
func (i *instance) start(ctx context.Context) error {
	// A signal must not cut a batch off: Close lets it end.
	if err := i.catalog.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(fmt.Errorf("start the streams: %w", err), i.server.Close(), i.catalog.Close())
	}
	return nil
}

// serve takes clients until ctx ends, then stops the streams too: a running batch is finished or dropped whole.
func (i *instance) serve(ctx context.Context) error {
	return errors.Join(i.server.Serve(ctx), i.catalog.Close())
}

// keepOut takes the accounts, keys, secrets and spilled rows from what statements may reach: the folder that the server was started in, which
// they may reach by default, is often above them.
func keepOut(fence *store.Fence, s settings) error {
	if s.DataDir == s.Warehouse {
		return fmt.Errorf("--data-dir %s is the lake's folder, and the server's own data is no part of the lake: name another folder", s.DataDir)
	}
	own := []string{s.DataDir}
	for _, path := range []string{s.SpillDir, s.SSLKey} {
		if path != "" {
			own = append(own, path)
		}
	}
	return fence.KeepOut(own...)
}

func openCatalog(ctx context.Context, s settings, log *slog.Logger) (*catalog.Catalog, *store.Fence, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, nil, fmt.Errorf("find the folder that lakesql was started in: %w", err)
	}
	fence, err := store.NewFence(here, append([]string{s.Warehouse}, s.AllowPaths...)...)
	if err != nil {
		return nil, nil, err
	}
	if err := keepOut(fence, s); err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make the folder for the server's own data: %w; name another with --data-dir", err)
	}
	memory, err := s.memory()
	if err != nil {
		return nil, nil, err
	}
	memory.TuneCollector()
	native, err := s.nativePassword()
	if err != nil {
		return nil, nil, err
	}
	c, err := catalog.Open(ctx, catalog.Config{
		Warehouse: store.FileURI(s.Warehouse), Open: store.Open, Fence: fence, DataDir: s.DataDir, Owner: owner(), Logger: log, Memory: memory,
		NativePassword: native,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("open the lake in %s: %w", s.Warehouse, err)
	}
	if err := c.OpenUsers(); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	return c, fence, nil
}

// owner names this process in leases.
func owner() string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s:%d:%d", host, os.Getpid(), time.Now().UnixMilli())
}

// listen opens a port. flag is the one that names another.
func listen(address, flag string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("%s: address %q is not HOST:PORT, such as 127.0.0.1:3306: %w", flag, address, err)
	}
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		host, port, _ := net.SplitHostPort(address)
		return nil, fmt.Errorf("port %s is taken, perhaps by a MySQL server or another lakesql: choose one with %s %s, or %s %s for any that is free",
			port, flag, net.JoinHostPort(host, "PORT"), flag, net.JoinHostPort(host, "0"))
	}
	return nil, fmt.Errorf("%s %s: %w", flag, address, err)
}

// newLogger is the program's log.
func newLogger(s settings, out io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(strings.ToUpper(s.LogLevel))); err != nil {
		return nil, fmt.Errorf("log level %q: take debug, info, warn or error", s.LogLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch s.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(out, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return nil, fmt.Errorf("log format %q: take text or json", s.LogFormat)
}
