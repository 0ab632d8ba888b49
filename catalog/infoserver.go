package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
)

// listCharacterSets has every character set that a collation is of, those too that the server converts no text to.
func listCharacterSets(r *infoRows) error {
	sets := sql.NewCharacterSetsIterator()
	for set, ok := sets.Next(); ok; set, ok = sets.Next() {
		if err := r.add(set.Name, set.DefaultCollation.Name(), set.Description, set.MaxLength); err != nil {
			return err
		}
	}
	return nil
}

func listCollations(r *infoRows) error {
	return eachCollation(func(c sql.Collation) error {
		return r.add(c.Name, c.CharacterSet.Name(), uint64(c.ID), c.ID.IsDefault(), c.ID.IsCompiled(), c.ID.SortLength(), c.ID.PadAttribute())
	})
}

func listApplicability(r *infoRows) error {
	return eachCollation(func(c sql.Collation) error { return r.add(c.Name, c.CharacterSet.Name()) })
}

func eachCollation(f func(c sql.Collation) error) error {
	collations := sql.NewCollationsIterator()
	for c, ok := collations.Next(); ok; c, ok = collations.Next() {
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// listPlugins are the parts of this server that MySQL has as plugins.
func listPlugins(r *infoRows) error {
	_, version, _ := sql.SystemVariables.GetGlobal("version")
	native := "DISABLED"
	if r.c.cfg.NativePassword {
		native = "ACTIVE"
	}
	for _, p := range []struct{ name, status, kind, description string }{
		{"mysql_native_password", native, "AUTHENTICATION", "Native MySQL authentication"},
		{"caching_sha2_password", "ACTIVE", "AUTHENTICATION", "Caching sha2 authentication"},
		{storageEngine, "ACTIVE", "STORAGE ENGINE", "Delta Lake"},
		{"PERFORMANCE_SCHEMA", "ACTIVE", "STORAGE ENGINE", "Performance Schema"},
	} {
		if err := r.add(p.name, "1.0", p.status, p.kind, fmt.Sprint(version), nil, nil, "lakesql", p.description, "Apache-2.0", "FORCE"); err != nil {
			return err
		}
	}
	return nil
}

// listProcesses is the list that the server has for who asks.
func listProcesses(r *infoRows) error {
	for _, p := range r.ctx.ProcessList.Processes() {
		if err := r.add(uint64(p.Connection), p.User, p.Host, orNull(p.Database), string(p.Command), int64(p.Seconds()), processState(p), orNull(p.Query)); err != nil {
			return err
		}
	}
	return nil
}
