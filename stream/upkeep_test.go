package stream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
)

// upkeepSource has work to be done now and then.
type upkeepSource struct {
	source.Source
	work func()
}

func (s upkeepSource) Upkeep(context.Context) error { s.work(); return nil }

// TestUpkeepThatHangs: as many streams as may do their upkeep at once hang on their disks, and another one gets its turn.
func TestUpkeepThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(Config{})
		begin := func(work func()) *upkeep {
			ss := &session{s: &stream{m: m}, sources: []source.Source{upkeepSource{work: work}}}
			ss.target.Table = delta.NewTable(store.NewMemory("file:///t"))
			u := newUpkeep(ss)
			u.due()
			synctest.Wait()
			return u
		}
		mended, hung := make(chan struct{}), 0
		var all []*upkeep
		for range upkeepAtOnce {
			all = append(all, begin(func() { hung++; <-mended }))
		}
		require.Equal(t, upkeepAtOnce, hung)
		start, turn := time.Now(), make(chan time.Duration, 1)
		all = append(all, begin(func() { turn <- time.Since(start) }))
		require.Empty(t, turn, "so many at once")
		require.Equal(t, upkeepTime, <-turn)
		close(mended)
		for _, u := range all {
			u.stop()
		}
		require.Empty(t, m.upkeeps)
	})
}
