package source

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, " 2 Minutes ": 2 * time.Minute, "15m": 15 * time.Minute, "0h": 0, "7": 7 * time.Second, "250ms": 250 * time.Millisecond,
	} {
		got, ok := ParseDuration(text, time.Second)
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "s", "-1s", "5 parsecs", "1.5s", "99999999999s", "m5"} {
		_, ok := ParseDuration(text, time.Second)
		require.False(t, ok, text)
	}
	_, ok := ParseDuration("7", 0)
	require.False(t, ok)
}
