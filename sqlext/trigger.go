package sqlext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// trigger parses what follows TRIGGER.
func (p *parser) trigger() Trigger {
	switch {
	case p.accept("EVERY"):
		return p.every()
	case p.accept("PROCESSING TIME"), p.accept("PROCESSINGTIME"):
		if p.assignAt(0) > 0 {
			p.acceptAssign()
		}
		return p.every()
	case p.accept("AVAILABLE NOW"), p.accept("AVAILABLENOW"):
		return Trigger{Kind: TriggerAvailableNow}
	case p.accept("ONCE"):
		return Trigger{Kind: TriggerOnce}
	case p.words("CONTINUOUS"):
		p.refuse(WrongForm, "TRIGGER CONTINUOUS does not exist here; leave TRIGGER out, then a batch starts as soon as there is something new, or write TRIGGER EVERY 1 SECOND")
	default:
		p.fail("EVERY n SECONDS, PROCESSING TIME '10 seconds', AVAILABLE NOW or ONCE")
	}
	return Trigger{}
}

// every parses n unit, 'n unit' or a parameter with or without a unit.
func (p *parser) every() Trigger {
	t := p.peek(0)
	switch t.kind {
	case tokString:
		d, err := parseInterval(t.text)
		if err != nil {
			p.fail("an interval such as '10 seconds'")
		}
		p.next()
		return Trigger{Kind: TriggerEvery, Every: d}
	case tokParam:
		p.next()
		param := &Param{Index: t.param}
		if unit, ok := units[strings.ToLower(p.peek(0).text)]; ok && p.peek(0).kind == tokWord {
			p.next()
			param.Unit = unit
		}
		return Trigger{Kind: TriggerEvery, Param: param}
	case tokNumber:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil {
			p.fail("a whole number")
		}
		p.next()
		unit, ok := units[strings.ToLower(p.peek(0).text)]
		if !ok {
			p.fail("MILLISECOND, SECOND, MINUTE, HOUR or DAY")
		}
		p.next()
		if n > math.MaxInt64/int64(max(unit, 1)) {
			p.refuse(WrongForm, "TRIGGER EVERY "+t.text+" is longer than 292 years")
		}
		return Trigger{Kind: TriggerEvery, Every: time.Duration(n) * unit}
	}
	p.fail("a number and a unit, such as EVERY 10 SECONDS")
	return Trigger{}
}

var units = map[string]time.Duration{
	"millisecond": time.Millisecond, "milliseconds": time.Millisecond, "ms": time.Millisecond,
	"second": time.Second, "seconds": time.Second,
	"minute": time.Minute, "minutes": time.Minute,
	"hour": time.Hour, "hours": time.Hour,
	"day": 24 * time.Hour, "days": 24 * time.Hour,
}

// parseInterval parses Spark's text of an interval: '10 seconds', 'interval 1 minute 30 seconds'.
func parseInterval(text string) (time.Duration, error) {
	words := strings.Fields(strings.ToLower(text))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	var sum time.Duration
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, fmt.Errorf("interval %q: write a number and a unit, such as '10 seconds'", text)
	}
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 64)
		unit, ok := units[words[i+1]]
		if err != nil || !ok || n < 0 {
			return 0, fmt.Errorf("interval %q: %s %s is not a number and a unit, such as '10 seconds'", text, words[i], words[i+1])
		}
		if n > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, fmt.Errorf("interval %q is longer than 292 years", text)
		}
		sum += time.Duration(n) * unit
	}
	return sum, nil
}
