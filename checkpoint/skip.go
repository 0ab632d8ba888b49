package checkpoint

import (
	"context"
	"errors"

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
	err = c.putExtra(ctx, skipDir+decisionName(path), data)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// UnskipFile takes a decision of SkipFile back. One that is not there is no error.
func (c *Checkpoint) UnskipFile(ctx context.Context, path string) error {
	if err := c.Verify(ctx); err != nil {
		return err
	}
	return c.st.Delete(ctx, skipDir+decisionName(path))
}

// SkippedFiles returns the paths that SkipFile recorded, in no promised order.
func (c *Checkpoint) SkippedFiles(ctx context.Context) ([]string, error) {
	var paths []string
	for f, err := range decisions[skippedFile](ctx, c, skipDir, "that are skipped", "SKIP FILE") {
		if err != nil {
			return nil, err
		}
		paths = append(paths, f.Path)
	}
	return paths, nil
}
