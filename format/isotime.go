package format

import "lakesql/batch"

// quickDate reads yyyy-MM-dd with all its digits, the form that nearly all dates have; false sends everything else, wrong
// dates too, to batch.ParseDate.
func quickDate(text []byte) (int32, bool) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return 0, false
	}
	century, ok1 := twoDigits(text[0], text[1])
	years, ok2 := twoDigits(text[2], text[3])
	month, ok3 := twoDigits(text[5], text[6])
	day, ok4 := twoDigits(text[8], text[9])
	year := int64(century*100 + years)
	if !(ok1 && ok2 && ok3 && ok4) || month < 1 || month > 12 || day < 1 || day > 28 && day > batch.DaysIn(year, month) {
		return 0, false
	}
	return int32(batch.DaysFromCivil(year, month, day)), true
}

// quickTimestamp reads yyyy-MM-dd HH:mm:ss, with a T or a blank, and up to six digits of a fraction, in UTC; false sends
// everything else to batch.ParseTimestamp.
func quickTimestamp(text []byte) (int64, bool) {
	if len(text) < 19 || text[10] != ' ' && text[10] != 'T' || text[13] != ':' || text[16] != ':' {
		return 0, false
	}
	days, ok := quickDate(text[:10])
	hour, ok1 := twoDigits(text[11], text[12])
	minute, ok2 := twoDigits(text[14], text[15])
	second, ok3 := twoDigits(text[17], text[18])
	if !(ok && ok1 && ok2 && ok3) || hour > 23 || minute > 59 || second > 59 {
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
