package csv

import (
	"fmt"
	"strings"

	"lakesql/format"
)

// dialect is Options compiled for the scanner: what is checked once, and tables for the inner loops.
type dialect struct {
	sep       []byte
	sepWord   uint64 // sep's first byte eight times
	quote     int    // -1: none
	escape    int    // -1: none
	escEscape int    // -1: none
	comment   int    // -1: none
	lineSep   []byte // nil: any of CR LF, LF, CR
	multiLine bool
	trimLead  bool
	trimTrail bool
	stop      [256]bool // bytes that may end an unquoted field: sep's first, and line ends with multiLine
	bare      bool      // a text without quotes and CR is taken apart by LF and sep, a byte, alone

	maxColumns int
	maxChars   int // 0: no limit
	sizeHint   int64
}

func byteOr(c byte) int {
	if c == 0 {
		return -1
	}
	return int(c)
}

// compile checks the options. Its errors are *format.Error and name the option.
func (o *Options) compile() (*dialect, error) {
	if o.Sep == "" {
		return nil, &format.Error{Message: "option sep is empty: give the text between two fields, such as sep => ';'"}
	}
	if strings.ContainsAny(o.Sep, "\r\n") {
		return nil, &format.Error{Message: fmt.Sprintf("option sep is %q: a line end cannot separate fields", o.Sep)}
	}
	if o.Quote != 0 && o.Sep[0] == o.Quote {
		return nil, &format.Error{Message: fmt.Sprintf("options sep and quote both begin with %q: they must differ", o.Sep[:1])}
	}
	if o.MaxColumns <= 0 {
		return nil, &format.Error{Message: fmt.Sprintf("option maxColumns is %d: it must be positive", o.MaxColumns)}
	}
	if o.MultiLine && o.LineSep != "" {
		return nil, &format.Error{Message: "options multiLine and lineSep together are not supported yet: leave lineSep out, any of CR LF, LF, CR ends a record"}
	}
	d := &dialect{
		sep: []byte(o.Sep), sepWord: uint64(o.Sep[0]) * lowBits,
		quote: byteOr(o.Quote), escape: byteOr(o.Escape), comment: byteOr(o.Comment),
		escEscape: byteOr(o.CharToEscapeQuoteEscaping),
		multiLine: o.MultiLine, trimLead: o.IgnoreLeadingWhiteSpace, trimTrail: o.IgnoreTrailingWhiteSpace,
		maxColumns: o.MaxColumns, maxChars: max(o.MaxCharsPerColumn, 0), sizeHint: o.SizeHint,
	}
	if d.escEscape < 0 && d.escape != d.quote {
		d.escEscape = d.escape
	}
	if o.LineSep != "" {
		d.lineSep = []byte(o.LineSep)
	}
	d.stop[o.Sep[0]] = true
	d.bare = len(d.sep) == 1 && d.comment < 0 && !d.trimLead && !d.trimTrail && !d.multiLine && d.lineSep == nil
	if d.multiLine {
		d.stop['\n'], d.stop['\r'] = true, true
	}
	return d, nil
}
