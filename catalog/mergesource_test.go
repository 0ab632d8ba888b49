package catalog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

func TestMergeSourceIsBounded(t *testing.T) {
	schema := batch.NewSchema(batch.Field{Name: "s", Type: batch.Type{Kind: batch.String}})
	v := batch.NewVector(schema.Fields[0].Type, 1)
	v.AppendString(strings.Repeat("x", 1<<20))
	b := &batch.Batch{Schema: schema, Cols: []*batch.Vector{v}, Len: 1}
	s := &sourceRows{schema: schema}
	for range maxSourceBytes>>20 - 1 {
		require.NoError(t, s.add(b))
	}
	err := s.add(b)
	require.ErrorContains(t, err, "merge it in parts")
	require.EqualValues(t, 1023, s.rows)
}
