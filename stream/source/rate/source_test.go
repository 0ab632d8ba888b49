package rate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
	"lakesql/stream/source/sourcetest"
)

// clocked is a source whose clock moves by hand.
type clocked struct {
	st      store.Store
	options map[string]string
	now     time.Time
	seconds int
}

func newClocked(t *testing.T) *clocked {
	st := store.NewMemory("mem://checkpoint")
	_, err := checkpoint.Create(t.Context(), st)
	require.NoError(t, err)
	return &clocked{st: st, options: map[string]string{"rowsPerSecond": "2"}, now: time.UnixMilli(1_700_000_000_123)}
}

func (c *clocked) Open(t *testing.T) source.Source {
	cp, err := checkpoint.Open(t.Context(), c.st)
	require.NoError(t, err)
	src, err := Open(t.Context(), source.Spec{Kind: "rate", Options: c.options}, source.Env{Checkpoint: cp, Now: func() time.Time { return c.now }})
	require.NoError(t, err)
	return src
}

// Append lets a second pass.
func (c *clocked) Append(t *testing.T) []string {
	if c.seconds == 0 {
		require.NoError(t, c.Open(t).Close()) // it begins
	}
	var out []string
	for i := range 2 {
		at := time.UnixMilli(1_700_000_000_123 + int64(1000*c.seconds+500*i)).UTC()
		out = append(out, fmt.Sprintf("%s|%d", at.Format("2006-01-02 15:04:05.000000"), 2*c.seconds+i))
	}
	c.seconds++
	c.now = c.now.Add(time.Second)
	return out
}

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) sourcetest.Subject { return newClocked(t) })
}

func TestCheckpointIsSparks(t *testing.T) {
	c := newClocked(t)
	src := c.Open(t)
	data, err := c.st.Get(t.Context(), "sources/0/0")
	require.NoError(t, err)
	require.Equal(t, "v1\n1700000000123", string(data))
	c.now = c.now.Add(2500 * time.Millisecond)
	end, more, err := src.Latest(t.Context(), source.None, source.Limit{})
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, source.Offset("2"), end)
	require.Equal(t, 500*time.Millisecond, src.RecheckAfter())
}

func TestClockSetBack(t *testing.T) {
	c := newClocked(t)
	src := c.Open(t)
	c.now = c.now.Add(-time.Hour)
	end, _, err := src.Latest(t.Context(), "7", source.Limit{})
	require.NoError(t, err)
	require.Equal(t, source.Offset("7"), end)
	require.Positive(t, src.RecheckAfter())
}

func TestRampUp(t *testing.T) {
	o, err := parseOptions(map[string]string{"rowsPerSecond": "10", "RampUpTime": "4 seconds"})
	require.NoError(t, err)
	for seconds, want := range []int64{0, 2, 6, 12, 20, 30, 40} {
		got, err := o.rowsUntil(int64(seconds))
		require.NoError(t, err)
		require.Equal(t, want, got, "%d", seconds)
	}
	_, err = options{rowsPerSecond: math.MaxInt64}.rowsUntil(2)
	require.ErrorContains(t, err, "BIGINT")
}

// TestABatchIsBounded: what has come together while the stream was away is taken in pieces, each of which ends.
func TestABatchIsBounded(t *testing.T) {
	c := newClocked(t)
	c.options["rowsPerSecond"] = "4000000"
	src := c.Open(t)
	c.now = c.now.Add(7 * time.Second)
	for _, want := range []struct {
		start, end source.Offset
		more       bool
	}{{source.None, "2", true}, {"2", "4", true}, {"6", "7", false}} {
		end, more, err := src.Latest(t.Context(), want.start, source.Limit{})
		require.NoError(t, err)
		require.Equal(t, want.end, end)
		require.Equal(t, want.more, more)
	}
	end, _, err := src.Latest(t.Context(), source.None, source.Limit{All: true})
	require.NoError(t, err)
	require.Equal(t, source.Offset("7"), end)
	_, err = parseOptions(map[string]string{"rowsPerSecond": "10000000000"})
	require.ErrorContains(t, err, "1 to 10000000")
}

func TestOptionsAreRefused(t *testing.T) {
	for name, value := range map[string]string{
		"rowsPerSecond": "0", "rowspersecond": "x", "rampUpTime": "5 parsecs", "numPartitions": "3", "speed": "3",
	} {
		_, err := parseOptions(map[string]string{name: value})
		require.ErrorContains(t, err, name)
	}
}

func TestDamagedStart(t *testing.T) {
	for _, content := range []string{"", "v1", "v1\nyesterday", "v2\n5"} {
		st := store.NewMemory("mem://checkpoint")
		cp, err := checkpoint.Create(t.Context(), st)
		require.NoError(t, err)
		require.NoError(t, st.PutIfAbsent(t.Context(), "sources/0/0", []byte(content)))
		_, err = Open(t.Context(), source.Spec{Kind: "rate"}, source.Env{Checkpoint: cp, Now: time.Now})
		require.True(t, checkpoint.IsKind(err, checkpoint.Damaged) || checkpoint.IsKind(err, checkpoint.UnsupportedVersion), "%q: %v", content, err)
		require.ErrorContains(t, err, "sources/0/0")
	}
}
