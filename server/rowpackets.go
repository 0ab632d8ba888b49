package server

import (
	"fmt"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/sqltypes"

	"lakesql/batch"
	"lakesql/catalog/mysqltype"
)

// rowPackets writes rows of batches as packets of the text or the binary protocol: byte for byte what vitess makes of the boxed values.
type rowPackets struct {
	ctx      *sql.Context
	boxes    *piece // for values that have no short way
	binary   bool
	columns  []packedColumn
	sequence *byte // of the next packet
}

// packedColumn is a column of the batch at hand.
type packedColumn struct {
	valid  batch.Bitmap // nil: no row is null
	text   cell         // nil: box
	bytes  cell         // in the binary protocol; nil: as text
	moment bool         // the binary protocol has a form of its own for the text
	box    mysqltype.Getter
}

// nullText is a NULL in a row of the text protocol.
const nullText = 0xfb

// take makes the columns those of a batch, which has rows.
func (w *rowPackets) take(b *batch.Batch) error {
	schema := w.boxes.schema
	if len(b.Cols) != len(schema) {
		return fmt.Errorf("a batch has %d columns for %d", len(b.Cols), len(schema))
	}
	w.columns = w.columns[:0]
	for i, v := range b.Cols {
		t := schema[i].Type
		c := packedColumn{valid: v.Valid, text: textCell(w.ctx, t, v), box: mysqltype.NewGetter(b.Schema.Fields[i], v)}
		if w.binary {
			sent := w.boxes.sent(i)
			c.bytes = binaryCell(sent, v)
			switch sent {
			case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
				c.moment = true
			}
		}
		w.columns = append(w.columns, c)
	}
	return nil
}

// append appends a row of the batch.
func (w *rowPackets) append(dst []byte, row int) (_ []byte, err error) {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	nulls := len(dst) + 1
	if w.binary {
		dst = append(dst, 0)
		for range (len(w.columns) + 7 + 2) / 8 {
			dst = append(dst, 0)
		}
	}
	for i := range w.columns {
		c := &w.columns[i]
		null := c.valid != nil && !c.valid.Get(row)
		if !null {
			if dst, null, err = w.appendValue(dst, i, row); err != nil {
				return nil, err
			}
		}
		switch {
		case null && w.binary:
			dst[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
		case null:
			dst = append(dst, nullText)
		}
	}
	return w.close(dst, start), nil
}

// appendValue appends a value that is not null in its column; null: the client is to see NULL nevertheless.
func (w *rowPackets) appendValue(dst []byte, i, row int) (_ []byte, null bool, err error) {
	c := &w.columns[i]
	if c.bytes != nil {
		dst, _ = c.bytes(dst, row)
		return dst, false, nil
	}
	at, ok := len(dst), false
	if !c.moment {
		dst = append(dst, 0) // the length
	}
	from := len(dst)
	if c.text != nil {
		dst, ok = c.text(dst, row)
	}
	if !ok {
		v, err := w.boxes.value(w.ctx, i, c.box(row))
		if err != nil || v.IsNull() {
			return dst[:at], true, err
		}
		dst = append(dst[:from], v.Raw()...)
		w.boxes.reset()
	}
	if c.moment {
		return binaryMoment(dst, at), false, nil
	}
	return closeLength(dst, at), false, nil
}

// closeLength writes the length of what follows at a byte there. What is 251 bytes or longer is moved: its length takes more.
func closeLength(dst []byte, at int) []byte {
	n := len(dst) - at - 1
	if n < nullText {
		dst[at] = byte(n)
		return dst
	}
	return slices.Replace(dst, at, at+1, appendLength(nil, uint64(n))...)
}

// close makes a packet, or several, of the payload behind the header at start.
func (w *rowPackets) close(dst []byte, start int) []byte {
	n := len(dst) - start - headerBytes
	if n < maxPayload {
		dst[start], dst[start+1], dst[start+2], dst[start+3] = byte(n), byte(n>>8), byte(n>>16), *w.sequence
		*w.sequence++
		return dst
	}
	packets := frame(slices.Clone(dst[start+headerBytes:]), *w.sequence)
	*w.sequence += byte(n/maxPayload + 1)
	return append(dst[:start], packets...)
}
