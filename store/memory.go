package store

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Memory is a store in memory that behaves as Local does: it has folders, and its root must be made.
type Memory struct {
	uri    string
	prefix string // of a Sub: "" or ending with a slash
	d      *memoryData
}

// memoryData is shared by a Memory and its Subs.
type memoryData struct {
	mu      sync.RWMutex
	objects map[string]memoryObject // guarded by mu; the contents are never changed in place
	folders map[string]bool         // guarded by mu; every folder that exists, "" being the root, others ending with a slash
	writes  int64                   // guarded by mu; the ETags
}

type memoryObject struct {
	data []byte
	info Info
}

var (
	_ Store     = (*Memory)(nil)
	_ Mapper    = (*Memory)(nil)
	_ RootMaker = (*Memory)(nil)
	_ Renamer   = (*Memory)(nil)
	_ Subber    = (*Memory)(nil)

	_ PrefixDeleter = (*Memory)(nil)
)

// NewMemory returns an empty store that calls itself uri. Its root does not exist yet.
func NewMemory(uri string) *Memory {
	return &Memory{
		uri: strings.TrimSuffix(uri, "/"),
		d:   &memoryData{objects: map[string]memoryObject{}, folders: map[string]bool{}},
	}
}

// Clone returns a copy of what is committed: what a crash at this moment would leave.
func (m *Memory) Clone() *Memory {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return &Memory{uri: m.uri, prefix: m.prefix, d: &memoryData{
		objects: maps.Clone(m.d.objects), folders: maps.Clone(m.d.folders), writes: m.d.writes,
	}}
}

// URI implements Store.
func (m *Memory) URI() string { return m.uri }

// Sub implements Subber.
func (m *Memory) Sub(prefix string) Store {
	folder := CleanPrefix(prefix)
	if folder == "" {
		return m
	}
	return &Memory{uri: ObjectURI(m, folder), prefix: m.prefix + folder + "/", d: m.d}
}

// MakeRoot implements RootMaker.
func (m *Memory) MakeRoot(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return m.wrap("make folder", "", err)
	}
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	m.d.makeFolders(m.prefix)
	return nil
}

// makeFolders makes the folders above key, or key itself when it ends with a slash.
func (d *memoryData) makeFolders(key string) {
	d.folders[""] = true
	for i, c := range []byte(key) {
		if c == '/' {
			d.folders[key[:i+1]] = true
		}
	}
}

func (m *Memory) wrap(op, key string, err error) error {
	return fmt.Errorf("%s %s: %w", op, ObjectURI(m, key), err)
}

// begin checks an operation on one object.
func (m *Memory) begin(ctx context.Context, op, key string) error {
	err := ctx.Err()
	if err == nil {
		err = checkKey(key)
	}
	if err != nil {
		return m.wrap(op, key, err)
	}
	return nil
}

func (m *Memory) find(ctx context.Context, op, key string) (memoryObject, error) {
	if err := m.begin(ctx, op, key); err != nil {
		return memoryObject{}, err
	}
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	o, ok := m.d.objects[m.prefix+key]
	if !ok {
		return memoryObject{}, m.wrap(op, key, m.missing())
	}
	o.info.Key = key
	return o, nil
}

// missing is the error for an object that is not there. The caller holds mu.
func (m *Memory) missing() error {
	if !m.d.folders[m.prefix] {
		return ErrRootMissing
	}
	return ErrNotFound
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, key string) ([]byte, error) {
	o, err := m.find(ctx, "read", key)
	return bytes.Clone(o.data), err
}

// GetRange implements Store.
func (m *Memory) GetRange(ctx context.Context, key string, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 {
		return nil, m.wrap("read", key, fmt.Errorf("range of %d bytes at %d: %w", n, off, fs.ErrInvalid))
	}
	o, err := m.find(ctx, "read", key)
	if err != nil {
		return nil, err
	}
	off = min(off, o.info.Size)
	return bytes.Clone(o.data[off : off+min(n, o.info.Size-off)]), nil
}

// ReadRange implements RangeReader.
func (m *Memory) ReadRange(ctx context.Context, key string, off int64, p []byte) (int, error) {
	if off < 0 {
		return 0, m.wrap("read", key, fmt.Errorf("range at %d: %w", off, fs.ErrInvalid))
	}
	o, err := m.find(ctx, "read", key)
	if err != nil {
		return 0, err
	}
	return copy(p, o.data[min(off, o.info.Size):]), nil
}

// Map implements Mapper.
func (m *Memory) Map(ctx context.Context, key string) (data []byte, release func(), err error) {
	o, err := m.find(ctx, "map", key)
	if err != nil {
		return nil, nil, err
	}
	return o.data[:len(o.data):len(o.data)], func() {}, nil
}

// Stat implements Store.
func (m *Memory) Stat(ctx context.Context, key string) (Info, error) {
	o, err := m.find(ctx, "stat", key)
	return o.info, err
}

