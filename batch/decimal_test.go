package batch

import (
	"math/big"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/stretchr/testify/require"
)

func TestDecimalText(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		text             string
		precision, scale uint8
		want             string
	}{
		{"1.5", 10, 2, "1.50"},
		{"-0.05", 10, 2, "-0.05"},
		{"+12", 10, 0, "12"},
		{".5", 3, 1, "0.5"},
		{"5.", 3, 1, "5.0"},
		{"-0", 3, 1, "0.0"},
		{"1.5000", 3, 1, "1.5"},
		{"1e3", 5, 1, "1000.0"},
		{"1.25E-1", 5, 3, "0.125"},
		{"125e-3", 5, 3, "0.125"},
		{"0e999999999999", 5, 3, "0.000"},
		{"0.000e-99", 5, 3, "0.000"},
		{nines, 38, 0, nines},
		{"-" + nines, 38, 0, "-" + nines},
		{"0." + nines, 38, 38, "0." + nines},
		{strings.Repeat("0", 500) + "7", 1, 0, "7"},
		{"18446744073709551616", 38, 0, "18446744073709551616"},
		{"100000000000000000000", 38, 0, "100000000000000000000"},
	} {
		n, err := ParseDecimal([]byte(c.text), c.precision, c.scale)
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, string(AppendDecimal(nil, n, c.scale)))
	}
}

func TestDecimalTextIsRefused(t *testing.T) {
	for text, want := range map[string]error{
		"": ErrSyntax, ".": ErrSyntax, "-": ErrSyntax, "1 ": ErrSyntax, "1,5": ErrSyntax, "e5": ErrSyntax, "1e": ErrSyntax, "1e+": ErrSyntax,
		"0x1": ErrSyntax, "NaN": ErrSyntax, "1.2.3": ErrSyntax, "--1": ErrSyntax,
		"1.005": ErrInexact, "1e-3": ErrInexact, "0.001": ErrInexact,
		"1000": ErrOutOfRange, "1e9": ErrOutOfRange, "1e99999999999": ErrOutOfRange, strings.Repeat("9", 60): ErrOutOfRange,
	} {
		_, err := ParseDecimal([]byte(text), 5, 2)
		require.ErrorIs(t, err, want, text)
		require.ErrorContains(t, err, "as decimal(5,2)")
	}
}

func TestDecimalIsRounded(t *testing.T) {
	for text, want := range map[string]string{
		"1.005": "1.01", "-1.005": "-1.01", "1.0049": "1.00", "0.004": "0.00", "0.005": "0.01", "9e-9": "0.00", "2.5e-2": "0.03", "999.99": "999.99",
	} {
		n, err := ParseDecimalRounded([]byte(text), 5, 2)
		require.NoError(t, err, text)
		require.Equal(t, want, string(AppendDecimal(nil, n, 2)), text)
	}
	_, err := ParseDecimalRounded([]byte("999.995"), 5, 2)
	require.ErrorIs(t, err, ErrOutOfRange)
}

// Against math/big: what is read equals the text's value, and is written back as such.
func FuzzParseDecimal(f *testing.F) {
	for _, text := range []string{"1.5", "-12345678901234567890123456789012345678", "1e-5", ".5", "0009.100", "1e38"} {
		f.Add(text, uint8(38), uint8(5))
	}
	f.Fuzz(func(t *testing.T, text string, precision, scale uint8) {
		precision = precision%MaxPrecision + 1
		scale %= precision + 1
		n, err := ParseDecimal([]byte(text), precision, scale)
		if err != nil {
			return
		}
		require.True(t, n.FitsInPrecision(int32(precision)))
		out := string(AppendDecimal(nil, n, scale))
		back, err := ParseDecimal([]byte(out), precision, scale)
		require.NoError(t, err)
		require.Equal(t, n, back)
		if strings.ContainsAny(text, "eE") {
			return // the exponent may be absurd, which math/big would compute
		}
		want, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		got, ok := new(big.Rat).SetString(out)
		require.True(t, ok)
		require.Zero(t, want.Cmp(got), "%s became %s", text, out)
	})
}

func TestAppendDecimalExtremes(t *testing.T) {
	low := decimal128.New(-1<<63, 0)
	require.Equal(t, "-170141183460469231731687303715884105728", string(AppendDecimal(nil, low, 0)))
	require.Equal(t, "-1.70141183460469231731687303715884105728", string(AppendDecimal(nil, low, 38)))
}
