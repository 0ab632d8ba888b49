package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"

	"lakesql/store"
)

const (
	metadataKey = "metadata"
	metadataCRC = ".metadata.crc"
)

// Checkpoint is one open checkpoint. It may be used by several goroutines; adding batches is one writer's work.
type Checkpoint struct {
	st      store.Store
	offsets OffsetLog
	commits CommitLog
	// Progress and row errors, in memory until they are flushed.
	progress, errors Ring

	mu      sync.Mutex
	id      string             // guarded by mu; a reset changes it
	sources map[int]*SourceLog // guarded by mu
}

func newCheckpoint(st store.Store, id string) *Checkpoint {
	c := &Checkpoint{st: st, id: id, sources: map[int]*SourceLog{}}
	c.offsets.log = log{st: st, dir: "offsets"}
	c.commits.log = log{st: st, dir: "commits"}
	c.progress = Ring{c: c, key: progressKey, maxItems: ProgressBatches, maxBytes: maxRingBytes}
	c.errors = Ring{c: c, key: errorsKey, maxItems: MaxRowErrors, maxBytes: maxRingBytes}
	return c
}

// Create makes the store's root and a checkpoint in it, under a new id. Kind Exists when there is one already; NoMetadata or
// HasState when the folder has the rest of one.
func Create(ctx context.Context, st store.Store) (*Checkpoint, error) {
	if m, ok := st.(store.RootMaker); ok {
		if err := m.MakeRoot(ctx); err != nil {
			return nil, fmt.Errorf("create checkpoint: %w", err)
		}
	}
	exists := &Error{Kind: Exists, URI: st.URI(), Found: "a checkpoint is there already", Err: store.ErrExists}
	switch _, err := st.Stat(ctx, metadataKey); {
	case err == nil:
		return nil, exists
	case !errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	c := newCheckpoint(st, uuid.NewString())
	if err := c.refuseRemains(ctx); err != nil {
		return nil, err
	}
	if err := st.Delete(ctx, metadataCRC); err != nil {
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	switch err := st.PutIfAbsent(ctx, metadataKey, encodeMetadata(c.id)); {
	case errors.Is(err, store.ErrExists):
		return nil, exists
	case err != nil:
		return nil, fmt.Errorf("create checkpoint: %w", err)
	}
	return c, nil
}

// Open opens the checkpoint that is in the store's root. It finishes a reset that was cut short, and checks all that a stream
// needs to continue: the id, the logs without holes, the newest files whole and of version 1.
func Open(ctx context.Context, st store.Store) (*Checkpoint, error) {
	c := newCheckpoint(st, "")
	if err := c.finishReset(ctx); err != nil {
		if errors.Is(err, store.ErrRootMissing) {
			return nil, missing(st, "there is no such folder")
		}
		return nil, err
	}
	id, err := readMetadata(ctx, st)
	if errors.Is(err, store.ErrNotFound) {
		if err := c.refuseRemains(ctx); err != nil {
			return nil, err
		}
		return nil, missing(st, "there is no checkpoint in it")
	}
	if err != nil {
		return nil, err
	}
	c.id = id
	if err := c.refuseState(ctx); err != nil {
		return nil, err
	}
	if err := c.checkLogs(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

func missing(st store.Store, found string) error {
	return &Error{Kind: Missing, URI: st.URI(), Found: found, Err: store.ErrNotFound,
		Hint: "if it was deleted, put it back from a copy"}
}

// ID is the query's id, a UUID in lower case: the appId of the target's txn.
func (c *Checkpoint) ID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// URI is the checkpoint's folder.
func (c *Checkpoint) URI() string { return c.st.URI() }

// Offsets is the log of what batches will read.
func (c *Checkpoint) Offsets() *OffsetLog { return &c.offsets }

// Commits is the log of finished batches.
func (c *Checkpoint) Commits() *CommitLog { return &c.commits }

// Source is the log of source i, counted from 0 in the order of the offsets' lines.
func (c *Checkpoint) Source(i int) *SourceLog {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sources[i]
	if s == nil {
		s = newSourceLog(c.st, i)
		c.sources[i] = s
	}
	return s
}

// Verify reads metadata again: Kind Gone when the checkpoint was deleted, Changed when it has another id. It is called before
// the first write of each batch, so that nothing is written into a folder that is no longer this checkpoint.
func (c *Checkpoint) Verify(ctx context.Context) error {
	id, err := readMetadata(ctx, c.st)
	switch want := c.ID(); {
	case errors.Is(err, store.ErrNotFound):
		return &Error{Kind: Gone, URI: c.st.URI(), Found: "it has been deleted while the stream ran", Hint: hintCopy, Err: err}
	case err != nil:
		return err
	case id != want:
		return &Error{Kind: Changed, URI: c.st.URI(), Found: fmt.Sprintf("its id was %s and is %s now: it was reset or replaced", want, id),
			Hint: "START STREAM to go on with it as it is"}
	}
	return nil
}

func encodeMetadata(id string) []byte { return []byte(`{"id":"` + id + `"}`) }

// readMetadata returns the id; ErrNotFound when the file is not there.
func readMetadata(ctx context.Context, st store.Store) (string, error) {
	data, err := st.Get(ctx, metadataKey)
	if err != nil {
		return "", fmt.Errorf("open checkpoint: %w", err)
	}
	id, err := decodeMetadata(data)
	if err != nil {
		return "", damaged(st, metadataKey, hintMetadata(st), "%v", err)
	}
	return id, nil
}

// hintMetadata says how to write metadata by hand.
func hintMetadata(st store.Store) string {
	return `put it back: printf '{"id":"%s"}' <id> > ` + shellPath(st, metadataKey) +
		", where <id> is the appId of txn in the table's log"
}

func decodeMetadata(data []byte) (id string, err error) {
	var m struct{ ID string }
	if len(data) == 0 {
		return "", errors.New("the file is empty")
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return "", fmt.Errorf(`want {"id":"<uuid>"}, found %s: %w`, excerpt(string(data)), err)
	}
	u, err := uuid.Parse(m.ID)
	if err != nil || len(m.ID) != len(u.String()) {
		return "", fmt.Errorf(`want {"id":"<uuid>"}, found %s`, excerpt(string(data)))
	}
	return u.String(), nil
}

// refuseRemains refuses a folder that has the rest of a checkpoint but no metadata: under a new id the table would not know its batches.
func (c *Checkpoint) refuseRemains(ctx context.Context) error {
	for _, dir := range []string{"offsets/", "commits/", "sources/", extrasDir} {
		for info, err := range c.st.List(ctx, dir, "", "") {
			if err != nil {
				return gone(c.st, err)
			}
			return &Error{Kind: NoMetadata, URI: store.ObjectURI(c.st, metadataKey), Hint: hintMetadata(c.st),
				Found: fmt.Sprintf("the file is missing, but the rest of a checkpoint is there (%s)", info.Key)}
		}
	}
	return c.refuseState(ctx)
}

// refuseState refuses the checkpoint of a stateful query.
func (c *Checkpoint) refuseState(ctx context.Context) error {
	for info, err := range c.st.List(ctx, "state/", "", "") {
		if err != nil {
			return gone(c.st, err)
		}
		return &Error{Kind: HasState, URI: store.ObjectURI(c.st, "state"),
			Found: fmt.Sprintf("the folder holds the state of a stateful query (%s), which is not supported", strings.TrimPrefix(info.Key, "state/")),
			Hint:  "continue this checkpoint with Spark, or give the stream a new one"}
	}
	return nil
}

// checkLogs checks the offset and commit logs as a whole, and the content of the files that a restart needs.
func (c *Checkpoint) checkLogs(ctx context.Context) error {
	offsets, err := c.offsets.checked(ctx)
	if err != nil {
		return err
	}
	commits, err := c.commits.checked(ctx)
	if err != nil {
		return err
	}
	last, done := offsets.latest(), commits.latest()
	switch {
	case done > last:
		return damaged(c.st, fmt.Sprintf("commits/%d", done), hintCopy,
			"batch %d is finished, but offsets/ ends at %s", done, batchName(last))
	case done < last-1:
		return damaged(c.st, fmt.Sprintf("commits/%d", last-1), hintCommit(c.st, last-1),
			"the file is missing: offsets/ goes up to %d, commits/ to %s", last, batchName(done))
	}
	for id := max(last-1, 0); id <= last; id++ {
		if id < offsets.first() {
			continue
		}
		if _, err := c.offsets.Read(ctx, id); err != nil {
			return err
		}
	}
	if done >= 0 {
		_, err = c.commits.Read(ctx, done)
	}
	return err
}

func batchName(id int64) string {
	if id < 0 {
		return "nothing"
	}
	return fmt.Sprint(id)
}

// hintCommit says how to write a commit file by hand.
func hintCommit(st store.Store, id int64) string {
	return fmt.Sprintf(`if the table's txn for this id is %d or more, printf 'v1\n{"nextBatchWatermarkMs":0}' > %s`,
		id, shellPath(st, fmt.Sprintf("commits/%d", id)))
}

// excerpt quotes the beginning of what was found.
func excerpt(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q...", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
