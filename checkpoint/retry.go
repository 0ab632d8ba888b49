package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"lakesql/store"
)

// retriedFile is one object below _lakesql/retry/<source>/, named by the entry and the SHA-256 of the path in hex.
type retriedFile struct {
	Path  string `json:"path"`
	Entry int64  `json:"entry"`
}

func retryPrefix(source int) string { return retryDir + strconv.Itoa(source) + "/" }

// RetryFile records that a file of a source, which was left out when that entry of the source log was read, is to be taken once more. That holds until the log has
// a later entry of the file. The same again is no error.
func (c *Checkpoint) RetryFile(ctx context.Context, source int, path string, entry int64) error {
	data, err := marshal(retriedFile{path, entry})
	if err != nil {
		return err
	}
	err = c.putExtra(ctx, fmt.Sprintf("%s%020d-%s", retryPrefix(source), entry, decisionName(path)), data)
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// RetriedFiles returns, by path, the entries that RetryFile has recorded for a source: of each file the newest.
func (c *Checkpoint) RetriedFiles(ctx context.Context, source int) (map[string]int64, error) {
	entries := map[string]int64{}
	for f, err := range decisions[retriedFile](ctx, c, retryPrefix(source), "to be taken once more", "RETRY") {
		if err != nil {
			return nil, err
		}
		entries[f.Path] = max(f.Entry, entries[f.Path])
	}
	return entries, nil
}
