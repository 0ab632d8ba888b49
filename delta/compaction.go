package delta

import "fmt"

// A compaction file holds what the commits of several versions come to: one file to read instead of many. It has no commitInfo.
// This package reads those of other engines and writes none: its own checkpoints come at least as often, and hold more.

// versionRange are the versions first to last, which one file of the log holds.
type versionRange struct{ first, last int64 }

// key is the file that holds the range.
func (r versionRange) key() string {
	if r.first == r.last {
		return commitKey(r.first)
	}
	return fmt.Sprintf("%s%020d.%020d.compacted.json", logFolder, r.first, r.last)
}

// steps covers the versions (after, upTo] with as few files as there are for that. The last version is always read from its
// own commit, whose commitInfo says when it was made.
func (l *logListing) steps(after, upTo int64) []versionRange {
	var out []versionRange
	rest := l.compactions
	for next := after + 1; next <= upTo; {
		step := versionRange{next, next}
		for ; len(rest) > 0 && rest[0].version <= next; rest = rest[1:] {
			if c := rest[0]; c.version == next && c.end < upTo {
				step.last = c.end // the longest of those that begin here is the last one
			}
		}
		out = append(out, step)
		next = step.last + 1
	}
	return out
}

// checkReconciled refuses a compaction in which something has more than one action: which of them holds cannot be told. Such
// compactions exist.
func checkReconciled(c *commit) error {
	if c.repeated {
		return fmt.Errorf("%w: it has more than one protocol or metaData action", ErrCorrupt)
	}
	seen := make(map[[3]string]bool, len(c.adds)+len(c.removes))
	var again error
	see := func(kind, id, dvID string) {
		key := [3]string{kind, id, dvID}
		if seen[key] {
			again = fmt.Errorf("%w: it has more than one action of the %s %s", ErrCorrupt, kind, id)
		}
		seen[key] = true
	}
	for _, a := range c.adds {
		see("file", string(a.path), a.extra.dvID())
	}
	for _, r := range c.removes {
		see("file", string(r.path), r.extra.dvID())
	}
	for _, t := range c.txns {
		see("application", t.appID, "")
	}
	for _, d := range c.domains {
		see("domain", d.domain, "")
	}
	return again
}
