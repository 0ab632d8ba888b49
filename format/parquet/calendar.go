package parquet

import (
	"fmt"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"lakesql/batch"
)

// Keys by which Spark marks its files.
const (
	keySparkVersion   = "org.apache.spark.version"
	keyLegacyDateTime = "org.apache.spark.legacyDateTime"
	keyLegacyInt96    = "org.apache.spark.legacyINT96"
	keySparkTimeZone  = "org.apache.spark.timeZone"
)

// legacyCalendar says which values of a file are in the calendar of Spark 2: Julian before 1582-10-15, Gregorian from then on. Spark keeps year,
// month and day when it reads them, and so does this package.
type legacyCalendar struct {
	dates bool   // dates, and timestamps stored as INT64
	int96 bool   // timestamps stored as INT96
	zone  string // the writer's time zone; "": not told
}

// legacyCalendarOf reads the keys by which Spark marks such files. Spark before 3.0 (INT96: 3.1) marked nothing but its version.
func legacyCalendarOf(pairs []format.KeyValue) legacyCalendar {
	keys := map[string]string{}
	for _, kv := range pairs {
		keys[kv.Key] = kv.Value
	}
	version, written := keys[keySparkVersion]
	_, dates := keys[keyLegacyDateTime]
	_, int96 := keys[keyLegacyInt96]
	return legacyCalendar{
		dates: written && (dates || version < "3.0.0"),
		int96: written && (int96 || version < "3.1.0"),
		zone:  keys[keySparkTimeZone],
	}
}

const (
	// gregorianStartDay is 1582-10-15, the first day that both calendars call the same.
	gregorianStartDay = -141_427
	// zonesAgreeMicros is 1900-01-01, from which on it is of no matter which time zone the writer had.
	zonesAgreeMicros = -25_567 * batch.MicrosPerDay
)

// rebases says whether a column's values are of another calendar.
func (c legacyCalendar) rebases(l *leaf) bool {
	return l.typ.Kind == batch.Date && c.dates || l.typ.Kind == batch.Timestamp && (l.physical == int96 && c.int96 || l.physical != int96 && c.dates)
}

// rebased adds to a converter what the values of a legacy file need.
func (c legacyCalendar) rebased(l *leaf, want batch.Type, conv converter) converter {
	switch {
	case !c.rebases(l):
		return conv
	case l.typ.Kind == batch.Date && want.Kind == batch.Date:
		return func(dst *batch.Vector, values *raw) error {
			from := dst.Len
			if err := conv(dst, values); err != nil {
				return err
			}
			for i, day := range dst.I32[from:] {
				dst.I32[from+i] = rebaseDay(day)
			}
			return nil
		}
	case l.typ.Kind == batch.Date: // as timestamps without a zone
		return rebaseTimestamps(conv, func(us int64) (int64, error) { return rebaseMicros(us), nil })
	}
	return rebaseTimestamps(conv, c.instants())
}

func rebaseTimestamps(conv converter, rebase func(us int64) (int64, error)) converter {
	return func(dst *batch.Vector, values *raw) error {
		from := dst.Len
		if err := conv(dst, values); err != nil {
			return err
		}
		for i, us := range dst.I64[from:] {
			if us < zonesAgreeMicros {
				var err error
				if dst.I64[from+i], err = rebase(us); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// instants returns how instants before 1900 are rebased: by the wall clock that Java's old calendar showed to the writer, which is read again by
// today's rules of the writer's zone. That calendar had for all of these times the offset that is the zone's standard one today, where the rules
// have the local mean time of each place.
func (c legacyCalendar) instants() func(us int64) (int64, error) {
	if offset, ok := fixedOffset(c.zone); ok {
		return func(us int64) (int64, error) { return rebaseMicros(us+offset) - offset, nil }
	}
	zone, err := time.LoadLocation(c.zone)
	if c.zone == "" || c.zone == "Local" || err != nil {
		return func(int64) (int64, error) {
			return 0, fmt.Errorf("%w: it has timestamps before 1900 in the calendar of Spark 2, in a time zone that is not known (%q); rewrite the file with Spark 3 or later and spark.sql.parquet.datetimeRebaseModeInWrite and int96RebaseModeInWrite set to CORRECTED", ErrUnsupported, c.zone)
		}
	}
	offset := standardOffset(zone)
	return func(us int64) (int64, error) {
		wall := time.UnixMicro(rebaseMicros(us + offset)).UTC()
		return time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone).UnixMicro(), nil
	}
}

// standardOffset returns the microseconds east of UTC of a zone's standard time of today.
func standardOffset(zone *time.Location) int64 {
	at := time.Date(2025, time.January, 1, 0, 0, 0, 0, zone)
	for month := 0; at.IsDST() && month < 12; month++ {
		at = at.AddDate(0, 1, 0)
	}
	_, seconds := at.Zone()
	return int64(seconds) * 1_000_000
}

// fixedOffset returns the microseconds east of UTC of a zone that never had any other, in a spelling of Java.
func fixedOffset(zone string) (us int64, ok bool) {
	switch zone {
	case "Z", "UTC", "UCT", "GMT", "Zulu", "Universal", "Greenwich", "Etc/UTC", "Etc/UCT", "Etc/GMT", "Etc/Zulu", "Etc/Universal", "Etc/Greenwich":
		return 0, true
	}
	for _, prefix := range []string{"UTC", "GMT"} {
		zone = strings.TrimPrefix(zone, prefix)
	}
	var sign byte
	var hours, minutes int64
	if n, _ := fmt.Sscanf(zone, "%c%2d:%2d", &sign, &hours, &minutes); n != 3 || len(zone) != len("+01:00") || sign != '+' && sign != '-' {
		return 0, false
	}
	if us = (hours*60 + minutes) * 60_000_000; sign == '-' {
		us = -us
	}
	return us, true
}

// rebaseMicros rebases a wall clock.
func rebaseMicros(us int64) int64 {
	day, ofDay := us/batch.MicrosPerDay, us%batch.MicrosPerDay
	if ofDay < 0 {
		day, ofDay = day-1, ofDay+batch.MicrosPerDay
	}
	if day >= gregorianStartDay || day < -1<<30 {
		return us
	}
	return int64(rebaseDay(int32(day)))*batch.MicrosPerDay + ofDay
}

// rebaseDay returns the day of the proleptic Gregorian calendar with the year, month and day of the month that the hybrid calendar gives to a
// day, both counted from 1970-01-01. February 29 of a year that only the Julian calendar has it in is March 1.
func rebaseDay(day int32) int32 {
	if day >= gregorianStartDay {
		return day
	}
	// Days since 0000-03-01 in the Julian calendar, whose years and months, begun in March, follow one rule each: 1461 days are four
	// years, 153 days are five months.
	n := int64(day) + julianMarch
	year := floorDiv(4*n+3, 1461)
	ofYear := n - floorDiv(1461*year, 4)
	month := (5*ofYear + 2) / 153
	ofMonth := ofYear - (153*month+2)/5
	// The first of that month in the Gregorian calendar: a century has no leap day but for every fourth.
	first := 365*year + floorDiv(year, 4) - floorDiv(year, 100) + floorDiv(year, 400) + (153*month+2)/5
	return int32(first + ofMonth - gregorianMarch)
}

const (
	// julianMarch is the number of days from 0000-03-01 in the Julian calendar to 1970-01-01.
	julianMarch = 719_470
	// gregorianMarch is the same in the proleptic Gregorian calendar.
	gregorianMarch = 719_468
)

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
