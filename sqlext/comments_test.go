package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDeltaTypesInComments(t *testing.T) {
	stmt, _, ok, err := Parse("CREATE TABLE t (a json NOT NULL COMMENT 'x' /*!999999 DELTA TYPE array<struct<b:int>> */, c datetime(6) /*!999999 DELTA TYPE timestamp_ntz */, d json)")
	require.NoError(t, err)
	require.True(t, ok)
	create := stmt.(*CreateTable)
	require.Len(t, create.Columns, 2)
	require.Equal(t, Type{Name: "ARRAY", Text: "array<struct<b:int>>"}, create.Columns[0].Type)
	require.Equal(t, NotNull, create.Columns[0].Null)
	require.Equal(t, "TIMESTAMP_NTZ", create.Columns[1].Type.Name)
	require.NotContains(t, create.Rest, "DELTA")
	require.Contains(t, create.Rest, "d json")
	_, _, _, err = Parse("CREATE TABLE t (a json /*!999999 DELTA TYPE int */)")
	require.ErrorContains(t, err, "DELTA TYPE")
	_, possible := DeltaType("struct<`a*/`:int>")
	require.False(t, possible)
}

// Of executable comments only those are SQL that a MySQL of our version executes; vitess alone would execute all.
func TestCommentsOfOthersAreComments(t *testing.T) {
	for sql, want := range map[string]string{
		"/*M!999999- enable the sandbox mode */ SELECT 1":    "  SELECT 1",
		"SELECT 1 /*M!100100 , 2 */ /*!99999 , 3 */":         "SELECT 1    ",
		"SELECT 1 /*!80000 , 2 */ /*!50100 , 3 */ /*! , 4*/": "SELECT 1 /*!80000 , 2 */ /*!50100 , 3 */ /*! , 4*/",
		"SELECT '/*M! x */', /*!100000 5 */ 6":               "SELECT '/*M! x */',   6",
	} {
		got, err := Rewrite(sql)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
