package source

import (
	"strconv"
	"strings"
	"time"
)

var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "s": time.Second, "second": time.Second, "seconds": time.Second, "m": time.Minute, "min": time.Minute,
	"minute": time.Minute, "minutes": time.Minute, "h": time.Hour, "hour": time.Hour, "hours": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
}

// ParseDuration reads 30s, 15m, 2 minutes or 30 days, in any case, as options of Spark's sources have them. bare is what a number without a unit counts;
// 0: there has to be one.
func ParseDuration(text string, bare time.Duration) (d time.Duration, ok bool) {
	text = strings.TrimSpace(strings.ToLower(text))
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz ")
	unit := durationUnits[strings.TrimSpace(text[len(digits):])]
	if digits == text {
		unit = bare
	}
	n, err := strconv.ParseInt(digits, 10, 32)
	return time.Duration(n) * unit, err == nil && unit > 0 && n >= 0
}
