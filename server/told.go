package server

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"lakesql/catalog"
)

// sendOK runs a statement that has no rows and sends what it did. The OK packet is ours: vitess writes its text in a form that clients cannot read, and counts
// no warnings of a prepared statement.
func sendOK(ctx *sql.Context, c *mysql.Conn, stmt sqlparser.Statement, rows sql.RowIter, out *spool) error {
	ok, err := drain(ctx, rows)
	if err = errors.Join(err, rows.Close(ctx)); err != nil {
		return err
	}
	if err := setStatus(ctx, c); err != nil {
		return err
	}
	status := c.StatusFlags
	if out.more {
		status |= mysql.ServerMoreResultsExists
	}
	if err := c.FlushBuffer(); err != nil { // what belongs to the result before
		return err
	}
	id := catalog.InsertID(ctx)
	front(c).endWith(okPacket(ok.RowsAffected, id, status, ctx.Session.WarningCount(), told(stmt, ok, ctx.Session.WarningCount())))
	return out.put(&sqltypes.Result{RowsAffected: ok.RowsAffected, InsertID: id})
}

// told is the text with which MySQL says what a statement did; empty for most.
func told(stmt sqlparser.Statement, ok types.OkResult, warnings uint16) string {
	if ok.Info != nil {
		return ok.Info.String()
	}
	switch stmt := stmt.(type) {
	case *sqlparser.Insert:
		if rows, is := stmt.Rows.(*sqlparser.AliasedValues); is && len(rows.Values) == 1 {
			return ""
		}
		return fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: %d", ok.RowsAffected, warnings)
	case *sqlparser.Load:
		return fmt.Sprintf("Records: %d  Deleted: 0  Skipped: 0  Warnings: %d", ok.RowsAffected, warnings)
	}
	return ""
}

// okPacket is the payload of an OK packet as protocol 4.1 has it.
func okPacket(affected, insertID uint64, status, warnings uint16, text string) []byte {
	b := []byte{0}
	b = appendLength(b, affected)
	b = appendLength(b, insertID)
	b = binary.LittleEndian.AppendUint16(b, status)
	b = binary.LittleEndian.AppendUint16(b, warnings)
	if text == "" {
		return b
	}
	return append(appendLength(b, uint64(len(text))), text...)
}

// appendLength appends a number as lengths are written.
func appendLength(dst []byte, n uint64) []byte {
	switch {
	case n < nullText:
		return append(dst, byte(n))
	case n < 1<<16:
		return append(dst, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(dst, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(dst, 0xfe), n)
}
