package parquet

import (
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"

	"lakesql/batch"
)

// hybridDays counts the days from 1970-01-01 back to a day that Spark 2 writes as that date, one by one: an oracle for rebaseDay.
func hybridDays(yield func(day int32, year, month, date int)) {
	day, y, m, d := int32(gregorianStartDay-1), 1582, 10, 4
	for ; y > -3; day-- {
		yield(day, y, m, d)
		if d--; d == 0 {
			if m--; m == 0 {
				y, m = y-1, 12
			}
			d = []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[m-1]
			if m == 2 && y%4 == 0 {
				d = 29
			}
		}
	}
}

func TestRebaseDay(t *testing.T) {
	require.Equal(t, int32(gregorianStartDay), rebaseDay(gregorianStartDay))
	require.Equal(t, int32(0), rebaseDay(0))
	hybridDays(func(day int32, year, month, date int) {
		if date > 2 && date < 28 && day%9 != 0 {
			return
		}
		if month == 2 && date == 29 && year%100 == 0 && year%400 != 0 {
			month, date = 3, 1
		}
		if want := daysOf(year, month, date); want != rebaseDay(day) {
			require.Equal(t, want, rebaseDay(day), "%d-%d-%d", year, month, date)
		}
	})
	require.Equal(t, int32(-719_162), rebaseDay(-719_164), "0001-01-01")
}

// daysOf counts days in the proleptic Gregorian calendar, year by year.
func daysOf(year, month, date int) int32 {
	leap := func(y int) bool { return y%4 == 0 && (y%100 != 0 || y%400 == 0) }
	days := 0
	for y := year; y < 1970; y++ {
		days -= 365
		if leap(y) {
			days--
		}
	}
	for m, n := range []int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[:month-1] {
		days += n
		if m == 1 && leap(year) {
			days++
		}
	}
	return int32(days + date - 1)
}

const dayMicros = batch.MicrosPerDay

