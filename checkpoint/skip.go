package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"lakesql/store"
)

const skipDir = "_lakesql/skip/"

// skippedFile is one object below _lakesql/skip/, named by the hash of the path.
type skippedFile struct {
	Path string `json:"path"`
}

// SkipFile records that a source file is left out, for good. The same again is fine.
func (c *Checkpoint) SkipFile(ctx context.Context, path string) error {
	data, err := json.Marshal(skippedFile{Path: path})
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	sum := sha256.Sum256([]byte(path))
	err = c.st.PutIfAbsent(ctx, skipDir+hex.EncodeToString(sum[:])+".json", data)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// SkippedFiles returns the paths that SkipFile recorded, in no promised order.
func (c *Checkpoint) SkippedFiles(ctx context.Context) ([]string, error) {
	var out []string
	for info, err := range c.st.List(ctx, skipDir, "", "") {
		if err != nil {
			return nil, err
		}
		data, err := c.st.Get(ctx, info.Key)
		if err != nil {
			return nil, err
		}
		var f skippedFile
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, damaged(c.st, info.Key, "remove the file, and type ALTER STREAM ... SKIP FILE again", "not a skipped file: %v", err)
		}
		out = append(out, f.Path)
	}
	return out, nil
}
