package compile

import (
	"context"
	"errors"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/vector"
)

// failing is an operator that fails.
type failing struct {
	vector.Operator
	closed int
}

var errFailing = errors.New("it fails")

func (f *failing) Next(context.Context) (*batch.Batch, error) { return nil, errFailing }

func (f *failing) Close() error {
	f.closed++
	return nil
}

// Rows that fail are closed then: not everybody who reads them does so after an error.
func TestRowsThatFailAreClosed(t *testing.T) {
	op := &failing{}
	rows := NewRows(op)
	ctx := sql.NewEmptyContext()
	_, err := rows.Next(ctx)
	require.Equal(t, errFailing, err)
	require.Equal(t, 1, op.closed)
	require.NoError(t, rows.Close(ctx))
	require.Equal(t, 1, op.closed)
}
