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

// skippedFile is one object below _lakesql/skip/, named by the SHA-256 of the path in hex.
type skippedFile struct {
	Path string `json:"path"`
}

// SkipFile records that somebody has decided to leave a source file out, for good: a reset keeps it. The same again is no error.
func (c *Checkpoint) SkipFile(ctx context.Context, path string) error {
	data, err := marshal(skippedFile{Path: path})
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(path))
	err = c.putExtra(ctx, skipDir+hex.EncodeToString(sum[:])+".json", data)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// SkippedFiles returns the paths that SkipFile recorded, in no promised order.
func (c *Checkpoint) SkippedFiles(ctx context.Context) ([]string, error) {
	var paths []string
	for info, err := range c.st.List(ctx, skipDir, "", "") {
		if err != nil {
			return nil, gone(c.st, fmt.Errorf("list the skipped files: %w", err))
		}
		data, _, err := c.getExtra(ctx, info.Key)
		if err != nil {
			return nil, err
		}
		var f skippedFile
		if err := json.Unmarshal(data, &f); err != nil {
			return nil, damaged(c.st, info.Key, "rm "+shellPath(c.st, info.Key)+", and type ALTER STREAM ... SKIP FILE again", "%v", err)
		}
		paths = append(paths, f.Path)
	}
	return paths, nil
}
