package compile

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/stretchr/testify/require"
)

// Texts are ordered by their collation, numbers by value, NULL comes first, last where the order descends, and rows that are equal stay as they came.
func TestRowsAreSorted(t *testing.T) {
	ctx := sql.NewContext(context.Background())
	text := types.MustCreateString(sqltypes.VarChar, 9, sql.Collation_utf8mb4_0900_ai_ci)
	rows := []sql.Row{{"b", 1, 0}, {"A", nil, 1}, {"a", 2, 2}, {nil, 7, 3}, {"B", 3, 4}, {"a", 2, 5}, {"b", 1, 6}}
	sorted := func(rows []sql.Row) (places []any) {
		s := &rowSort{child: sql.RowsToRowIter(rows...), types: []sql.Type{text, types.Int64}, by: sql.SortConditions{
			{Expr: expression.NewGetField(0, text, "s", true), Order: sql.Ascending},
			{Expr: expression.NewGetField(1, types.Int64, "n", true), Order: sql.Descending},
		}}
		got, err := sql.RowIterToRows(ctx, s)
		require.NoError(t, err)
		for _, row := range got {
			places = append(places, row[2])
		}
		return places
	}
	require.Equal(t, []any{3, 2, 5, 1, 4, 0, 6}, sorted(rows))
	require.Equal(t, []any{3, 2, 5}, sorted([]sql.Row{rows[3], rows[2], rows[5]}))
	require.Empty(t, sorted(nil))
}

func TestSortingRowsEndsWhenItIsKilled(t *testing.T) {
	kill, cancel := context.WithCancel(context.Background())
	cancel()
	rows := make([]sql.Row, 4*cancelInterval)
	for i := range rows {
		rows[i] = sql.Row{rand.Int64()}
	}
	s := &rowSort{
		child: sql.RowsToRowIter(rows...), types: []sql.Type{types.Int64},
		by: sql.SortConditions{{Expr: expression.NewGetField(0, types.Int64, "n", false), Order: sql.Ascending}},
	}
	_, err := s.Next(sql.NewContext(kill))
	require.ErrorIs(t, err, context.Canceled)
}
