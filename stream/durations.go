package stream

import "time"

// DurationBounds are the upper bounds of a Durations' buckets: from a small file on a quiet disk to a bulk load.
var DurationBounds = [...]time.Duration{
	10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute,
}

// Durations is a histogram of how long batches took, from the look that found them to the record of their commit.
type Durations struct {
	Count  uint64
	Sum    time.Duration
	Within [len(DurationBounds)]uint64 // how many took no longer than each bound
}

func (d *Durations) add(took time.Duration) {
	d.Count++
	d.Sum += took
	for i, bound := range DurationBounds {
		if took <= bound {
			d.Within[i]++
		}
	}
}
