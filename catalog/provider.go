package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
)

// pathDatabaseName is the virtual database whose tables are paths: delta.`/lake/t`.
const pathDatabaseName = "delta"

// provider is the databases, table functions and functions that the engine sees.
type provider struct{ c *Catalog }

var (
	_ sql.MutableDatabaseProvider = provider{}
	_ sql.TableFunctionProvider   = provider{}
	_ sql.FunctionProvider        = provider{}
)

// Database returns a database by name, in any case.
func (p provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	if strings.EqualFold(name, pathDatabaseName) {
		return pathDatabase{c: p.c}, nil
	}
	if d, ok := systemDatabases[strings.ToLower(name)]; ok {
		return d, nil
	}
	if name == mysqlTablesName {
		return mysqlTables, nil
	}
	s, err := p.c.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	actual, ok, err := p.c.databaseName(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sql.ErrDatabaseNotFound.New(name)
	}
	return database{c: p.c, name: actual}, nil
}

// HasDatabase says whether there is a database of that name. An error of the lake reads as no.
func (p provider) HasDatabase(ctx *sql.Context, name string) bool {
	_, err := p.Database(ctx, name)
	if err != nil && !sql.ErrDatabaseNotFound.Is(err) {
		p.c.log.Error("look up database", "database", name, "error", err)
	}
	return err == nil
}

// AllDatabases lists the databases by name, without the one of paths. It is what information_schema goes through: a table that cannot be
// read must not take all the others from a BI tool, so these databases leave it out, with a warning.
func (p provider) AllDatabases(ctx *sql.Context) []sql.Database {
	s, err := p.c.ledger.read(ctx)
	if err != nil {
		p.c.log.Error("list databases", "error", err)
		return nil
	}
	names, err := p.c.databaseNames(ctx, s)
	if err != nil {
		p.c.log.Error("list databases", "error", err)
		return nil
	}
	out := make([]sql.Database, 0, len(names)+len(systemDatabases))
	for _, name := range names {
		if _, system := systemDatabases[strings.ToLower(name)]; !system {
			out = append(out, database{c: p.c, name: name, readableOnly: true})
		}
	}
	for _, d := range systemDatabases {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b sql.Database) int { return cmp.Compare(a.Name(), b.Name()) })
	return out
}

// CreateDatabase registers a database and makes its folder.
func (p provider) CreateDatabase(ctx *sql.Context, name string) error {
	return p.c.createDatabase(ctx, name)
}

// DropDatabase drops all tables and views of a database, and the database.
func (p provider) DropDatabase(ctx *sql.Context, name string) error {
	return p.c.dropDatabase(ctx, name)
}

// TableFunction returns one of the functions that stand where a table may stand.
func (p provider) TableFunction(_ *sql.Context, name string) (sql.TableFunction, bool) {
	f, ok := p.c.tableFunctions[strings.ToLower(name)]
	return f, ok
}

// WithTableFunctions is part of GMS's interface; the set of functions is fixed.
func (p provider) WithTableFunctions(...sql.TableFunction) (sql.TableFunctionProvider, error) {
	return p, nil
}

// Function returns our functions, which go before GMS's, and those of GMS's that take their arguments otherwise than GMS's do.
func (p provider) Function(_ *sql.Context, _, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	f, ok := ownFunction(name)
	first, as, ofNumber := numbersRead(name)
	times, ofTime := timeArguments[name]
	argumentsAs, ofOthers := argumentTypes[name]
	if !ok && (ofNumber || ofTime || ofOthers) {
		f, ok = builtIns[name]
	}
	switch {
	case ok && ofNumber:
		f = ofNumbers{f, first, as}
	case ok && ofTime:
		f = ofTimes{f, times.first, times.reading}
	case ok && ofOthers:
		f = withArguments{f, argumentsAs}
	}
	return f, ok
}

func ownFunction(name string) (sql.Function, bool) {
	for _, functions := range []map[string]sql.Function{exactFunctions, extremeFunctions, deviationFunctions, windowFunctions, timeParts, correctedFunctions, finiteFunctions, timeFunctions, baseFunctions, logFunctions, cutFunctions, shiftFunctions, jsonFunctions, asOfFunctions, variableFunctions, literalFunctions, intervalFunctions, sparkFunctions} {
		if f, ok := functions[name]; ok {
			return f, true
		}
	}
	return nil, false
}
