package catalog

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
)

// sysTables are the tables of the database sys.
var sysTables = map[string]func(database, name string) sql.Table{
	"version": computes(versionColumns, func(*sql.Context) ([]string, error) {
		_, version, _ := sql.SystemVariables.GetGlobal("version")
		return []string{fmt.Sprint(version)}, nil
	}),
}

// sysVersion is the version of MySQL's sys schema whose columns these are.
const sysVersion = "2.1.3"

// versionColumns are those of sys.version, by MySQL's names, which are in lower case there.
var versionColumns = []computedColumn[string]{
	{"sys_version", textType, func(string) any { return sysVersion }},
	{"mysql_version", textType, func(version string) any { return version }},
}
