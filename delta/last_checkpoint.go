package delta

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"lakesql/store"
)

// _last_checkpoint is a hint where to start listing. It may be missing, damaged, or name a checkpoint that is gone.

// lastCheckpointJSON are the fields that this package writes, in Spark's order.
type lastCheckpointJSON struct {
	Version       int64  `json:"version"`
	Size          int64  `json:"size"` // actions
	SizeInBytes   int64  `json:"sizeInBytes"`
	NumOfAddFiles int64  `json:"numOfAddFiles"`
	Checksum      string `json:"checksum,omitempty"`
}

// readLastCheckpoint returns the version that the hint names, unless there is any doubt about the hint.
func readLastCheckpoint(ctx context.Context, st store.Store) (version int64, ok bool) {
	data, err := st.Get(ctx, lastCheckpointKey)
	if err != nil {
		return 0, false
	}
	in := struct {
		Version  *int64 `json:"version"`
		Checksum string `json:"checksum"`
	}{}
	if err := json.Unmarshal(data, &in); err != nil || in.Version == nil || *in.Version < 0 {
		return 0, false
	}
	if in.Checksum != "" {
		if sum, err := lastCheckpointChecksum(data); err != nil || sum != in.Checksum {
			return 0, false
		}
	}
	return *in.Version, true
}

// writeLastCheckpoint replaces the hint.
func writeLastCheckpoint(ctx context.Context, st store.Store, hint lastCheckpointJSON) error {
	sum, err := lastCheckpointChecksum(mustJSON(hint))
	if err != nil {
		return err
	}
	hint.Checksum = sum
	w, err := st.Create(ctx, lastCheckpointKey)
	if err != nil {
		return fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err)
	}
	if _, err := w.Write(mustJSON(hint)); err != nil {
		w.Abort()
		return fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err)
	}
	if err := w.Commit(ctx, false); err != nil {
		return fmt.Errorf("write _last_checkpoint of %s: %w", st.URI(), err)
	}
	return nil
}

// lastCheckpointChecksum is the MD5 of the protocol's canonical form: every leaf as its path, the parts joined by "+", then
// "=" and its value; strings and names percent-encoded and strings quoted, other literals as they are written; the leaves
// sorted and joined by commas. The field checksum itself is left out.
func lastCheckpointChecksum(data []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return "", fmt.Errorf("checksum of _last_checkpoint: %w", err)
	}
	delete(doc, "checksum")
	leaves := canonicalLeaves(make(map[string]string), "", doc)
	var text []byte
	for i, path := range sortedKeys(leaves) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, path...), '='), leaves[path]...)
	}
	sum := md5.Sum(text)
	return hex.EncodeToString(sum[:]), nil
}

// canonicalLeaves adds the leaves of a value to dst, by path.
func canonicalLeaves(dst map[string]string, path string, value any) map[string]string {
	below := func(key string) string {
		if path == "" {
			return key
		}
		return path + "+" + key
	}
	switch v := value.(type) {
	case map[string]any:
		for k, child := range v {
			canonicalLeaves(dst, below(canonicalString(k)), child)
		}
	case []any:
		for i, child := range v {
			canonicalLeaves(dst, below(fmt.Sprint(i)), child)
		}
	case string:
		dst[path] = canonicalString(v)
	case nil:
		dst[path] = "null"
	default: // json.Number keeps its literal
		dst[path] = fmt.Sprint(v)
	}
	return dst
}

// canonicalString quotes a string and percent-encodes what is not unreserved in RFC 3986.
func canonicalString(s string) string {
	out := []byte{'"'}
	for i := range len(s) {
		if c := s[i]; isAlphanumeric(c) || strings.IndexByte("-._~", c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(append(out, '"'))
}
