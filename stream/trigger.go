package stream

import (
	"fmt"
	"time"
)

// The pace of a stream without a TRIGGER clause, and the watch over streams that hang.
const (
	minCommitGap  = 100 * time.Millisecond // at most 10 commits a second
	busyCommitGap = 500 * time.Millisecond // at most 2 a second when files arrive faster than busyFiles
	busyFiles     = 100                    // files a second
	relistEvery   = 10 * time.Second       // the listing is the truth: it is repeated without any hint
	stallTriggers = 3
	stallAfter    = 30 * time.Second
)

// pacer says when the next look at the sources may be. It belongs to the stream's goroutine.
type pacer struct {
	trigger   Trigger
	lastStart time.Time // of the last batch
	lookStart time.Time // of the last look
	lastEnd   time.Time // of the last look
	lookTook  time.Duration
	gap       time.Duration // between the starts of two batches
}

func newPacer(t Trigger) *pacer { return &pacer{trigger: t, gap: minCommitGap} }

// batchStarted records that a batch of so many files started.
func (p *pacer) batchStarted(at time.Time, files int64) {
	if p.trigger.Kind == Adaptive {
		p.gap = minCommitGap
		if since := at.Sub(p.lastStart); !p.lastStart.IsZero() && float64(files) > busyFiles*since.Seconds() {
			p.gap = busyCommitGap
		}
	}
	p.lastStart = at
}

// looked records a look at the sources, so that hints cannot make the stream do nothing but list.
func (p *pacer) looked(start, end time.Time) {
	p.lookStart, p.lastEnd, p.lookTook = start, end, end.Sub(start)
}

// nextLook is the earliest time of the next look. A look of EVERY that overran is followed at once by the next one.
func (p *pacer) nextLook() time.Time {
	switch p.trigger.Kind {
	case Every:
		return nextMultiple(p.lookStart, p.trigger.Every)
	case AvailableNow, Once:
		return p.lastEnd
	}
	next := p.lastEnd.Add(p.lookTook)
	if afterBatch := p.lastStart.Add(p.gap); !p.lastStart.IsZero() && afterBatch.After(next) {
		next = afterBatch
	}
	return next
}

// nextMultiple is the next multiple of every since 1970 after now, as Spark's ProcessingTime trigger fires.
func nextMultiple(now time.Time, every time.Duration) time.Time {
	ns := now.UnixNano()
	return time.Unix(0, ns-ns%int64(every)+int64(every)).In(now.Location())
}

// stalledLocked reports whether the stream has a backlog and commits nothing, and why.
func (s *stream) stalledLocked() (string, bool) {
	st := &s.status
	if s.run == nil || s.backlogSince.IsZero() || (st.State != Running && st.State != Idle && st.State != Retrying) {
		return "", false
	}
	since := s.m.now().Sub(s.backlogSince)
	if since < max(stallAfter, stallTriggers*s.def.Trigger.Every) {
		return "", false
	}
	why := fmt.Sprintf("the running batch has read %d rows so far, and %d files (%d bytes) and %d rows wait behind it", s.rowsInBatch, st.BacklogFiles, st.BacklogBytes, st.BacklogRows)
	switch {
	case st.State == Retrying:
		why = st.Reason
	case st.State == Idle && st.BacklogFiles == st.WaitingFiles && st.BacklogRows == 0:
		return "", false
	case st.Attempts > 0:
		why = st.LastError + "; another attempt runs"
	}
	return fmt.Sprintf("no commit for %s: %s", since.Truncate(time.Second), why), true
}
