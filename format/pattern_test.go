package format

import (
	"testing"
	"time"

	"lakesql/batch"

	"github.com/stretchr/testify/require"
)

func TestPattern(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	tests := []struct {
		pattern, text, want string // want "": refused
		loc                 *time.Location
	}{
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 23:59:58", "2024-02-29 23:59:58", nil},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-30 23:59:58", "", nil},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 24:00:00", "", nil},
		{"yyyy-MM-dd HH:mm:ss", "2024-02-29 23:59:58x", "", nil},
		{"yyyy-MM-dd HH:mm:ss", "2024-2-29 23:59:58", "", nil},
		{"y-M-d H:m:s", "2024-2-9 3:4:5", "2024-02-09 03:04:05", nil},
		{"yyyyMMddHHmmss", "20240209030405", "2024-02-09 03:04:05", nil},
		{"dd/MM/yy", "09/02/24", "2024-02-09 00:00:00", nil},
		{"dd MMM yyyy", "09 feb 2024", "2024-02-09 00:00:00", nil},
		{"MMMM d, yyyy", "February 9, 2024", "2024-02-09 00:00:00", nil},
		{"MM/dd/yyyy hh:mm a", "02/09/2024 12:30 AM", "2024-02-09 00:30:00", nil},
		{"MM/dd/yyyy hh:mm a", "02/09/2024 12:30 pm", "2024-02-09 12:30:00", nil},
		{"MM/dd/yyyy hh:mm a", "02/09/2024 13:30 pm", "", nil},
		{"yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-02-09T03:04:05.6", "2024-02-09 03:04:05.600000", nil},
		{"yyyy-MM-dd'T'HH:mm:ss.SSSSSSSSS", "2024-02-09T03:04:05.123456789", "2024-02-09 03:04:05.123456", nil},
		{"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2024-02-09T03:04:05", "2024-02-09 03:04:05", nil},
		{"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2024-02-09T03:04:05+02:00", "2024-02-09 01:04:05", nil},
		{"yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2024-02-09T03:04:05.5Z", "2024-02-09 03:04:05.500000", nil},
		{"yyyy-MM-dd HH:mm:ss Z", "2024-02-09 03:04:05 -0130", "2024-02-09 04:34:05", nil},
		{"yyyy-MM-dd HH:mm:ss VV", "2024-07-09 03:04:05 Europe/Berlin", "2024-07-09 01:04:05", nil},
		{"yyyy-MM-dd HH:mm:ss z", "2024-07-09 03:04:05 UTC", "2024-07-09 03:04:05", berlin},
		{"yyyy-MM-dd HH:mm:ss z", "2024-07-09 03:04:05 Nowhere", "", nil},
		{"yyyy-MM-dd HH:mm:ss", "2024-07-09 03:04:05", "2024-07-09 01:04:05", berlin},
		{"'o''clock' HH", "o'clock 07", "1970-01-01 07:00:00", nil},
	}
	for _, tt := range tests {
		p, err := compilePattern("timestampFormat", tt.pattern)
		require.NoError(t, err)
		us, ok := p.timestamp([]byte(tt.text), tt.loc)
		got := ""
		if ok {
			got = string(batch.AppendTimestamp(nil, us))
		}
		require.Equal(t, tt.want, got, "%s %s", tt.pattern, tt.text)
	}
}

func TestPatternZonesAreNoWallClock(t *testing.T) {
	p, err := compilePattern("timestampNTZFormat", "yyyy-MM-dd HH:mm[ XXX]")
	require.NoError(t, err)
	_, ok := p.wallTimestamp([]byte("2024-01-02 03:04"))
	require.True(t, ok)
	_, ok = p.wallTimestamp([]byte("2024-01-02 03:04 +01:00"))
	require.False(t, ok)
}

func TestPatternErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"YYYY-MM-dd":  `the letter 'Y' is not supported`,
		"EEE dd":      `the letter 'E' is not supported`,
		"yyyyyyy":     "more than 6 letters",
		"dd 'x":       "a quote is not closed",
		"[yyyy":       "a [ without a ]",
		"yyyy]":       "a ] without a [",
		"yyyy#":       "is reserved",
		"%Y-%m-%d %H": "is not supported",
	} {
		_, err := NewTimes(pattern, "", "", nil)
		require.ErrorContains(t, err, "option dateFormat is '"+pattern+"'")
		require.ErrorContains(t, err, want)
	}
}
