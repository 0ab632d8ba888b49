package files

import (
	"context"
	"errors"
	"fmt"

	"lakesql/store"
)

// Away returns the URI of the folder that the set begins at when that folder is not there: unmounted, moved, or not made yet; "" when it is there. Where the
// set is one file, which read says yes to, it begins at the file's folder.
func (s *Set) Away(ctx context.Context, read func(uri string) bool) (folder string, err error) {
	folder = s.location.base
	if read(folder) {
		if folder, _, err = splitURI(folder); err != nil {
			return "", err
		}
	}
	st, err := s.open(folder)
	if err != nil {
		return "", err
	}
	_, err = st.Stat(ctx, "any") // of any name: what matters is whether there is a folder to look into
	switch {
	case errors.Is(err, store.ErrRootMissing):
		return folder, nil
	case err == nil, errors.Is(err, store.ErrNotFound):
		return "", nil
	}
	return "", fmt.Errorf("look at %s: %w", folder, err)
}
