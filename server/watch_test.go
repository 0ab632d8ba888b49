package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheNextCommandMayComeEarly(t *testing.T) {
	ts := startServer(t)
	for name, how := range map[string]rawLogin{"plain": {}, "compressed": {capabilities: clientCompress}} {
		t.Run(name, func(t *testing.T) {
			c := how.dial(t, ts)
			c.query("SELECT SLEEP(0.3)")
			c.query("SELECT 2")
			c.ask(comStatistics)
			for _, want := range []string{"\x010", "\x012"} {
				c.columns()
				require.Equal(t, want, string(c.read()))
				c.rows()
			}
			require.Contains(t, string(c.read()), "Uptime")
			require.EqualValues(t, 1, c.last)
		})
	}
}

func TestWhoSaysThatHeLeavesHasLeft(t *testing.T) {
	ts := startServer(t)
	ts.length.Store(1 << 40)
	for name, how := range map[string]rawLogin{"plain": {}, "compressed": {capabilities: clientCompress}} {
		t.Run(name, func(t *testing.T) {
			c := how.dial(t, ts)
			ended := ts.metrics.questions.Load()
			c.query("SELECT COUNT(*) FROM g.series")
			require.Eventually(t, func() bool { return ts.runs("SELECT COUNT(*) FROM g.series") }, patience, time.Millisecond)
			c.ask(comQuit)
			require.Eventually(t, func() bool { return ts.metrics.questions.Load() > ended }, patience, time.Millisecond)
			c.ended()
		})
	}
}
