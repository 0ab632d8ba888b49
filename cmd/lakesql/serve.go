package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"lakesql/server"
	"lakesql/version"
)

// serveCommand is `lakesql serve`.
type serveCommand struct {
	lakeFlags
	Listen string `placeholder:"HOST:PORT" help:"Where MySQL clients connect; port 0 takes a free one (default 127.0.0.1:3306)."`
	HTTP   string `name:"http" placeholder:"HOST:PORT" help:"Where /healthz, /metrics and /debug/pprof are (default: nowhere)."`

	SSLCert string `name:"ssl-cert" placeholder:"FILE" help:"The server's certificate, PEM (default: one of its own making, server-cert.pem in --data-dir)."`
	SSLKey  string `name:"ssl-key" placeholder:"FILE" help:"The certificate's key, PEM."`
	SSLCA   string `name:"ssl-ca" placeholder:"FILE" help:"Certificates, PEM, of those who vouch for clients (REQUIRE X509)."`

	NativePassword string `name:"mysql-native-password" placeholder:"ON|OFF" help:"Whether accounts may have the old plugin mysql_native_password (default OFF)."`
}

// lakeFlags are the flags of all commands that open a lake.
type lakeFlags struct {
	Warehouse string   `placeholder:"DIR" help:"The lake's folder; made when it is not there (default ./lake)."`
	DataDir   string   `placeholder:"DIR" help:"The server's own folder, which is no part of the lake (default ~/.local/share/lakesql)."`
	AllowPath []string `placeholder:"DIR" sep:"none" help:"A folder outside of the lake that statements may name; may be repeated (default: the folder that lakesql was started in)."`
	Config    string   `placeholder:"FILE" help:"A YAML file with warehouse, listen, http, data_dir, allow_paths, log_level, log_format, memory, query_memory, spill_dir, spill_limit, ssl_cert, ssl_key, ssl_ca, mysql_native_password. LAKESQL_WAREHOUSE and so on go before it, flags before both."`
	LogLevel  string   `placeholder:"LEVEL" help:"debug, info, warn or error (default info)."`
	LogFormat string   `placeholder:"FORMAT" help:"text or json (default text)."`

	Memory      string `placeholder:"SIZE" help:"What all statements together hold in memory, such as 8GB; what is more is spilled to disk (default: half of the machine's)."`
	QueryMemory string `placeholder:"SIZE" help:"What one statement holds in memory; the session variable lakesql_query_memory goes before it (default: half of --memory)."`
	SpillDir    string `placeholder:"DIR" help:"Where statements spill to (default: the folder spill in --data-dir)."`
	SpillLimit  string `placeholder:"SIZE" help:"What all statements together have on disk there (default 64GB)."`
}

func (c *serveCommand) settings() (settings, error) {
	f := c.lakeFlags
	return resolve(f.Config, os.Getenv, settings{
		SSLCert: c.SSLCert, SSLKey: c.SSLKey, SSLCA: c.SSLCA, NativePassword: c.NativePassword,
		Warehouse: f.Warehouse, Listen: c.Listen, HTTP: c.HTTP, DataDir: f.DataDir, AllowPaths: f.AllowPath, LogLevel: f.LogLevel, LogFormat: f.LogFormat,
		Memory: f.Memory, QueryMemory: f.QueryMemory, SpillDir: f.SpillDir, SpillLimit: f.SpillLimit,
	})
}

// Run serves until the first SIGINT or SIGTERM, which stops cleanly; the second ends the process at once.
func (c *serveCommand) Run(std streams) error {
	s, err := c.settings()
	if err != nil {
		return err
	}
	log, err := newLogger(s, std.err)
	if err != nil {
		return err
	}
	server.BridgeLogs(log)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal is not caught
	i, err := newInstance(ctx, s, log)
	if err != nil {
		return err
	}
	if err := i.start(ctx); err != nil {
		return err
	}
	if _, err := fmt.Fprint(std.out, i.ready()); err != nil {
		return fmt.Errorf("say that the server is ready: %w", err)
	}
	return i.serve(ctx)
}

// ready tells where the server is, how to reach it and what it may read.
func (i *instance) ready() string {
	host, port, _ := net.SplitHostPort(i.server.Addr().String())
	var b strings.Builder
	fmt.Fprintf(&b, "lakesql %s is ready on %s\n", version.String(), i.server.Addr())
	fmt.Fprintf(&b, "  connect    mysql -h %s -P %s -u root lake, or lakesql sql --port %s\n", host, port, port)
	fmt.Fprintf(&b, "  lake       %s\n", i.settings.Warehouse)
	fmt.Fprintf(&b, "  may read   %s\n", strings.Join(i.fence.Roots(), ", "))
	if i.http != nil {
		fmt.Fprintf(&b, "  http       http://%s/metrics\n", i.http.Addr())
	}
	fmt.Fprintf(&b, "  stop       Ctrl-C\n")
	return b.String()
}
