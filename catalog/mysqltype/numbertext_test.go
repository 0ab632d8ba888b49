package mysqltype

import (
	"math"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// TestNumbersOfTexts has what MySQL makes of texts that begin with a number, or with none.
func TestNumbersOfTexts(t *testing.T) {
	for _, c := range []struct {
		text          string
		double        float64
		doubleExact   bool
		decimal       string // "" for none
		decimalsExact bool
	}{
		{"5", 5, true, "5", true},
		{" \t-1.50 \n", -1.5, true, "-1.50", true},
		{"5e", 5, false, "5", false},
		{"-.5E+x", -0.5, false, "-0.5", false},
		{"1.5e3", 1500, true, "1500", true},
		{"5.e-1", 0.5, true, "0.5", true},
		{"1e2x", 100, false, "100", false},
		{"5e99999999999x", math.MaxFloat64, false, "5" + strings.Repeat("0", maxExponent), false},
		{"-5e99999999999", -math.MaxFloat64, false, "-5" + strings.Repeat("0", maxExponent), true},
		{"5e-99999999999", 0, true, "0", true},
		{"0e99999999999", 0, true, "0", true},
		{"1e-2000", 0, true, "0", true},
		{"", 0, true, "", false},
		{"  ", 0, true, "", false},
		{".", 0, false, "", false},
		{"-", 0, false, "", false},
		{"+-1", 0, false, "", false},
		{"e5", 0, false, "", false},
		{"abc", 0, false, "", false},
		{"inf", 0, false, "", false},
		{"NaN", 0, false, "", false},
		{"0x10", 0, false, "0", false},
		{"1_000", 1, false, "1", false},
		{"1.2.3", 1.2, false, "1.2", false},
		{"٣", 0, false, "", false},
	} {
		double, exact := DoubleOf(c.text)
		require.Equal(t, c.double, double, c.text)
		require.Equal(t, c.doubleExact, exact, c.text)
		decimal, exact := DecimalOf(c.text)
		require.Equal(t, c.decimalsExact, exact, c.text)
		if c.decimal == "" {
			require.Nil(t, decimal, c.text)
		} else {
			require.Equal(t, c.decimal, decimal.Text('f'), c.text)
		}
	}
}

// FuzzNumbersOfTexts: no text ends in a panic, and what is a DOUBLE to MySQL is a DECIMAL as well.
func FuzzNumbersOfTexts(f *testing.F) {
	for _, text := range []string{"5e", "5e99999999999x", "-.5e-", "1..", "+", "0x1p-3", "\x00", "9e999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		double, _ := DoubleOf(text)
		decimal, _ := DecimalOf(text)
		require.False(t, math.IsNaN(double) || math.IsInf(double, 0))
		require.True(t, decimal != nil || double == 0)
		if decimal == nil {
			return
		}
		into, err := IntoDecimal(sql.NewEmptyContext(), Of(batch.DecimalOf(6, 2)).(sql.DecimalType), text)
		require.NotNil(t, into)
		if err != nil {
			require.IsType(t, &DecimalError{}, err)
		}
	})
}
