package format

import (
	"encoding/binary"

	"lakesql/batch"
)

const (
	firstQuickYear = 1900
	quickYears     = 256
)

// monthStarts are the days since 1970-01-01 of the first days of the months, from firstQuickYear on.
var monthStarts = func() (days [quickYears * 12]int32) {
	for i := range days {
		days[i] = int32(batch.DaysFromCivil(firstQuickYear+int64(i/12), 1+i%12, 1))
	}
	return days
}()

// Eight bytes of a text, the first one the lowest, as these forms have them: what is a digit there has a 0.
const (
	dateForm  = 0x2d30302d30303030 // 0000-00-
	clockForm = 0x30303a30303a3030 // 00:00:00
)

// Added to a byte's difference from its form, these set its highest bit where it is too large: more than 9 for a digit, more than 0 for what must be as it is.
const (
	dateLimits  = 0x7f76767f76767676
	clockLimits = 0x76767f76767f7676
	everyHigh   = 0x8080808080808080
)

// digitsOf are the digits in eight bytes of a form, each in its byte.
func digitsOf(text []byte, form, limits uint64) (uint64, bool) {
	x := binary.LittleEndian.Uint64(text) ^ form
	return x, (x|(x+limits))&everyHigh == 0
}

// pair is the number that two of the digits stand for, the first of which is in this byte.
func pair(digits uint64, at int) int {
	return int(digits>>(8*at)&0xff)*10 + int(digits>>(8*at+8)&0xff)
}

// quickDate reads yyyy-MM-dd with all its digits, the form that nearly all dates have; false sends everything else, years far away and wrong
// dates too, to batch.ParseDate.
func quickDate(text []byte) (int32, bool) {
	if len(text) != 10 {
		return 0, false
	}
	digits, ok := digitsOf(text, dateForm, dateLimits)
	day, ok1 := twoDigits(text[8], text[9])
	year, month := pair(digits, 0)*100+pair(digits, 2)-firstQuickYear, pair(digits, 5)-1
	if !ok || !ok1 || uint(year) >= quickYears || uint(month) >= 12 || day < 1 || day > 28 && day > batch.DaysIn(int64(year)+firstQuickYear, month+1) {
		return 0, false
	}
	return monthStarts[year*12+month] + int32(day) - 1, true
}

// quickTimestamp reads yyyy-MM-dd HH:mm:ss, with a T or a blank, and up to six digits of a fraction, in UTC; false sends
// everything else to batch.ParseTimestamp.
func quickTimestamp(text []byte) (int64, bool) {
	if len(text) < 19 || text[10] != ' ' && text[10] != 'T' {
		return 0, false
	}
	days, ok := quickDate(text[:10])
	digits, ok1 := digitsOf(text[11:19], clockForm, clockLimits)
	hour, minute, second := pair(digits, 0), pair(digits, 3), pair(digits, 6)
	if !ok || !ok1 || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	us := (int64(days)*86_400 + int64(hour*3600+minute*60+second)) * batch.MicrosPerSecond
	fraction := text[19:]
	if len(fraction) == 0 {
		return us, true
	}
	if fraction[0] != '.' || len(fraction) < 2 || len(fraction) > 7 {
		return 0, false
	}
	micros := int64(0)
	for _, c := range fraction[1:] {
		if c -= '0'; c > 9 {
			return 0, false
		}
		micros = micros*10 + int64(c)
	}
	return us + micros*int64Powers[7-len(fraction)], true
}

// twoDigits is the number that two digits stand for.
func twoDigits(a, b byte) (int, bool) {
	a, b = a-'0', b-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}
