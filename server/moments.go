package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// writeMoments gives the dates and times among a statement's parameters the text that MySQL has for them. vitess writes numbers without their zeros, so that a
// microsecond would be a tenth of a second.
func writeMoments(p *mysql.PrepareData) {
	for i, kind := range p.ParamsType {
		value := p.BindVars[fmt.Sprintf("v%d", i+1)]
		if value == nil || value.Type != sqltypes.VarChar { // NULL, or sent apart, which is a text of the client's
			continue
		}
		switch querypb.Type(kind) {
		case sqltypes.Date:
			value.Value = []byte(momentText(string(value.Value), false))
		case sqltypes.Datetime, sqltypes.Timestamp:
			value.Value = []byte(momentText(string(value.Value), true))
		case sqltypes.Time:
			value.Value = []byte(timeText(string(value.Value)))
		}
	}
}

// momentText is the text of "Y-M-D[ h:m:s[.u]]", or of " ", the date of zeros.
func momentText(text string, withTime bool) string {
	date, clock, _ := strings.Cut(text, " ")
	n := numbersIn(date, "-", 3)
	date = fmt.Sprintf("%04d-%02d-%02d", n[0], n[1], n[2])
	if !withTime {
		return date
	}
	return date + " " + timeText(clock)
}

// timeText is the text of "[-]h:m:s[.u]", or of nothing.
func timeText(text string) string {
	sign := ""
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, text = "-", rest
	}
	clock, fraction, _ := strings.Cut(text, ".")
	n := numbersIn(clock, ":", 3)
	text = fmt.Sprintf("%s%02d:%02d:%02d", sign, n[0], n[1], n[2])
	if micros := numbersIn(fraction, ".", 1)[0]; micros != 0 {
		text += fmt.Sprintf(".%06d", micros)
	}
	return text
}

// numbersIn are the numbers between separators; what is not there is 0.
func numbersIn(text, separator string, count int) []int {
	numbers := make([]int, count)
	for i, part := range strings.SplitN(text, separator, count) {
		numbers[i], _ = strconv.Atoi(part) // vitess wrote it, or left it out
	}
	return numbers
}