// Files that Spark marks are read as Spark reads them; others as they are.
func TestFilesOfSpark2(t *testing.T) {
	const old = gregorianStartDay - 1 // 1582-10-04 then, 1582-10-14 now
	legacy := "org.apache.spark.legacyDateTime"
	version, zone := "org.apache.spark.version", "org.apache.spark.timeZone"
	plain96 := func(us int64) []byte {
		x := int96Of(us)
		return int32s(int32(x[0]), int32(x[1]), int32(x[2]))
	}
	chunks := func() []rawChunk {
		return []rawChunk{
			{pages: []rawPage{{n: 2, values: int32s(old, old+1)}}},
			{pages: []rawPage{{n: 2, values: int64s(old*dayMicros+1, (old+1)*dayMicros)}}},
			{pages: []rawPage{{n: 2, values: int64s(old*dayMicros/1000+1, 0)}}},
			{pages: []rawPage{{n: 2, values: append(plain96(old*dayMicros), plain96(0)...)}}},
			{dict: int32s(old), count: 1, pages: []rawPage{{reps: "010", defs: "110", encoding: format.RLEDictionary, values: []byte{1, 4, 0}}}},
		}
	}
	schema := "required int32 d (DATE) required int64 t (TIMESTAMP_MICROS) required int64 ms (TIMESTAMP_MILLIS) required int96 i repeated int32 l (DATE)"
	read := func(keys map[string]string, name, typ string) ([]string, error) {
		f := (&rawFile{schema: schema, rows: 2, chunks: chunks(), keys: keys}).open(t)
		b, err := readAll(f, ScanOptions{Columns: []batch.Field{{Name: name, Type: parseType(t, typ)}}})
		if err != nil {
			return nil, err
		}
		var out []string
		for i := range b.Len {
			out = append(out, string(b.Cols[0].AppendJSON(nil, i)))
		}
		return out, nil
	}
	utc := map[string]string{version: "3.5.0", legacy: "", "org.apache.spark.legacyINT96": "", zone: "UTC"}
	for _, c := range []struct {
		keys      map[string]string
		name, typ string
		want      []string
	}{
		{nil, "d", "date", []string{`"1582-10-14"`, `"1582-10-15"`}},
		{map[string]string{legacy: ""}, "d", "date", []string{`"1582-10-14"`, `"1582-10-15"`}}, // no file of Spark's
		{map[string]string{version: "3.0.0"}, "d", "date", []string{`"1582-10-14"`, `"1582-10-15"`}},
		{map[string]string{version: "2.4.8"}, "d", "date", []string{`"1582-10-04"`, `"1582-10-15"`}},
		{map[string]string{version: "3.5.0", legacy: ""}, "d", "date", []string{`"1582-10-04"`, `"1582-10-15"`}},
		{utc, "d", "timestamp_ntz", []string{`"1582-10-04 00:00:00"`, `"1582-10-15 00:00:00"`}},
		{utc, "t", "timestamp", []string{`"1582-10-04 00:00:00.000001"`, `"1582-10-15 00:00:00"`}},
		{utc, "ms", "timestamp", []string{`"1582-10-04 00:00:00.001000"`, `"1970-01-01 00:00:00"`}},
		{utc, "i", "timestamp", []string{`"1582-10-04 00:00:00"`, `"1970-01-01 00:00:00"`}},
		{utc, "l", "array<date>", []string{`["1582-10-04","1582-10-04"]`, `[]`}},
		{map[string]string{version: "3.5.0", legacy: "", zone: "UTC"}, "i", "timestamp", []string{`"1582-10-14 00:00:00"`, `"1970-01-01 00:00:00"`}},
		// two hours west the second value is on the day before, by the wall clock
		{map[string]string{version: "3.5.0", legacy: "", zone: "-02:00"}, "t", "timestamp", []string{`"1582-10-04 00:00:00.000001"`, `"1582-10-05 00:00:00"`}},
	} {
		got, err := read(c.keys, c.name, c.typ)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%v %s", c.keys, c.name)
	}
	for _, keys := range []map[string]string{{version: "2.4.8"}, {version: "3.5.0", legacy: "", zone: "Mars/Olympus"}} {
		_, err := read(keys, "t", "timestamp")
		require.ErrorIs(t, err, ErrUnsupported)
		require.ErrorContains(t, err, "read column t of memory:/test/f.parquet")
		require.ErrorContains(t, err, "spark.sql.parquet.datetimeRebaseModeInWrite")
	}
}

// The seconds by which Spark moves instants in a zone: its offsets of old are those of each place's local mean time.
func TestRebaseInZones(t *testing.T) {
	const second = 1_000_000
	for _, c := range []struct {
		zone           string
		at, difference int64 // seconds
	}{
		{"America/Los_Angeles", -62_135_740_800, 2*86_400 - 422}, // 0001-01-01 there
		{"America/Los_Angeles", -2_717_650_000, -422},            // 1883
		{"America/Los_Angeles", -2_500_000_000, 0},               // 1890, in the standard time of the railways
		{"Asia/Tokyo", -2_600_000_000, -1139},                    // 1887
		{"Asia/Tokyo", -2_500_000_000, 0},
		{"UTC", -12_219_292_800 - 1, -10 * 86_400},
	} {
		got, err := legacyCalendar{zone: c.zone}.instants()(c.at * second)
		require.NoError(t, err)
		require.Equal(t, c.difference, got/second-c.at, "%s at %d", c.zone, c.at)
	}
}

func TestFixedOffset(t *testing.T) {
	for zone, want := range map[string]int64{"UTC": 0, "Etc/UTC": 0, "GMT": 0, "Z": 0, "+01:00": 3600_000_000, "GMT-03:30": -12_600_000_000, "UTC+14:00": 50_400_000_000} {
		got, ok := fixedOffset(zone)
		require.True(t, ok, zone)
		require.Equal(t, want, got, zone)
	}
	for _, zone := range []string{"", "Europe/Berlin", "+1", "+01:0", "UTC+", "+1a:00", "01:00"} {
		_, ok := fixedOffset(zone)
		require.False(t, ok, zone)
	}
}
