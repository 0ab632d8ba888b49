package vector

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFloatSumOverflowsWhereTheWholeDoes(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1e308, 1e308, -1e308}, 1e308},
		{[]float64{1e308, -1e308, 1e308}, 1e308},
		{[]float64{-1e308, -1e308, -1e308, 1e308, 1e308, 1e308}, 0},
		{[]float64{1e308, 1e308}, inf},
		{[]float64{-1e308, -1e308, 5}, -inf},
		{[]float64{1e308, 1e308, -inf}, -inf},
		{[]float64{inf, -1e308, -1e308}, inf},
		{[]float64{1, 2.5}, 3.5},
	} {
		var one, left, right FloatSum
		for i, x := range c.values {
			one.Add(x)
			if i%2 == 0 {
				left.Add(x)
			} else {
				right.Add(x)
			}
		}
		left.Merge(&right)
		for _, s := range []*FloatSum{&one, &left} {
			require.Equal(t, c.want, s.Total(false), "%v", c.values)
			require.Equal(t, c.want/float64(len(c.values)), s.Total(true), "%v", c.values)
			require.EqualValues(t, len(c.values), s.Count())
		}
	}
	var s FloatSum
	for _, x := range []float64{1e308, 1e308, inf, -inf} {
		s.Add(x)
	}
	require.True(t, math.IsNaN(s.Total(false)))
}
