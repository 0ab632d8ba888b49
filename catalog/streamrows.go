package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/batch"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/stream"
	"lakesql/stream/source"
)

// rowOperator turns GMS's rows into batches. A value that the SELECT cannot compute is NULL and reported, or by ON ERROR leaves
// the row out or ends the batch; it is never what MySQL puts in its place.
type rowOperator struct {
	ctx    *sql.Context // of the batch, which GMS's iterators take at each call
	iter   sql.RowIter  // nil when closed
	schema *batch.Schema
	mode   stream.ErrorMode
	bad    func([]source.RowError)
	done   bool
	// faults are those of the row faulty, which are not reported yet.
	faults []source.RowError
	faulty any // tells that row from others
	caught []*sql.Warning
}

// Schema is that of the batches.
func (o *rowOperator) Schema() *batch.Schema { return o.schema }

// Next gathers the next rows.
func (o *rowOperator) Next(ctx context.Context) (*batch.Batch, error) {
	if o.done || o.iter == nil {
		return nil, io.EOF
	}
	inner := o.ctx.WithContext(ctx)
	out := batch.NewBuilder(o.schema)
	for out.Len() < batch.MaxRows {
		values, err := o.row(inner)
		if errors.Is(err, io.EOF) {
			o.done = true
			break
		}
		if errors.Is(err, compile.ErrSkipRow) {
			continue
		}
		if err == nil {
			err = out.AppendRow(values...)
		}
		if err != nil {
			return nil, err
		}
	}
	if out.Len() == 0 {
		return nil, io.EOF
	}
	return out.Finish(), nil
}

// row is the next row as batches have it, or compile.ErrSkipRow for one that is left out.
func (o *rowOperator) row(ctx *sql.Context) ([]any, error) {
	defer o.report()
	row, err := o.next(ctx)
	if err != nil {
		return nil, err
	}
	if len(row) != len(o.schema.Fields) {
		return nil, fmt.Errorf("row of %d values for the %d columns (%s)", len(row), len(o.schema.Fields), o.schema)
	}
	values := make([]any, len(row))
	for i, v := range row {
		f := o.schema.Fields[i]
		if values[i], err = mysqltype.ToBatch(ctx, f, v); err == nil {
			continue
		}
		values[i] = nil
		if err := o.fault(compile.Fault{Column: f.Name, Row: row, Message: err.Error(), Alone: true}); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// next is GMS's next row. What it warns of outside columns and conditions, such as in a join's, is reported and stays.
func (o *rowOperator) next(ctx *sql.Context) (sql.Row, error) {
	session, ok := ctx.Session.(compile.WarningCatcher)
	if !ok {
		return o.iter.Next(ctx)
	}
	o.caught = o.caught[:0]
	before := session.CatchWarnings(&o.caught)
	row, err := o.iter.Next(ctx)
	session.CatchWarnings(before)
	for _, w := range o.caught {
		if err != nil && !errors.Is(err, io.EOF) || !compile.ConversionFailed(w.Code) {
			continue
		}
		if o.mode == stream.Fail {
			return nil, errors.New(w.Message)
		}
		o.add(w.Message, source.RowError{Message: w.Message})
	}
	return row, err
}

// fault does with a value that cannot be computed what ON ERROR says.
func (o *rowOperator) fault(f compile.Fault) error {
	message := f.Message
	if f.Expr != "" {
		message += " in " + f.Expr
	}
	switch {
	case o.mode == stream.Fail:
		return fmt.Errorf("column %q: %s; row: %s", f.Column, message, excerpt(rowText(f.Row)))
	case o.mode.LeavesOut() && !f.Alone:
		return fmt.Errorf("column %q: %s; row: %s; %s cannot leave a row out below a join or a sort", f.Column, message, excerpt(rowText(f.Row)), o.mode)
	}
	o.add(rowKey(f, message), source.RowError{Column: f.Column, Raw: []byte(rowText(f.Row)), Message: message})
	if o.mode.LeavesOut() {
		return compile.ErrSkipRow
	}
	return nil
}

// report hands on the faults of one row.
func (o *rowOperator) report() {
	if len(o.faults) == 0 {
		return
	}
	o.bad(o.faults)
	o.faults = nil
}

// add keeps a fault with the others of its row.
func (o *rowOperator) add(row any, e source.RowError) {
	if row != o.faulty {
		o.report()
		o.faulty = row
	} else if _, isText := row.(string); isText {
		return
	}
	o.faults = append(o.faults, e)
}

// rowKey tells rows apart: a Filter and the Project above it get the same one. A join computes its condition for many pairs with one
// row: there it is the message.
func rowKey(f compile.Fault, message string) any {
	if f.Column == "" && !f.Alone || len(f.Row) == 0 {
		return message
	}
	return &f.Row[0]
}

// maxRowText bounds the text of a row in an error.
const maxRowText = 1000

// rowText is the values of a row as a record of CSV.
func rowText(row sql.Row) string {
	var text []byte
	for i, v := range row {
		if i > 0 {
			text = append(text, ',')
		}
		switch v := v.(type) {
		case nil:
		case []byte:
			text = stream.AppendCell(text, v)
		default:
			text = stream.AppendCell(text, []byte(fmt.Sprint(v)))
		}
	}
	return string(text)
}

// excerpt is the beginning of a row's text.
func excerpt(text string) string {
	if len(text) > maxRowText {
		text = strings.ToValidUTF8(text[:maxRowText], "") + "..."
	}
	return text
}

// Close closes the rows.
func (o *rowOperator) Close() error {
	if o.iter == nil {
		return nil
	}
	iter := o.iter
	o.iter = nil
	return iter.Close(o.ctx)
}
