package vector

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// varianceOf adds values to so many states, and those up.
func varianceOf(values []float64, states int) *FloatVariance {
	all := make([]FloatVariance, states)
	for i, x := range values {
		all[i%states].Add(x)
	}
	var out FloatVariance
	for i := range all {
		out.Merge(&all[i])
	}
	return &out
}

// exactVariance is that of all values, rounded once.
func exactVariance(values []float64) float64 {
	number := func() *big.Float { return new(big.Float).SetPrec(2000) }
	n, sum, squares := number().SetInt64(int64(len(values))), number(), number()
	for _, x := range values {
		sum.Add(sum, number().SetFloat64(x))
	}
	mean := number().Quo(sum, n)
	for _, x := range values {
		away := number().Sub(number().SetFloat64(x), mean)
		squares.Add(squares, away.Mul(away, away))
	}
	out, _ := squares.Quo(squares, n).Float64()
	return out
}

// TestVarianceHangsOnNoOrder: the last digit is the same however the values come and are shared, and it is the nearest DOUBLE's, or the one's beside it.
func TestVarianceHangsOnNoOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	draws := []func() float64{
		r.NormFloat64,
		func() float64 { return 1e9 + r.Float64() },
		func() float64 { return float64(r.IntN(100_000_000)) },
		func() float64 { return math.Ldexp(r.NormFloat64(), r.IntN(80)-40) },
		func() float64 { return []float64{-6999999, 17534, 17535, 0}[r.IntN(4)] },
	}
	for _, draw := range draws {
		for range 40 {
			values := make([]float64, 2+r.IntN(200))
			for i := range values {
				values[i] = draw()
			}
			want, ok := varianceOf(values, 1).Result(false, true)
			require.True(t, ok)
			require.InEpsilon(t, 1+math.Sqrt(exactVariance(values)), 1+want, 1e-15)
			for states := 1; states <= 5; states++ {
				r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
				got, _ := varianceOf(values, states).Result(false, true)
				require.Equal(t, want, got, "%v", values)
			}
		}
	}
}

// TestVarianceThatOverflowsIsInfinite whatever the order; of what is not finite it is NaN.
func TestVarianceThatOverflowsIsInfinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{1e308, -1e308, 0.1, 1e308, -1e308}, inf},
		{[]float64{math.MaxFloat64, -math.MaxFloat64, 5e-324}, inf},
		{[]float64{0.1, 1e300, 1e16}, inf},
		{[]float64{1e308, 1e308, 1e308}, 0},
		{[]float64{0x1p500, -0x1p500}, 0x1p1000},
		{[]float64{1, inf, 2, 3}, nan},
		{[]float64{inf, 1e308, -1e308}, nan},
		{[]float64{nan, 2, 4}, nan},
		{[]float64{inf}, 0},
		{[]float64{-1e308}, 0},
	} {
		for first := range c.values {
			for states := 1; states <= 3; states++ {
				rotated := append(append([]float64{}, c.values[first:]...), c.values[:first]...)
				got, ok := varianceOf(rotated, states).Result(false, false)
				require.True(t, ok)
				if math.IsNaN(c.want) {
					require.True(t, math.IsNaN(got), "%v: %v", rotated, got)
				} else {
					require.Equal(t, c.want, got, "%v", rotated)
				}
			}
		}
	}
	_, ok := varianceOf(nil, 2).Result(false, false)
	require.False(t, ok)
	_, ok = varianceOf([]float64{4}, 1).Result(true, false)
	require.False(t, ok)
	got, _ := varianceOf([]float64{4, 6}, 2).Result(true, false)
	require.Equal(t, 2.0, got)
}
