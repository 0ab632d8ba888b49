package catalog

import (
	"math"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// sizeCasts refuses a CAST to a type that MySQL has no such size of, and writes CAST(e AS DECIMAL) as CAST(e AS DECIMAL(10)), which it is: GMS has no digits then, as in the
// casts that it puts around columns of UNION.
func sizeCasts(stmt ast.SQLNode) error {
	return ast.Walk(func(n ast.SQLNode) (bool, error) {
		c, ok := n.(*ast.ConvertExpr)
		if !ok || c.Type == nil {
			return true, nil
		}
		if strings.EqualFold(c.Type.Type, "decimal") && c.Type.Length == nil {
			c.Type.Length = ast.NewIntVal([]byte("10"))
		}
		return true, castSize(c)
	}, stmt)
}

func castSize(c *ast.ConvertExpr) error {
	length, scale := typeSize(c.Type.Length), typeSize(c.Type.Scale)
	switch strings.ToLower(c.Type.Type) {
	case "decimal":
		return castDecimal(ast.String(c.Expr), length, scale)
	case "time", "datetime":
		if length > types.MaxDatetimePrecision {
			return mysql.NewSQLError(1426, "42000", "Too-big precision %d specified for 'CAST'. Maximum is %d.", length, types.MaxDatetimePrecision)
		}
	case "char", "nchar", "binary":
		if length > math.MaxUint32 {
			return mysql.NewSQLError(1439, "42000", "Display width out of range for column 'cast as char' (max = %d)", uint32(math.MaxUint32))
		}
	}
	return nil
}

// maxScale is of MySQL's DECIMAL.
const maxScale = 30

// castDecimal refuses a DECIMAL that MySQL has not for a CAST, in the order in which MySQL looks.
func castDecimal(what string, digits, scale uint64) error {
	switch {
	case scale > digits:
		return scaleAbove("")
	case digits > types.DecimalTypeMaxPrecision:
		return tooPrecise(what, digits)
	case scale > maxScale:
		return scaleTooBig(what, scale)
	}
	return nil
}

// columnSizes refuses a table with a column that columnSize refuses.
func columnSizes(ddl *ast.DDL) error {
	if ddl.TableSpec == nil {
		return nil
	}
	for _, c := range ddl.TableSpec.Columns {
		if err := columnSize(c.Name.String(), &c.Type); err != nil {
			return err
		}
	}
	return nil
}

// columnSize refuses a column of a type that MySQL has no such size of.
func columnSize(column string, t *ast.ColumnType) error {
	if !strings.EqualFold(t.Type, "decimal") && !strings.EqualFold(t.Type, "numeric") {
		return nil
	}
	digits, scale := typeSize(t.Length), typeSize(t.Scale)
	switch {
	case scale > maxScale:
		return scaleTooBig(column, scale)
	case digits > types.DecimalTypeMaxPrecision:
		return tooPrecise(column, digits)
	case digits > 0 && scale > digits:
		return scaleAbove(column)
	}
	return nil
}

func tooPrecise(what string, digits uint64) error {
	return mysql.NewSQLError(1426, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.", digits, what, types.DecimalTypeMaxPrecision)
}

func scaleTooBig(what string, scale uint64) error {
	return mysql.NewSQLError(1425, "42000", "Too big scale %d specified for column '%s'. Maximum is %d.", scale, what, maxScale)
}

func scaleAbove(column string) error {
	return mysql.NewSQLError(1427, "42000", "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').", column)
}

// typeSize is a size in a type; 0 for none.
func typeSize(v *ast.SQLVal) uint64 {
	if v == nil {
		return 0
	}
	n, err := strconv.ParseUint(string(v.Val), 10, 64)
	if err != nil { // digits that are more than the number takes
		return math.MaxUint64
	}
	return n
}
