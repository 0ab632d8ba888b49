package format

import (
	"testing"

	"lakesql/batch"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestQuickTimes: what the quick way reads, the general one reads alike.
func TestQuickTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`[0-2][09][0-9]{2}-[01][0-9]-[0-3][0-9]([ T][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,7})?)?`).Draw(t, "text"))
		if d, ok := quickDate(text); ok {
			want, err := batch.ParseDate(text)
			if err != nil || d != want {
				t.Fatalf("%s: %d, want %d, %v", text, d, want, err)
			}
		}
		if us, ok := quickTimestamp(text); ok {
			want, err := batch.ParseTimestamp(text, nil)
			if err != nil || us != want {
				t.Fatalf("%s: %d, want %d, %v", text, us, want, err)
			}
		}
	})
}

// TestQuickTimesTakeDigitsOnly puts every byte into every place.
func TestQuickTimesTakeDigitsOnly(t *testing.T) {
	const form = "2024-01-11 10:11:12"
	for at := range form {
		for c := range 256 {
			text := []byte(form)
			text[at] = byte(c)
			d, ok := quickDate(text[:10])
			if want, err := batch.ParseDate(text[:10]); ok {
				require.NoError(t, err, "%q", text)
				require.Equal(t, want, d, "%q", text)
			}
			us, ok := quickTimestamp(text)
			if want, err := batch.ParseTimestamp(text, nil); ok {
				require.NoError(t, err, "%q", text)
				require.Equal(t, want, us, "%q", text)
			}
			if digit := c >= '0' && c <= '9'; !digit && text[at] != form[at] && at != 10 {
				require.False(t, ok, "%q", text)
			}
		}
	}
}

func TestQuickTimesAreUsed(t *testing.T) {
	_, ok := quickDate([]byte("2024-02-29"))
	require.True(t, ok)
	for _, text := range []string{"2024-02-29 23:59:59", "2024-02-29T23:59:59.1", "2024-02-29 23:59:59.123456"} {
		_, ok := quickTimestamp([]byte(text))
		require.True(t, ok, text)
	}
	for _, text := range []string{"2023-02-29", "2024-00-01", "2024-13-01", "2024-01-00", "2024-1-001"} {
		_, ok := quickDate([]byte(text))
		require.False(t, ok, text)
	}
}
