package stream

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"lakesql/delta"
	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/vector"
)

// Config is what a Manager works with. Definitions, Targets, Compiler, Sources and Open must be set.
type Config struct {
	Definitions Definitions
	Targets     Targets
	Compiler    Compiler
	Sources     map[string]source.OpenFunc             // by Spec.Kind
	Open        store.Opener                           // opens checkpoints and source files
	Fence       source.Fence                           // nil: no path is refused
	Evaluator   delta.Evaluator                        // of targets' constraints, generated columns and defaults; nil: a target that needs one is refused
	Owner       string                                 // names this server in leases
	Workers     int                                    // how many streams open, look and run batches at once; 0: some a processor
	Memory      *vector.Budget                         // of what batches hold until it is written; nil bounds each alone
	Secret      func(reference string) (string, error) // reads env:NAME and file:NAME for sources; nil: there are no secrets
	Events      Events
	Logger      *slog.Logger     // nil: discards
	Now         func() time.Time // nil: time.Now
}

// FirstProcessID is the first of the ids that streams have in SHOW PROCESSLIST: it keeps them apart from those of connections.
const FirstProcessID = 1_000_000_000

// Manager owns all streams of one catalog. Its methods may be called from several goroutines.
type Manager struct {
	cfg          Config
	log          *slog.Logger
	firstBackoff time.Duration
	workers      *workers
	upkeeps      chan struct{}   // holds one for each upkeep that runs
	notifier     *files.Notifier // of all folders that are read

	// statements is held by those that add, remove, rename or reset a stream, so that two cannot take one name or one
	// checkpoint. It is taken before a stream's lifecycle, and that before any mu.
	statements sync.Mutex

	mu      sync.Mutex // guards what follows
	streams map[streamKey]*stream
	nextPID uint32
	closed  bool

	copies sync.Map // by the table's URI: a chan struct{} of one, which the COPY INTO that runs has filled

	stopFollowing context.CancelFunc // nil: not started
	following     sync.WaitGroup
}

// NewManager makes a manager. It starts nothing: Start does.
func NewManager(cfg Config) *Manager {
	m := &Manager{cfg: cfg, log: cfg.Logger, firstBackoff: firstBackoff, streams: map[streamKey]*stream{}, nextPID: FirstProcessID,
		upkeeps: make(chan struct{}, upkeepAtOnce), notifier: files.NewNotifier()}
	size := cfg.Workers
	if size <= 0 {
		size = defaultWorkers()
	}
	m.workers = newWorkers(size)
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.cfg.Events = withLog(cfg.Events, m.log)
	return m
}

// now is the wall clock, without a monotonic part: it is written to logs and compared across restarts.
func (m *Manager) now() time.Time {
	if m.cfg.Now != nil {
		return m.cfg.Now()
	}
	return time.Now()
}

// Start recovers the streams of the catalog, starts those that are not paused, and follows what other servers do to them. It does
// not wait for them.
func (m *Manager) Start(ctx context.Context) error {
	m.statements.Lock()
	defer m.statements.Unlock()
	defs, err := m.cfg.Definitions.List(ctx)
	if err != nil {
		return fmt.Errorf("read the streams' definitions: %w", err)
	}
	if defs, err = m.finishRenames(ctx, defs); err != nil {
		return err
	}
	for _, d := range defs {
		if s := m.add(d); s != nil && !d.Paused && !d.Finished {
			s.lifecycle.Lock()
			s.start()
			s.lifecycle.Unlock()
		}
	}
	m.each(func(s *stream) { s.recall(ctx) })
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.stopFollowing != nil {
		return nil
	}
	var follow context.Context
	follow, m.stopFollowing = context.WithCancel(context.Background())
	m.following.Go(func() { m.follow(follow) })
	return nil
}

// add makes an entry for a definition; nil when the name is taken or the manager is closed.
func (m *Manager) add(d Definition) *stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.streams[d.key()] != nil {
		return nil
	}
	s := newStream(m, d, m.nextPID)
	m.nextPID++
	m.streams[d.key()] = s
	return s
}

// Close stops all streams and waits: a running batch is finished or dropped whole. What runs comes up again at the next
// Start. It may be called twice.
func (m *Manager) Close() error {
	m.mu.Lock()
	m.closed = true
	if m.stopFollowing != nil {
		m.stopFollowing()
	}
	m.mu.Unlock()
	m.following.Wait()
	m.each(func(s *stream) { s.close() })
	return m.notifier.Close()
}

// each calls do for all streams at once, and waits.
func (m *Manager) each(do func(*stream)) {
	var wg sync.WaitGroup
	for _, s := range m.all() {
		wg.Go(func() { do(s) })
	}
	wg.Wait()
}

// all returns the streams by name.
func (m *Manager) all() []*stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]streamKey, 0, len(m.streams))
	for k := range m.streams {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b streamKey) int {
		return strings.Compare(a.database+"\x00"+a.name, b.database+"\x00"+b.name)
	})
	out := make([]*stream, len(keys))
	for i, k := range keys {
		out[i] = m.streams[k]
	}
	return out
}

func (m *Manager) lookup(k streamKey) *stream {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.streams[k]
}

func (m *Manager) find(database, name string) (*stream, error) {
	if s := m.lookup(keyOf(database, name)); s != nil {
		return s, nil
	}
	return nil, NotFound(database + "." + name)
}

// NotFound is the error of a stream that does not exist.
func NotFound(name string) error {
	return &Error{Kind: KindNotFound, Stream: name, Message: fmt.Sprintf("stream %s does not exist; SHOW STREAMS lists those that do", name)}
}

// Status returns one stream's status.
func (m *Manager) Status(database, name string) (Status, error) {
	s, err := m.find(database, name)
	if err != nil {
		return Status{}, err
	}
	return s.snapshot(), nil
}

// List returns all streams by name.
func (m *Manager) List() []Status {
	var out []Status
	for _, s := range m.all() {
		out = append(out, s.snapshot())
	}
	return out
}
