package catalog

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"

	"lakesql/catalog/compile"
	"lakesql/delta"
	"lakesql/delta/maintain"
	"lakesql/format/parquet"
	"lakesql/store"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/stream/source/deltatable"
	"lakesql/stream/source/files"
	"lakesql/stream/source/kafka"
	"lakesql/stream/source/rate"
	"lakesql/vector"
)

// Config says what a catalog works on.
type Config struct {
	Warehouse string       // absolute URI of the warehouse's folder; it is made when missing
	Open      store.Opener // opens tables, checkpoints and source files by URI; nil: store.Open
	Fence     *store.Fence // the paths that statements may name
	DataDir   string       // the server's own folder, absolute; it must not be part of the lake
	Owner     string       // names this server in leases: host, process, start time
	Logger    *slog.Logger // nil: discards
	Memory    Memory

	NativePassword bool // accounts may have the plugin mysql_native_password
}

// Catalog is one warehouse as a SQL engine. Open makes it, Start starts its streams, Close stops everything and waits.
type Catalog struct {
	cfg            Config
	log            *slog.Logger
	root           store.Store // the warehouse
	ledger         *ledger
	engine         *sqle.Engine
	users          *users             // nil before OpenUsers
	plain          *analyzer.Analyzer // plans the expressions of tables: without users, who have no part in them
	streams        *stream.Manager
	tableFunctions map[string]sql.TableFunction

	handlesMu sync.Mutex
	handles   map[string]*delta.Table // by URI

	counts    rowCounts
	described descriptions
	memory    *vector.Budget // of all statements

	dataFiles *parquet.Cache // small data files of all tables, kept open between statements

	maintenance chan *delta.Table // tables that have been written, for the maintainer
	stop        context.CancelFunc
	running     sync.WaitGroup
	closeOnce   sync.Once
	closeErr    error
}

// maintenanceQueue is how many written tables wait for their Delta checkpoint; one that does not fit is looked at after its next commit.
const maintenanceQueue = 64

