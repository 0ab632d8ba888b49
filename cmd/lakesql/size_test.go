package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{"1": 1, "1048576": 1 << 20, "512MB": 512 << 20, "1.5GiB": 3 << 29, "2g": 2 << 30, "3 TB": 3 << 40, "8k": 8 << 10, "7b": 7} {
		got, err := parseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "x", "-1", "0", "1xb", "GB", "9e30", "NaN", "1bm"} {
		_, err := parseSize(text)
		require.EqualError(t, err, `"`+text+`" is no number of bytes: write 512MB, 2GB, or the bytes`)
	}
}
