package catalog

import (
	"cmp"
	"slices"

	"github.com/dolthub/go-mysql-server/sql/mysql_db"
)

// rolesOf are the roles of who asks. All are in force.
func (r *infoRows) rolesOf() []mysql_db.RoleEdge {
	users := r.c.engine.Analyzer.Catalog.MySQLDb
	if r.viewer.all {
		return nil
	}
	rd := users.Reader()
	defer rd.Close()
	client := r.ctx.Session.Client()
	user := users.GetUser(rd, client.User, client.Address, false)
	if user == nil {
		return nil
	}
	var out []mysql_db.RoleEdge
	for _, edge := range rd.GetToUserRoleEdges(mysql_db.RoleEdgesToKey{ToHost: user.Host, ToUser: user.User}) {
		out = append(out, *edge)
	}
	slices.SortFunc(out, func(a, b mysql_db.RoleEdge) int {
		return cmp.Or(cmp.Compare(a.FromUser, b.FromUser), cmp.Compare(a.FromHost, b.FromHost))
	})
	return out
}

func listApplicableRoles(r *infoRows) error { return r.listRoles(false) }

// listAdministrableRoles are those that the user may grant.
func listAdministrableRoles(r *infoRows) error { return r.listRoles(true) }

func (r *infoRows) listRoles(administrable bool) error {
	for _, e := range r.rolesOf() {
		if administrable && !e.WithAdminOption {
			continue
		}
		if err := r.add(e.ToUser, e.ToHost, e.ToUser, e.ToHost, e.FromUser, e.FromHost, yesNo(e.WithAdminOption), "YES", "NO"); err != nil {
			return err
		}
	}
	return nil
}

func listEnabledRoles(r *infoRows) error {
	for _, e := range r.rolesOf() {
		if err := r.add(e.FromUser, e.FromHost, "YES", "NO"); err != nil {
			return err
		}
	}
	return nil
}
