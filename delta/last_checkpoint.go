package delta

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/store"
)

// _last_checkpoint is a hint where to start listing. It may be missing, damaged, or name a checkpoint that is gone.

// Bounds of what the hint repeats of the checkpoint, which are Spark's.
const (
	maxHintSchema   = 20_000 // bytes
	maxHintActions  = 30
	maxHintSidecars = 30
)

// lastCheckpointJSON are the fields that this package writes, in Spark's order.
type lastCheckpointJSON struct {
	Version          int64           `json:"version"`
	Size             int64           `json:"size"` // actions
	SizeInBytes      int64           `json:"sizeInBytes"`
	NumOfAddFiles    int64           `json:"numOfAddFiles"`
	CheckpointSchema json.RawMessage `json:"checkpointSchema,omitempty"`
	V2Checkpoint     *v2HintJSON     `json:"v2Checkpoint,omitempty"`
	Checksum         string          `json:"checksum,omitempty"`
}

// v2HintJSON repeats a V2 checkpoint's own file for readers that need not open it then. The protocol does not have it; Spark does.
type v2HintJSON struct {
	Path             string            `json:"path"`
	SizeInBytes      int64             `json:"sizeInBytes"`
	ModificationTime int64             `json:"modificationTime"`
	NonFileActions   []json.RawMessage `json:"nonFileActions,omitempty"`
	SidecarFiles     *[]sidecarJSON    `json:"sidecarFiles,omitempty"`
}

type sidecarJSON struct {
	Path             string `json:"path"`
	SizeInBytes      int64  `json:"sizeInBytes"`
	ModificationTime int64  `json:"modificationTime"`
}

// hintSchema is a schema as hints have it; nil when it is too long for them.
func hintSchema(schema *batch.Schema) json.RawMessage {
	if text := FormatSchema(schema); len(text) <= maxHintSchema {
		return json.RawMessage(text)
	}
	return nil
}

// readLastCheckpoint returns the version that the hint names, unless there is any doubt about the hint.
func readLastCheckpoint(ctx context.Context, st store.Store) (version int64, ok bool) {
	data, err := st.Get(ctx, lastCheckpointKey)
	if err != nil {
		return 0, false
	}
	return parseLastCheckpoint(data)
}

func parseLastCheckpoint(data []byte) (version int64, ok bool) {
	var in struct {
		Version  *int64 `json:"version"`
		Checksum string `json:"checksum"`
	}
	if err := json.Unmarshal(data, &in); err != nil || in.Version == nil || *in.Version < 0 {
		return 0, false
	}
	if in.Checksum != "" {
		leaves, err := hintLeaves(data)
		if err != nil || !slices.ContainsFunc(leafOrders, func(o leafOrder) bool { return leaves.sum(o) == in.Checksum }) {
			return 0, false
		}
	}
	return *in.Version, true
}

// writeLastCheckpoint replaces the hint.
func writeLastCheckpoint(ctx context.Context, st store.Store, hint lastCheckpointJSON) error {
	leaves, err := hintLeaves(mustJSON(hint))
	if err == nil && hint.V2Checkpoint != nil && leaves.sum(byPath) != leaves.sum(byPair) {
		hint.V2Checkpoint.NonFileActions = nil // rather than a checksum that half of the readers find wrong
		leaves, err = hintLeaves(mustJSON(hint))
	}
	if err != nil {
		return err
	}
	hint.Checksum = leaves.sum(byPath)
	w, err := st.Create(ctx, lastCheckpointKey)
	if err != nil {
		return fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err)
	}
	if _, err := w.Write(mustJSON(hint)); err != nil {
		return errors.Join(fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err), w.Abort())
	}
	if err := w.Commit(ctx, false); err != nil {
		return fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err)
	}
	return nil
}

// leaf is a value in a JSON document that is neither object nor array, in the protocol's canonical form: the names and positions that
// lead to it joined by "+"; names and strings quoted and percent-encoded, other literals as they are written.
type leaf struct{ path, value string }

type leaves []leaf

// leafOrder is an order of leaves.
type leafOrder func(a, b leaf) int

// The protocol sorts by path. Spark sorts the finished pairs, and "=" comes behind digits, so that the order differs within arrays of
// more than ten literals.
func byPath(a, b leaf) int { return cmp.Compare(a.path, b.path) }
func byPair(a, b leaf) int { return cmp.Compare(a.path+"=", b.path+"=") }

var leafOrders = []leafOrder{byPath, byPair}

// sum is the checksum of a document: the MD5 of its leaves as path=value, joined by commas.
func (l leaves) sum(order leafOrder) string {
	slices.SortFunc(l, order)
	var text []byte
	for i, leaf := range l {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, leaf.path...), '='), leaf.value...)
	}
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:])
}

var errRepeatedKey = errors.New("a key is there twice")

// hintLeaves are the leaves of a hint but for its checksum.
func hintLeaves(data []byte) (leaves, error) {
	s := jsonScanner{text: data}
	s.space()
	var out leaves
	out.add(&s, "")
	if err := s.end(); err != nil {
		return nil, fmt.Errorf("checksum of _last_checkpoint: %w", err)
	}
	out = slices.DeleteFunc(out, func(l leaf) bool { return l.path == `"checksum"` })
	slices.SortFunc(out, byPath)
	for i := range out {
		if i > 0 && out[i].path == out[i-1].path {
			return nil, fmt.Errorf("checksum of _last_checkpoint: %s: %w", out[i].path, errRepeatedKey)
		}
	}
	return out, nil
}

// add appends the leaves of the value at hand.
func (l *leaves) add(s *jsonScanner, path string) {
	below := func(step string) string {
		if path == "" {
			return step
		}
		return path + "+" + step
	}
	switch s.peek() {
	case '{':
		for ok := s.enter('}'); ok; ok = s.more('}') {
			l.add(s, below(canonicalString(s.key())))
		}
	case '[':
		i := 0
		for ok := s.enter(']'); ok; ok = s.more(']') {
			l.add(s, below(strconv.Itoa(i)))
			i++
		}
	case '"':
		*l = append(*l, leaf{path, canonicalString(s.bytes())})
	default:
		*l = append(*l, leaf{path, string(s.raw())})
	}
}

// canonicalString quotes a string and percent-encodes what is not unreserved in RFC 3986.
func canonicalString(s []byte) string {
	out := []byte{'"'}
	for _, c := range s {
		if isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(append(out, '"'))
}
