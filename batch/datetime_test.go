package batch

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDateText(t *testing.T) {
	for text, want := range map[string]int32{
		"1970-01-01": 0, "1969-12-31": -1, "2000-02-29": 11016, "2024-2-3": 19756, "0001-01-01": -719162, "0000-02-29": -719469,
		"-0001-12-31": -719529, "-9999-01-01": -4371587, "+10000-01-01": 2932897, "10000-01-01": 2932897, "1582-10-14": -141428,
	} {
		got, err := ParseDate([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		back, err := ParseDate(AppendDate(nil, got))
		require.NoError(t, err)
		require.Equal(t, want, back)
	}
	require.Equal(t, "-0001-12-31", string(AppendDate(nil, -719529)))
	require.Equal(t, "+10000-01-01", string(AppendDate(nil, 2932897)))
	require.Equal(t, "0000-02-29", string(AppendDate(nil, -719469)))
	for text, want := range map[string]error{
		"": ErrSyntax, "2024": ErrSyntax, "2024-01": ErrSyntax, "24-01-01": ErrSyntax, "2024-01-01x": ErrSyntax, "2024/01/01": ErrSyntax,
		"2024-01-01 00:00": ErrSyntax, "+-2024-01-01": ErrSyntax,
		"2023-02-29": ErrOutOfRange, "1900-02-29": ErrOutOfRange, "2024-13-01": ErrOutOfRange, "2024-00-10": ErrOutOfRange, "2024-04-31": ErrOutOfRange,
		"9999999-01-01": ErrOutOfRange,
	} {
		_, err := ParseDate([]byte(text))
		require.ErrorIs(t, err, want, text)
		require.ErrorContains(t, err, "as date")
	}
}

func TestTimestampText(t *testing.T) {
	for text, want := range map[string]string{
		"2024-02-29 12:34:56.123456":       "2024-02-29 12:34:56.123456",
		"2024-02-29T12:34:56Z":             "2024-02-29 12:34:56",
		"2024-02-29T12:34:56.5Z":           "2024-02-29 12:34:56.500000",
		"2024-02-29 12:34:56.123456789":    "2024-02-29 12:34:56.123456",
		"2024-02-29 12:34":                 "2024-02-29 12:34:00",
		"2024-02-29":                       "2024-02-29 00:00:00",
		"2024-02-29T12:34:56+05:00":        "2024-02-29 07:34:56",
		"2024-02-29T12:34:56-0330":         "2024-02-29 16:04:56",
		"2024-02-29 12:34:56 UTC":          "2024-02-29 12:34:56",
		"2024-02-29 12:34:56+14":           "2024-02-28 22:34:56",
		"-9999-01-01 00:00:00":             "-9999-01-01 00:00:00",
		"9999-12-31 23:59:59.999999":       "9999-12-31 23:59:59.999999",
		"+12345-06-07 08:09:10.000001":     "+12345-06-07 08:09:10.000001",
		"1969-12-31 23:59:59.999999":       "1969-12-31 23:59:59.999999",
		"0001-01-01T00:00:00.000+00:00":    "0001-01-01 00:00:00",
		"2024-02-29 1:2:3":                 "2024-02-29 01:02:03",
		"292000-01-01 00:00:00.0000000001": "+292000-01-01 00:00:00",
	} {
		us, err := ParseTimestamp([]byte(text), nil)
		require.NoError(t, err, text)
		require.Equal(t, want, string(AppendTimestamp(nil, us)), text)
	}
	for text, want := range map[string]error{
		"": ErrSyntax, "2024-02-29 ": ErrSyntax, "2024-02-29 12": ErrSyntax, "2024-02-29 12:34:56.": ErrSyntax, "2024-02-29 12:34:56 CET": ErrSyntax,
		"2024-02-29 12:34:56+": ErrSyntax, "2024-02-29Z": ErrSyntax, "2024-02-29 12:34:56+1:2": ErrSyntax,
		"2024-02-29 24:00:00": ErrOutOfRange, "2024-02-29 12:60:00": ErrOutOfRange, "2024-02-29 12:34:60": ErrOutOfRange,
		"2024-02-29 12:34:56+19:00": ErrOutOfRange, "2024-02-29 12:34:56+05:60": ErrOutOfRange, "300000-01-01 00:00:00": ErrOutOfRange,
	} {
		_, err := ParseTimestamp([]byte(text), nil)
		require.ErrorIs(t, err, want, text)
	}
	_, err := ParseTimestampNTZ([]byte("2024-02-29T12:34:56Z"))
	require.ErrorIs(t, err, ErrSyntax)
	require.ErrorContains(t, err, "as timestamp_ntz")
	us, err := ParseTimestampNTZ([]byte("2024-02-29T12:34:56"))
	require.NoError(t, err)
	require.Equal(t, "2024-02-29 12:34:56", string(AppendTimestamp(nil, us)))
}

func TestWallClock(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("this machine has no time zone database")
	}
	for text, want := range map[string]string{
		"2024-07-01 12:00:00":  "2024-07-01 10:00:00",
		"2024-01-01 12:00:00":  "2024-01-01 11:00:00",
		"2024-03-31 02:30:00":  "2024-03-31 01:30:00", // skipped: 03:30 summer time
		"2024-10-27 02:30:00":  "2024-10-27 00:30:00", // twice: the earlier
		"2024-10-27 03:00:00":  "2024-10-27 02:00:00",
		"2024-03-31 03:00:00":  "2024-03-31 01:00:00",
		"2024-07-01 12:00:00Z": "2024-07-01 12:00:00",
	} {
		us, err := ParseTimestamp([]byte(text), berlin)
		require.NoError(t, err)
		require.Equal(t, want, string(AppendTimestamp(nil, us)), text)
	}
}

// Against the time package, whose calendar is the same.
func TestCalendarAgainstTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.Int64Range(-4_500_000, 5_000_000).Draw(t, "days")
		year, month, day := CivilFromDays(days)
		want := time.Unix(days*86_400, 0).UTC()
		require.Equal(t, []int{want.Year(), int(want.Month()), want.Day()}, []int{int(year), month, day})
		require.Equal(t, days, DaysFromCivil(year, month, day))
		us := days*MicrosPerDay + rapid.Int64Range(0, MicrosPerDay-1).Draw(t, "micros")
		back, err := ParseTimestamp(AppendTimestamp(nil, us), nil)
		require.NoError(t, err)
		require.Equal(t, us, back)
	})
}

func FuzzParseTimestamp(f *testing.F) {
	for _, text := range []string{"2024-02-29 12:34:56.123456", "2024-02-29T12:34:56+05:00", "-0001-01-01", "+12345-06-07 08:09Z", "1-1-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if us, err := ParseTimestamp([]byte(text), nil); err == nil {
			back, err := ParseTimestamp(AppendTimestamp(nil, us), nil)
			require.NoError(t, err)
			require.Equal(t, us, back)
		}
		if days, err := ParseDate([]byte(text)); err == nil {
			back, err := ParseDate(AppendDate(nil, days))
			require.NoError(t, err)
			require.Equal(t, days, back)
		}
	})
}