// Open opens the warehouse, makes its folder and the database lake when they are missing, and reads the catalog table.
// It starts no stream.
func Open(ctx context.Context, cfg Config) (*Catalog, error) {
	if cfg.Open == nil {
		cfg.Open = store.Open
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	warehouse := strings.TrimSuffix(cfg.Warehouse, "/")
	if cfg.DataDir != "" && strings.HasPrefix(store.FileURI(cfg.DataDir)+"/", warehouse+"/") {
		return nil, refuse(KindInvalid, "the data folder %s is inside the warehouse %s, where every table's writer can change it: choose another --data-dir",
			cfg.DataDir, warehouse)
	}
	if err := setSystemVariables(); err != nil {
		return nil, err
	}
	cfg.Memory = cfg.Memory.complete(cfg.DataDir)
	memory, err := cfg.Memory.budget()
	if err != nil {
		return nil, err
	}
	root, err := cfg.Open(warehouse)
	if err != nil {
		return nil, err
	}
	for _, st := range []store.Store{root, store.Sub(root, defaultDatabase)} {
		if err := makeRoot(ctx, st); err != nil {
			return nil, err
		}
	}
	c := &Catalog{
		cfg: cfg, log: cfg.Logger, root: root, memory: memory,
		handles: make(map[string]*delta.Table), dataFiles: parquet.NewCache(), maintenance: make(chan *delta.Table, maintenanceQueue),
	}
	c.ledger = newLedger(root, c.maintainSoon)
	if _, err := c.ledger.read(ctx); err != nil {
		return nil, err
	}
	c.tableFunctions = c.newTableFunctions()
	c.streams = stream.NewManager(stream.Config{
		Definitions: definitions{c.ledger}, Targets: targets{c}, Compiler: streamCompiler{c},
		Sources: map[string]source.OpenFunc{"files": files.Open, "kafka": kafka.Open, "rate": rate.Open, "delta": deltatable.Opener(c.tableAt, c.dataFiles)},
		Open:    cfg.Open, Fence: cfg.Fence, Secret: secrets{cfg.DataDir}.read, Evaluator: evaluator{c}, Owner: cfg.Owner, Logger: cfg.Logger, Memory: memory.Child(cfg.Memory.Query),
	})
	c.engine = c.newEngine()
	return c, nil
}

func (c *Catalog) newEngine() *sqle.Engine {
	installRules()
	installAuthorization()
	overrides := sql.EngineOverrides{Builder: sql.BuilderOverrides{Parser: &parser{c: c, mysql: sql.NewMysqlParser()}}}
	build := func() *analyzer.Analyzer {
		return analyzer.NewBuilder(provider{c}).AddOverrides(overrides).AddPreAnalyzeRule(resultRule, describeResult).AddPreAnalyzeRule(nullabilityRule, nullableFunctions).AddPreAnalyzeRule(unionTypesRule, everywhere(uniteTypes)).
			AddPreAnalyzeRule(textNumberRule, everywhere(eachExpression(numberTexts))).
			AddPreAnalyzeRule(collatedRule, everywhere(eachExpression(collateTexts))).AddPreAnalyzeRule(carriedRule, everywhere(eachExpression(carryCollations))).
			AddPreAnalyzeRule(carriedColumnsRule, everywhere(carryColumns)).
			AddPreAnalyzeRule(dateTextRule, eachExpression(writeDates)).AddPreAnalyzeRule(dateReadRule, eachExpression(readDates)).
			AddPreAnalyzeRule(everyRowRule, evaluateEveryRow).AddPreAnalyzeRule(betweenRule, everywhere(eachExpression(computeBounds))).
			AddPreAnalyzeRule(likeRule, everywhere(eachExpression(likeTexts))).Build()
	}
	c.plain = build()
	a := build()
	a.Catalog.InfoSchema = newInfoSchema(c, a.Catalog.InfoSchema)
	engine := sqle.New(a, &sqle.Config{})
	compile.Install(engine.Analyzer.ExecBuilder)
	return engine
}

// Engine runs statements.
func (c *Catalog) Engine() *sqle.Engine { return c.engine }

// Streams is the manager of the lake's streams.
func (c *Catalog) Streams() *stream.Manager { return c.streams }

// Start starts the streams that were not paused, and the maintenance of tables that statements write.
func (c *Catalog) Start(ctx context.Context) error {
	ctx, c.stop = context.WithCancel(ctx)
	c.running.Go(func() { c.maintain(ctx) })
	return c.streams.Start(ctx)
}

// Close stops the streams and waits for them: a running batch is finished or dropped whole. It may be called twice. The engine's
// sessions are the server's to end before that; GMS's own Close would kill the streams' processes, and so pause them for good.
func (c *Catalog) Close() error {
	c.closeOnce.Do(func() {
		err := c.streams.Close()
		if c.stop != nil {
			c.stop()
		}
		c.running.Wait()
		c.closeErr = errors.Join(err, c.engine.BackgroundThreads.Shutdown(), c.dataFiles.Close())
	})
	return c.closeErr
}

// maintainSoon asks for what a table needs after a commit, its log's checkpoint perhaps, off the statement's path.
func (c *Catalog) maintainSoon(t *delta.Table) {
	select {
	case c.maintenance <- t:
	default: // see maintenanceQueue
	}
}

// maxKeepers bounds what is remembered of tables; a Keeper that is forgotten only looks again.
const maxKeepers = 1000

func (c *Catalog) maintain(ctx context.Context) {
	keepers := make(map[*delta.Table]*maintain.Keeper)
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-c.maintenance:
			if len(keepers) > maxKeepers {
				clear(keepers)
			}
			k := keepers[t]
			if k == nil {
				k = c.keeper(t)
				keepers[t] = k
			}
			if err := k.Work(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("maintain a table", "table", t.Store().URI(), "error", err)
			}
		}
	}
}

// keeper keeps a table. The catalog table's small files, one a DDL statement, are joined: each start reads all of them. What joins them removes
// nothing, so another server reads on.
func (c *Catalog) keeper(t *delta.Table) *maintain.Keeper {
	return &maintain.Keeper{Table: t, Cache: c.dataFiles, Compact: t == c.ledger.table}
}

// background makes a context for work that no connection asked for: a fresh session of a user ("user@host", or "") in a database.
func (c *Catalog) background(ctx context.Context, database, definer string) *sql.Context {
	user, host := splitAccount(definer)
	s := c.newSession(sql.Client{User: user, Address: host}, "", 0)
	s.SetCurrentDatabase(database)
	return sql.NewContext(ctx, sql.WithSession(s))
}

// splitAccount takes user@host apart: a user's name may have an @, a host's cannot.
func splitAccount(account string) (user, host string) {
	at := strings.LastIndexByte(account, '@')
	if at < 0 {
		return account, ""
	}
	return account[:at], account[at+1:]
}
