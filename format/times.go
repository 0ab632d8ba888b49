package format

import (
	"fmt"
	"time"

	"lakesql/batch"
)

// Times reads the texts of dates and timestamps: by the patterns that options give, otherwise in ISO's forms.
type Times struct {
	dates      *pattern // nil: ISO
	timestamps *pattern // nil: ISO
	wallClocks *pattern // nil: ISO
	loc        *time.Location
	utc        bool
}

// NewTimes compiles the options dateFormat, timestampFormat and timestampNTZFormat, Java's patterns or "" for ISO's forms. loc is
// where timestamps without a zone are; nil: UTC. Errors: *Error, naming the option.
func NewTimes(dates, timestamps, wallClocks string, loc *time.Location) (*Times, error) {
	if loc == nil {
		loc = time.UTC
	}
	t := &Times{loc: loc, utc: loc == time.UTC}
	for _, p := range []struct {
		option, text string
		to           **pattern
	}{
		{"dateFormat", dates, &t.dates},
		{"timestampFormat", timestamps, &t.timestamps},
		{"timestampNTZFormat", wallClocks, &t.wallClocks},
	} {
		if p.text == "" {
			continue
		}
		compiled, err := compilePattern(p.option, p.text)
		if err != nil {
			return nil, err
		}
		*p.to = compiled
	}
	return t, nil
}

// Date reads days since 1970-01-01.
func (t *Times) Date(text []byte) (int32, bool) {
	if t.dates != nil {
		return t.dates.date(text)
	}
	if d, ok := quickDate(text); ok {
		return d, true
	}
	d, err := batch.ParseDate(text)
	return d, err == nil
}

// StrictDate says whether a text counts as a date when types are inferred: by dateFormat, or exactly yyyy-MM-dd.
func (t *Times) StrictDate(text []byte) bool {
	const form = "0000-00-00"
	if t.dates == nil && (len(text) != len(form) || text[4] != '-' || text[7] != '-') {
		return false
	}
	_, ok := t.Date(text)
	return ok
}

// Timestamp reads an instant, in microseconds since 1970-01-01T00:00:00Z.
func (t *Times) Timestamp(text []byte) (int64, bool) {
	if t.timestamps != nil {
		return t.timestamps.timestamp(text, t.loc)
	}
	if t.utc {
		if us, ok := quickTimestamp(text); ok {
			return us, true
		}
	}
	us, err := batch.ParseTimestamp(text, t.loc)
	return us, err == nil
}

// WallClock reads a timestamp without a zone, in microseconds since 1970-01-01T00:00:00.
func (t *Times) WallClock(text []byte) (int64, bool) {
	if t.wallClocks != nil {
		return t.wallClocks.wallTimestamp(text)
	}
	if us, ok := quickTimestamp(text); ok {
		return us, true
	}
	us, err := batch.ParseTimestampNTZ(text)
	return us, err == nil
}

// Wanted names a type in a message about a text that is none, with the pattern that it was read by.
func (t *Times) Wanted(typ batch.Type) string {
	name := typ.String()
	switch {
	case typ.Kind == batch.Date && t.dates != nil:
		name += fmt.Sprintf(" by dateFormat '%s'", t.dates.text)
	case typ.Kind == batch.Timestamp && t.timestamps != nil:
		name += fmt.Sprintf(" by timestampFormat '%s'", t.timestamps.text)
	case typ.Kind == batch.TimestampNTZ && t.wallClocks != nil:
		name += fmt.Sprintf(" by timestampNTZFormat '%s'", t.wallClocks.text)
	}
	return name
}
