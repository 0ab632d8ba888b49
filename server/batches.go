package server

import (
	"context"
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"lakesql/batch"
	"lakesql/catalog/compile"
)

// batchesOf finds the batches below what GMS puts around every result, and what of it counts the rows.
func batchesOf(rows sql.RowIter) (from compile.BatchRows, counted *plan.TrackedRowIter, ok bool) {
	for {
		switch r := rows.(type) {
		case compile.BatchRows:
			return r, counted, true
		case *rowexec.ExprCloserIter:
			rows = r.GetIter()
		case *rowexec.TransactionCommittingIter:
			rows = r.GetIter()
		case *plan.TrackedRowIter:
			counted, rows = r, r.GetIter()
		default:
			return nil, nil, false
		}
	}
}

// sendBatches sends a result whose rows come in batches, past vitess, which would take them value by value. false: it has to be sent as rows, and
// nothing of it was.
func sendBatches(ctx *sql.Context, c *mysql.Conn, schema sql.Schema, rows sql.RowIter, out *spool) (done bool, err error) {
	from, counted, ok := batchesOf(rows)
	if !ok || out.more {
		return false, nil
	}
	boxes := newPiece(ctx, schema)
	if !packable(schema, boxes, from.Schema(), out.binary) {
		return false, nil
	}
	open := true
	defer func() {
		if open {
			err = errors.Join(err, rows.Close(ctx))
		}
	}()
	s := &batchSender{conn: c, out: out, packets: rowPackets{ctx: ctx, boxes: boxes, binary: out.binary, sequence: new(byte)}}
	for {
		b, err := from.NextBatch(ctx)
		if errors.Is(err, compile.ErrNoBatches) {
			open = false
			return false, nil
		}
		if err == io.EOF {
			break
		}
		if err == nil {
			err = s.send(b)
		}
		if err != nil {
			return true, err
		}
	}
	open = false
	if err := rows.Close(ctx); err != nil {
		return true, err
	}
	if counted != nil && counted.ShouldSetFoundRows {
		ctx.GetLastQueryInfo().FoundRows.Store(s.rows)
	}
	if err := setStatus(ctx, c); err != nil {
		return true, err
	}
	return true, s.begin()
}

// packable says whether rowPackets knows the bytes of each column.
func packable(schema sql.Schema, boxes *piece, batches *batch.Schema, binary bool) bool {
	if len(schema) != len(batches.Fields) {
		return false
	}
	for i, column := range schema {
		if !packableAs(column.Type.Type(), batches.Fields[i].Type, binary) || binary && !packableAs(boxes.sent(i), batches.Fields[i].Type, binary) {
			return false
		}
	}
	return true
}

func packableAs(sent querypb.Type, of batch.Type, binary bool) bool {
	switch sent {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int32, sqltypes.Int64:
		return integers(&batch.Vector{Type: of}) != nil
	case sqltypes.Float32:
		return of.Kind == batch.Float32
	case sqltypes.Float64:
		return of.Kind == batch.Float64
	case sqltypes.Decimal, sqltypes.Text, sqltypes.Blob, sqltypes.VarChar, sqltypes.VarBinary, sqltypes.Char, sqltypes.TypeJSON,
		sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return true
	}
	return !binary
}

// batchSender sends the rows of a result. What is less than pieceBytes waits for the packet that ends it.
type batchSender struct {
	conn    *mysql.Conn
	out     *spool
	packets rowPackets
	rows    int64
	first   []byte    // rows from before the result was begun, whose packets count from 0
	past    *pastRows // once it was
}

// send sends the rows of a batch.
func (s *batchSender) send(b *batch.Batch) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	s.rows += int64(n)
	if err := s.packets.take(b); err != nil {
		return err
	}
	for i := range n {
		buf := s.buffer()
		packed, err := s.packets.append(*buf, b.Row(i))
		if err != nil {
			return err
		}
		if *buf = packed; len(packed) < pieceBytes {
			continue
		}
		if err := s.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (s *batchSender) buffer() *[]byte {
	if s.past != nil {
		return &s.past.buf
	}
	return &s.first
}

// flush writes what is there to the client.
func (s *batchSender) flush() error {
	if err := context.Cause(s.packets.ctx); err != nil {
		return err
	}
	if err := s.begin(); err != nil {
		return err
	}
	err := front(s.conn).flushPast()
	s.out.broken = s.out.broken || err != nil
	return errors.Join(err, s.out.notKept())
}

// begin has vitess write the columns, unless that is done, and puts the rows behind them.
func (s *batchSender) begin() error {
	if s.past != nil {
		return nil
	}
	var err error
	s.past, err = front(s.conn).beginPast(s.conn, func() error { return s.out.put(&s.packets.boxes.result) })
	if err != nil {
		s.out.broken = true
		return err
	}
	s.past.add(s.first)
	s.first = nil
	s.packets.sequence = &s.past.sequence
	return nil
}
