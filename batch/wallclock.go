package batch

import "time"

// FromWallClock turns microseconds of a wall clock in loc (nil: UTC) into an instant: a time that a clock change skips moves on
// by the gap, one that comes twice is the earlier.
func FromWallClock(us int64, loc *time.Location) int64 {
	if loc == nil || loc == time.UTC {
		return us
	}
	seconds := floorDiv(us, MicrosPerSecond)
	return fromWallClock(seconds, loc)*MicrosPerSecond + us - seconds*MicrosPerSecond
}
