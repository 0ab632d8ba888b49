package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	gms "github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/stream"
	"lakesql/vector"
)

// ProtocolVersion is the MySQL version that clients are told: what they expect of the protocol and of SQL.
const ProtocolVersion = "8.0.45"

// closeGrace is how long Close waits for the statements that it has told to end before it closes their connections.
const closeGrace = 2 * time.Second

// Streams is what the server shows of the streams.
type Streams interface {
	List() []stream.Status
	// Kill pauses the stream with that process id, and reports whether there is one.
	Kill(ctx context.Context, processID uint32) (bool, error)
	// Workers says how the pool that the streams share is used.
	Workers() stream.Pool
}

// Config says what a Server works with. Listener, Engine and NewSession must be set.
type Config struct {
	Listener   net.Listener // for MySQL clients; the server closes it
	HTTP       net.Listener // for health, metrics and profiles, on a loopback address; nil: none
	Engine     *sqle.Engine
	NewSession gms.SessionBuilder
	Streams    Streams                    // nil: none
	Memory     func() (used, limit int64) // bytes of all statements and batches; nil: not known
	Budget     *vector.Budget             // of all statements, which counts results that wait to be fetched; nil: nothing does
	Spill      *vector.SpillSpace         // for results that wait to be fetched; nil: they have to fit in memory
	Version    string                     // of lakesql, shown to clients
	Logger     *slog.Logger               // nil: discards

	TLS            *tls.Config // nil: connections are not encrypted, and no password is taken but native ones
	NativePassword bool        // accounts with mysql_native_password may log in
	OwnerPassword  string      // lets root in from this machine, besides his own password: for the process's own client; "": none

	Now func() time.Time // the clock of the pauses after failed logins; nil: time.Now
}

// Server is the MySQL port and the HTTP port on one engine.
type Server struct {
	listener *frontListener
	protocol *gms.Server
	handler  *handler
	http     *http.Server
	cfg      Config
	metrics  *metrics

	stop      context.CancelCauseFunc // ends the statements that run
	closeOnce sync.Once
	closeErr  error
}

// New makes a server. It starts nothing: Serve does.
func New(cfg Config) (*Server, error) {
	if cfg.HTTP != nil {
		if err := CheckLoopback(cfg.HTTP.Addr().String()); err != nil {
			return nil, err
		}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := describe(cfg.Version); err != nil {
		return nil, err
	}
	base, stop := context.WithCancelCause(context.Background())
	s := &Server{cfg: cfg, metrics: newMetrics(cfg), stop: stop}
	processes := newProcessList(cfg.Engine.ProcessList, cfg.Streams)
	cfg.Engine.ProcessList = processes
	s.listener = newFrontListener(cfg.Listener, cfg.TLS, func() int64 { return s.handler.globalVariable("max_connections") })
	s.handler = &handler{spill: cfg.Spill, budget: cfg.Budget, engine: cfg.Engine, processes: processes, base: base, metrics: s.metrics, log: cfg.Logger, listener: s.listener}
	if !cfg.Engine.Analyzer.Catalog.MySQLDb.Enabled() {
		addRoot(cfg.Engine)
	}
	who, err := newLogins(cfg)
	if err != nil {
		return nil, err
	}
	s.handler.logins = who
	protocol, err := gms.NewServer(gms.Config{
		Listener: s.listener,
		ProtocolListenerFactory: func(c gms.Config, l mysql.ListenerConfig, sel gms.ServerEventListener) (gms.ProtocolListener, error) {
			l.AuthServer = who
			return gms.MySQLProtocolListenerFactory(c, l, sel)
		},
		Version:                  ProtocolVersion + "-lakesql-" + cfg.Version,
		DisableConnectionWatcher: true, // ours is in query.go
		Options:                  []gms.Option{s.handler.install},
	}, cfg.Engine, sql.NewContext, cfg.NewSession, nil)
	if err != nil {
		return nil, fmt.Errorf("make the MySQL port: %w", err)
	}
	s.protocol = protocol
	if cfg.HTTP != nil {
		s.http = &http.Server{Handler: s.httpHandler(), ReadHeaderTimeout: 10 * time.Second}
	}
	return s, nil
}

// Addr is where the MySQL port listens.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve takes clients until ctx ends or Close is called, then closes the server. A port that breaks is an error.
func (s *Server) Serve(ctx context.Context) error {
	var ports sync.WaitGroup
	ended := make(chan error, 2)
	ports.Go(func() {
		s.protocol.Listener.Accept()
		ended <- s.listener.broken()
	})
	if s.http != nil {
		ports.Go(func() {
			if err := s.http.Serve(s.cfg.HTTP); !errors.Is(err, http.ErrServerClosed) {
				ended <- fmt.Errorf("serve HTTP on %s: %w", s.cfg.HTTP.Addr(), err)
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-ended:
	}
	err = errors.Join(err, s.Close())
	ports.Wait()
	return err
}

// Close takes no more clients, ends the statements that run, closes the connections and waits for all of them. It may be called twice.
func (s *Server) Close() error {
	s.closeOnce.Do(func() {
		s.closeErr = ignoreClosed(s.listener.Close())
		s.protocol.Listener.Close()
		s.stop(errShutdown)
		s.listener.closeConns(closeGrace)
		if s.http != nil {
			s.closeErr = errors.Join(s.closeErr, s.http.Close(), ignoreClosed(s.cfg.HTTP.Close()))
		}
	})
	return s.closeErr
}

// CheckLoopback refuses an address that other machines can reach, for a port that asks nobody who he is.
func CheckLoopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("address %q is not HOST:PORT, such as 127.0.0.1:3306: %w", address, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("address %q can be reached from other machines, and whoever connects there is not asked for a password: "+
		"take a loopback address, such as 127.0.0.1:9090", address)
}

// describe sets the variables that tell clients what they talk to, and how much it takes. GMS keeps them for the whole process.
func describe(version string) error {
	err := sql.SystemVariables.AssignValues(map[string]any{
		"version":         ProtocolVersion + "-lakesql-" + version,
		"version_comment": "lakesql " + version + ", MySQL on Delta Lake",
		// MySQL's default; the engine's is a gigabyte, which a client may have the server keep.
		"max_allowed_packet": uint64(64 << 20),

		"protocol_compression_algorithms": "zlib,uncompressed",
	})
	if err != nil {
		return fmt.Errorf("set the version: %w", err)
	}
	return nil
}

// addRoot makes root without a password the one user of an engine whose accounts nobody keeps.
func addRoot(engine *sqle.Engine) {
	db := engine.Analyzer.Catalog.MySQLDb
	db.SetPersister(&mysql_db.NoopPersister{})
	editor := db.Editor()
	defer editor.Close()
	db.AddEphemeralSuperUser(editor, "root", localhost, "")
}

var errNotOnePacket = errors.New("an error is due in place of the end of a result, and something else was written")

func joinClose(err error, c io.Closer) error { return errors.Join(err, c.Close()) }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
