package catalog

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"lakesql/store"
)

// makeRoot makes a store's folder where folders are things of their own.
func makeRoot(ctx context.Context, st store.Store) error {
	if m, ok := st.(store.RootMaker); ok {
		if err := m.MakeRoot(ctx); err != nil {
			return fmt.Errorf("make %s: %w", st.URI(), err)
		}
	}
	return nil
}

// reserved says whether a folder or database name is never a table or database by itself.
func reserved(name string) bool { return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") }

// checkName refuses names that cannot be a folder.
func checkName(kind, name string) error {
	if name == "" || reserved(name) || strings.ContainsAny(name, "/\\") || strings.ContainsFunc(name, unicode.IsControl) {
		return refuse(KindInvalid, "%s name %q: a name is a folder of the lake: not empty, without /, \\ and control characters such as line ends, and it does not begin with _ or .", kind, name)
	}
	return nil
}
