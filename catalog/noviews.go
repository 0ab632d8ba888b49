package catalog

import "github.com/dolthub/go-mysql-server/sql"

// errViews says where views are.
var errViews = refuse(KindInvalid, "only a database of the lake holds views: CREATE VIEW %s.name AS ...", defaultDatabase)

// noViews is the part of a database that GMS asks for by each name that is no table's, of one that holds no views.
type noViews struct{}

// CreateView is refused.
func (noViews) CreateView(*sql.Context, string, string, string) error { return errViews }

// DropView is refused, as CreateView is.
func (noViews) DropView(*sql.Context, string) error { return errViews }

// GetViewDefinition finds none.
func (noViews) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews lists none.
func (noViews) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }
