package sqlext

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
