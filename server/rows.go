package server

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/catalog"
	"lakesql/catalog/mysqltype"
)

// A result goes out in pieces of so many rows or bytes, whichever comes first.
const (
	pieceRows  = 256
	pieceBytes = 64 << 10
)

// maxRangeWarnings bounds the warnings of one statement for dates that MySQL cannot show, as MySQL's max_error_count does.
const maxRangeWarnings = 64

func drain(ctx *sql.Context, rows sql.RowIter) (ok types.OkResult, err error) {
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			return ok, nil
		}
		if err != nil {
			return ok, err
		}
		if len(row) == 1 {
			if r, is := row[0].(types.OkResult); is {
				ok = r
			}
		}
	}
}

// sendResult sends the rows of a result.
func sendResult(ctx *sql.Context, c *mysql.Conn, schema sql.Schema, rows sql.RowIter, out *spool) error {
	if done, err := sendBatches(ctx, c, schema, rows, out); done {
		return err
	}
	return sendRows(ctx, c, schema, rows, out)
}

// sendRows sends a result piece by piece. One buffer serves all pieces: vitess has copied a piece when put returns. The rows are
// closed, which commits what the statement did, before the last piece goes out.
func sendRows(ctx *sql.Context, c *mysql.Conn, schema sql.Schema, rows sql.RowIter, out *spool) (err error) {
	closed := false
	defer func() {
		if !closed {
			err = errors.Join(err, rows.Close(ctx))
		}
	}()
	p := newPiece(ctx, schema)
	for {
		row, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if err := p.add(ctx, row); err != nil {
			return err
		}
		if !p.full() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := out.put(&p.result); err != nil {
			return err
		}
		p.reset()
	}
	closed = true
	if err := rows.Close(ctx); err != nil {
		return err
	}
	if err := setStatus(ctx, c); err != nil {
		return err
	}
	return out.put(&p.result)
}

// piece is some rows as vitess takes them.
type piece struct {
	schema  sql.Schema
	append  []appendFunc
	result  sqltypes.Result
	values  []sqltypes.Value // of all rows
	buf     []byte           // the bytes of values
	pending int              // bytes of values

	warnings int // of the whole result
}

func newPiece(ctx *sql.Context, schema sql.Schema) *piece {
	p := &piece{schema: schema, values: make([]sqltypes.Value, 0, pieceRows*len(schema))}
	p.result.Fields = resultFields(ctx, schema, catalog.ResultColumns(ctx))
	p.result.Rows = make([][]sqltypes.Value, 0, pieceRows)
	for i, column := range schema {
		p.append = append(p.append, appender(ctx, column.Type, p.result.Fields[i].Decimals))
	}
	return p
}

func (p *piece) full() bool { return len(p.result.Rows) == pieceRows || p.pending >= pieceBytes }

func (p *piece) reset() {
	p.result.Rows, p.result.RowsAffected = p.result.Rows[:0], 0
	p.values, p.buf, p.pending = p.values[:0], p.buf[:0], 0
}

func (p *piece) add(ctx *sql.Context, row sql.Row) error {
	if len(row) != len(p.schema) {
		return fmt.Errorf("a row has %d values for %d columns", len(row), len(p.schema))
	}
	start := len(p.values)
	for i, value := range row {
		v, err := p.value(ctx, i, value)
		if err != nil {
			return err
		}
		p.values = append(p.values, v)
		p.pending += len(v.Raw())
	}
	p.result.Rows = append(p.result.Rows, p.values[start:len(p.values):len(p.values)])
	p.result.RowsAffected++
	return nil
}

// value writes a value's text into buf, or, where the type's own way is taken, wherever that puts it.
func (p *piece) value(ctx *sql.Context, column int, value any) (sqltypes.Value, error) {
	if value == nil {
		return sqltypes.NULL, nil
	}
	typ := p.schema[column].Type
	if at, ok := value.(time.Time); ok && !mysqltype.Shown(at) {
		if p.warnings++; p.warnings <= maxRangeWarnings {
			ctx.Warn(mysql.ERTruncatedWrongValue, "Incorrect datetime value in column '%s': outside the years 0000 to 9999", p.schema[column].Name)
		}
		return sqltypes.NULL, nil
	}
	if write := p.append[column]; write != nil {
		if buf, ok := write(p.buf, value); ok {
			text := buf[len(p.buf):len(buf):len(buf)]
			p.buf = buf
			return sqltypes.MakeTrusted(p.sent(column), text), nil
		}
	}
	used := len(p.buf)
	v, err := typ.SQL(ctx, p.buf[used:], value)
	if err != nil {
		return sqltypes.Value{}, fmt.Errorf("write column %s: %w", p.schema[column].Name, err)
	}
	if raw := v.Raw(); len(raw) > 0 && used+len(raw) <= cap(p.buf) && &raw[0] == &p.buf[:used+1][used] {
		p.buf = p.buf[:used+len(raw)] // it is in buf
	}
	if sent := p.sent(column); v.Type() != sent && !v.IsNull() {
		return sqltypes.MakeTrusted(sent, v.Raw()), nil
	}
	return v, nil
}

// sent is the type as which the client gets a column's values.
func (p *piece) sent(column int) querypb.Type { return p.result.Fields[column].Type }

// setStatus tells the client, in the packet that ends the result, whether it is in a transaction.
func setStatus(ctx *sql.Context, c *mysql.Conn) error {
	value, err := ctx.GetSessionVariable(ctx, sql.AutoCommitSessionVar)
	if err != nil {
		return err
	}
	autocommit, err := sql.ConvertToBool(ctx, value)
	if err != nil {
		return err
	}
	setFlag(&c.StatusFlags, uint16(mysql.ServerStatusAutocommit), autocommit)
	setFlag(&c.StatusFlags, uint16(mysql.ServerInTransaction), ctx.GetTransaction() != nil)
	return nil
}

// beginsWithAutocommit is what a session begins with. A driver that is told of nothing in the handshake takes autocommit for off, PyMySQL for one, and never turns it off.
func beginsWithAutocommit() bool {
	_, value, ok := sql.SystemVariables.GetGlobal(sql.AutoCommitSessionVar)
	if !ok {
		return true
	}
	on, err := sql.ConvertToBool(sql.NewEmptyContext(), value)
	return on || err != nil
}

func setFlag(flags *uint16, flag uint16, on bool) {
	if on {
		*flags |= flag
	} else {
		*flags &^= flag
	}
}
