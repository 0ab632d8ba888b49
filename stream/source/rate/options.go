package rate

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"lakesql/stream/source"
)

// A batch has the rows of one second at the least, and so many where it has those of several.
const (
	maxRowsPerSecond = 10_000_000
	maxRowsPerBatch  = 10_000_000
)

// options are the named arguments of rate().
type options struct {
	rowsPerSecond int64
	rampUp        int64 // seconds until the full speed; 0: from the start
}

func parseOptions(args map[string]string) (options, error) {
	o := options{rowsPerSecond: 1}
	for name, value := range args {
		switch strings.ToLower(name) {
		case "rowspersecond":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n <= 0 || n > maxRowsPerSecond {
				return o, fmt.Errorf("rate(): option %s => '%s': give a whole number from 1 to %d", name, value, maxRowsPerSecond)
			}
			o.rowsPerSecond = n
		case "rampuptime":
			d, ok := source.ParseDuration(value, time.Second)
			if o.rampUp = int64(d / time.Second); !ok || d%time.Second != 0 {
				return o, fmt.Errorf("rate(): option %s => '%s': give a whole number of seconds, minutes or hours, such as '5s' or '2 minutes'", name, value)
			}
		case "numpartitions":
			return o, fmt.Errorf("rate(): option %s is for clusters, leave it out", name)
		default:
			return o, fmt.Errorf("rate(): unknown option %s: there are rowsPerSecond and rampUpTime", name)
		}
	}
	return o, nil
}

// rowsUntil is how many rows there are in the first seconds. Until the ramp's end the speed grows by the same whole number of rows
// each second. Source: RateStreamProvider.valueAtSecond of Apache Spark 3.5.
func (o options) rowsUntil(seconds int64) (int64, error) {
	ramp := min(seconds, o.rampUp)
	step := o.rowsPerSecond / (o.rampUp + 1)
	triangle := ramp / 2 * (ramp + 1)
	if ramp%2 == 1 {
		triangle = (ramp + 1) / 2 * ramp
	}
	high1, slow := bits.Mul64(uint64(step), uint64(triangle))
	high2, fast := bits.Mul64(uint64(o.rowsPerSecond), uint64(seconds-ramp))
	sum, carry := bits.Add64(slow, fast, 0)
	if high1|high2|carry != 0 || sum > math.MaxInt64 {
		return 0, fmt.Errorf("rate(): %d rows a second are more than a BIGINT counts after %d seconds; ALTER STREAM ... RESET begins again", o.rowsPerSecond, seconds)
	}
	return int64(sum), nil
}