// Delete implements Store.
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := m.begin(ctx, "delete", key); err != nil {
		return err
	}
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	delete(m.d.objects, m.prefix+key)
	return nil
}

// DeletePrefix implements PrefixDeleter.
func (m *Memory) DeletePrefix(ctx context.Context, prefix string) error {
	if err := ctx.Err(); err != nil {
		return m.wrap("delete", prefix, err)
	}
	below := m.prefix + prefix
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	maps.DeleteFunc(m.d.objects, func(key string, _ memoryObject) bool { return strings.HasPrefix(key, below) })
	maps.DeleteFunc(m.d.folders, func(key string, _ bool) bool { return strings.HasPrefix(key, below) })
	return nil
}

// PutIfAbsent implements Store.
func (m *Memory) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	if err := m.begin(ctx, "write", key); err != nil {
		return err
	}
	return m.put("write", key, bytes.Clone(data), true)
}

func (m *Memory) put(op, key string, data []byte, ifAbsent bool) error {
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if !m.d.folders[m.prefix] {
		return m.wrap(op, key, ErrRootMissing)
	}
	full := m.prefix + key
	if _, taken := m.d.objects[full]; taken && ifAbsent {
		return m.wrap(op, key, ErrExists)
	}
	m.d.makeFolders(full)
	m.d.writes++
	m.d.objects[full] = memoryObject{data: data, info: Info{
		Size: int64(len(data)), ModTime: time.Now(), ETag: strconv.FormatInt(m.d.writes, 10),
	}}
	return nil
}

// Create implements Store.
func (m *Memory) Create(ctx context.Context, key string) (Writer, error) {
	if err := m.begin(ctx, "create", key); err != nil {
		return nil, err
	}
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	if !m.d.folders[m.prefix] {
		return nil, m.wrap("create", key, ErrRootMissing)
	}
	return &memoryWriter{m: m, key: key}, nil
}

type memoryWriter struct {
	m    *Memory
	key  string
	buf  bytes.Buffer
	done bool
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, w.m.wrap("write", w.key, fs.ErrClosed)
	}
	return w.buf.Write(p)
}

func (w *memoryWriter) Commit(ctx context.Context, ifAbsent bool) error {
	if w.done {
		return w.m.wrap("commit", w.key, fs.ErrClosed)
	}
	w.done = true
	if err := ctx.Err(); err != nil {
		return w.m.wrap("commit", w.key, err)
	}
	return w.m.put("commit", w.key, w.buf.Bytes(), ifAbsent)
}

func (w *memoryWriter) Abort() error {
	w.done = true
	return nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		infos, err := m.list(ctx, prefix, startAfter)
		if err != nil {
			yield(Info{}, err)
			return
		}
		if delimiter != "" {
			yield = foldKeys(prefix, delimiter, yield)
		}
		for _, info := range infos {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *Memory) list(ctx context.Context, prefix, startAfter string) ([]Info, error) {
	err := ctx.Err()
	if err == nil {
		err = checkPrefix(prefix)
	}
	if err != nil {
		return nil, m.wrap("list", "", err)
	}
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	if !m.d.folders[m.prefix] {
		return nil, m.wrap("list", "", ErrRootMissing)
	}
	var infos []Info
	for full, o := range m.d.objects {
		key, below := strings.CutPrefix(full, m.prefix)
		if below && strings.HasPrefix(key, prefix) && key > startAfter {
			o.info.Key = key
			infos = append(infos, o.info)
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return strings.Compare(a.Key, b.Key) })
	return infos, nil
}

// Rename implements Renamer.
func (m *Memory) Rename(ctx context.Context, fromPrefix, toPrefix string) error {
	fromPrefix, toPrefix = strings.TrimSuffix(fromPrefix, "/"), strings.TrimSuffix(toPrefix, "/")
	if err := m.begin(ctx, "rename", fromPrefix); err != nil {
		return err
	}
	if err := m.begin(ctx, "rename to", toPrefix); err != nil {
		return err
	}
	from, to := m.prefix+fromPrefix, m.prefix+toPrefix
	m.d.mu.Lock()
	defer m.d.mu.Unlock()
	if !m.d.has(from) {
		return m.wrap("rename", fromPrefix, m.missing())
	}
	if m.d.has(to) {
		return m.wrap("rename "+ObjectURI(m, fromPrefix)+" to", toPrefix, ErrExists)
	}
	m.d.makeFolders(to)
	moveKeys(m.d.objects, from, to)
	moveKeys(m.d.folders, from, to)
	return nil
}

// has tells whether an object or a folder has that name. The caller holds mu.
func (d *memoryData) has(name string) bool {
	_, object := d.objects[name]
	return object || d.folders[name+"/"]
}

// moveKeys renames the key from, and those below from/.
func moveKeys[V any](all map[string]V, from, to string) {
	for key, v := range maps.Clone(all) {
		if key == from || strings.HasPrefix(key, from+"/") {
			delete(all, key)
			all[to+key[len(from):]] = v
		}
	}
}
