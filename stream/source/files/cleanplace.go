package files

import (
	"context"
	"errors"
	"path"

	"lakesql/checkpoint"
	"lakesql/store"
)

// ownFolders are in the folders whose files belong to a Delta table, to a lake or to a checkpoint.
var ownFolders = []string{"_delta_log", "_lakesql"}

// checkPlace refuses a folder from which cleanSource takes files away, or into which it puts them, that belongs to a Delta table, to a lake or to a checkpoint, ours or
// Spark's: what lies there is no file to be taken away, whoever may read it. folder is a path from the root of the disk, without a slash in front; it need not be there.
func (c *cleaner) checkPlace(ctx context.Context, folder string) error {
	for at := folder; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		for _, own := range ownFolders {
			if path.Base(at) == own {
				return argumentError("cleanSource: /%s lies in a folder %s, where no file is taken away and none added. Give a folder of its own", folder, own)
			}
			for _, err := range c.root.List(ctx, at+"/"+own+"/", "", "/") {
				if errors.Is(err, store.ErrNotFound) {
					break
				}
				if err != nil {
					return err
				}
				return argumentError("cleanSource: /%s lies in /%s, which has a folder %s: a Delta table, a lake or a checkpoint. Give a folder of its own", folder, at, own)
			}
		}
		found, err := checkpoint.IsOne(ctx, store.Sub(c.root, at))
		if err != nil && !errors.Is(err, store.ErrRootMissing) {
			return err
		}
		if found {
			return argumentError("cleanSource: /%s lies in the checkpoint /%s. Give a folder of its own", folder, at)
		}
	}
	return nil
}

// checkMove looks at a file's folder and at the one that it is to go to, "" where it is deleted: what they were when the stream began they need not be now.
func (c *cleaner) checkMove(ctx context.Context, from, to string) error {
	for _, key := range []string{from, to} {
		if key == "" {
			continue
		}
		if c.fence != nil {
			if err := c.fence.Check(store.FileURI("/" + key)); err != nil {
				return err
			}
		}
		folder := path.Dir(key)
		err, known := c.places[folder]
		if !known {
			err = c.checkPlace(ctx, folder)
			c.places[folder] = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}
