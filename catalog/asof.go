package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/sqlext"
)

// openTableAsOf returns a table at a version or at a time. GMS gives what stands behind AS OF as a text, or as a time.
func (c *Catalog) openTableAsOf(ctx *sql.Context, database, name string, handle *delta.Table, asOf any) (*table, error) {
	if asOf == targetAsOf {
		if t := targetOf(ctx); t != nil {
			return t, nil
		}
	}
	version, err := versionAsOf(ctx, handle, asOf)
	if err != nil {
		return nil, fmt.Errorf("table %s.%s: %w", database, name, err)
	}
	if version == newestVersion {
		return c.openTable(ctx, database, name, handle)
	}
	snap, err := handle.SnapshotAt(ctx, version)
	if err != nil {
		return nil, fmt.Errorf("table %s.%s version %d: %w", database, name, version, err)
	}
	return &table{c: c, database: database, name: name, handle: handle, snap: snap, historical: true}, nil
}

// newestVersion stands for the newest version, which is what a parameter of AS OF means while the statement is only prepared.
const newestVersion = -1

func versionAsOf(ctx *sql.Context, handle *delta.Table, asOf any) (int64, error) {
	switch v := asOf.(type) {
	case time.Time:
		return versionAt(ctx, handle, v)
	case nil:
		return newestVersion, nil
	case string:
		if v == unboundAsOf {
			return newestVersion, nil
		}
		if text, ok := strings.CutPrefix(v, sqlext.AsOfTimestampPrefix); ok {
			return versionAtText(ctx, handle, text)
		}
		text := strings.TrimPrefix(v, sqlext.AsOfVersionPrefix)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 {
			return n, nil
		}
		if text != v {
			return 0, refuse(KindInvalid, "VERSION AS OF %q: a version is a number from 0 on", text)
		}
		return versionAtText(ctx, handle, text)
	default:
		return 0, refuse(KindInvalid, "AS OF %v: give a version as a number or a time as a text", asOf)
	}
}

func versionAtText(ctx *sql.Context, handle *delta.Table, text string) (int64, error) {
	us, err := batch.ParseTimestamp([]byte(text), time.UTC)
	if err != nil {
		return 0, fmt.Errorf("TIMESTAMP AS OF %q: %w", text, err)
	}
	return versionAt(ctx, handle, time.UnixMicro(us))
}

// versionAt is the version at a time. What the table will be at one that has not come yet, nobody knows.
func versionAt(ctx *sql.Context, handle *delta.Table, at time.Time) (int64, error) {
	version, err := handle.VersionAt(ctx, at)
	if err == nil && at.After(time.Now()) {
		err = refuse(KindInvalid, "[DELTA_TIMESTAMP_GREATER_THAN_COMMIT] %s is in the future; the newest version is %d: give a time that has passed, or VERSION AS OF %d",
			at.UTC().Format(time.RFC3339Nano), version, version)
	}
	return version, err
}

// unboundAsOf is the value of an AS OF whose parameter has no value yet.
const unboundAsOf = "?"

// asOfFunctions are the functions that sqlext.Rewrite puts around a parameter of AS OF.
var asOfFunctions = map[string]sql.Function{
	sqlext.AsOfFunction:          asOfFunction(sqlext.AsOfFunction, ""),
	sqlext.AsOfVersionFunction:   asOfFunction(sqlext.AsOfVersionFunction, sqlext.AsOfVersionPrefix),
	sqlext.AsOfTimestampFunction: asOfFunction(sqlext.AsOfTimestampFunction, sqlext.AsOfTimestampPrefix),
}

func asOfFunction(name, prefix string) sql.Function {
	return sql.Function1{Name: name, Fn: func(_ *sql.Context, arg sql.Expression) sql.Expression {
		return &asOfText{UnaryExpressionStub: expression.UnaryExpressionStub{Child: arg}, name: name, prefix: prefix}
	}}
}

// asOfText turns a parameter into the text that a literal behind AS OF is rewritten to.
type asOfText struct {
	expression.UnaryExpressionStub
	name, prefix string
}

var _ sql.Expression = (*asOfText)(nil)

func (e *asOfText) String() string { return e.name + "(" + e.Child.String() + ")" }

// Type is text.
func (e *asOfText) Type(*sql.Context) sql.Type { return types.LongText }

// WithChildren returns the function with another argument.
func (e *asOfText) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(e, len(children), 1)
	}
	out := *e
	out.Child = children[0]
	return &out, nil
}

// Eval gives the prefixed text.
func (e *asOfText) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if _, ok := e.Child.(*expression.BindVar); ok {
		return unboundAsOf, nil
	}
	v, err := e.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return nil, refuse(KindInvalid, "AS OF NULL: give a version as a number or a time as a text")
	case time.Time:
		return sqlext.AsOfTimestampPrefix + v.UTC().Format("2006-01-02 15:04:05.999999"), nil
	case string:
		if e.prefix == "" {
			return sqlext.AsOfTimestampPrefix + v, nil
		}
		return e.prefix + v, nil
	default:
		if e.prefix == "" {
			return fmt.Sprintf("%s%v", sqlext.AsOfVersionPrefix, v), nil
		}
		return fmt.Sprintf("%s%v", e.prefix, v), nil
	}
}
