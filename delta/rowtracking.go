package delta

import (
	"encoding/json"
	"fmt"
)

// Row tracking gives every row an id that stays with it and the version that changed it last. A file has the id of its first row, the
// others follow; rows that were moved from other files carry theirs in hidden columns.

const (
	rowTrackingFeature  = "rowTracking"
	rowTrackingProperty = "delta.enableRowTracking"
	rowTrackingPaused   = "delta.rowTrackingSuspended"

	rowTrackingDomain = "delta.rowTracking"
	// rowTrackingKept is a tag of commits that says whether rows which the commit moved have kept their ids.
	rowTrackingKept = "delta.rowTracking.preserved"
)

// rowTrackingState is the configuration of the domain, as Spark writes it.
type rowTrackingState struct {
	HighWaterMark int64  `json:"rowIdHighWaterMark"` // the highest id that was ever given
	DomainName    string `json:"domainName"`
}

// tracksRows tells whether files that are added must have row ids.
func (s *Snapshot) tracksRows() bool {
	return s.protocol != nil && s.protocol.Supports(rowTrackingFeature) && !s.metadata.on(rowTrackingPaused)
}

// KeepsRowIDs tells whether rows that are moved to other files must take their ids along.
func (s *Snapshot) KeepsRowIDs() bool { return s.tracksRows() && s.metadata.on(rowTrackingProperty) }

// rowIDMark is the highest row id that was given; -1 before the first.
func (s *Snapshot) rowIDMark() (int64, error) {
	text, ok := s.domains[rowTrackingDomain]
	if !ok {
		return -1, nil
	}
	state := rowTrackingState{HighWaterMark: -1}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return 0, fmt.Errorf("%w: domain %s of %s: %w: %.120q", ErrCorrupt, rowTrackingDomain, s.uri, err, text)
	}
	return state.HighWaterMark, nil
}

// rowIDs gives ids to the files of one attempt of a commit.
type rowIDs struct {
	version     int64 // of the commit
	mark, start int64 // the highest id, now and before
	off         bool  // the table has none
}

func newRowIDs(base, after *Snapshot, version int64) (*rowIDs, error) {
	if !after.tracksRows() {
		return &rowIDs{off: true}, nil
	}
	mark, err := base.rowIDMark()
	return &rowIDs{version: version, mark: mark, start: mark}, err
}

// assign returns extra with an id for the file's first row, and the version of the commit, where it has none yet.
func (r *rowIDs) assign(extra *fileExtra, path string, records int64) (*fileExtra, error) {
	if r.off || extra != nil && extra.baseRowID != nil && extra.defaultRowCommitVersion != nil {
		return extra, nil
	}
	if records < 0 {
		return nil, fmt.Errorf("file %s cannot be added to a table that tracks its rows: how many rows it has is not known", path)
	}
	var out fileExtra
	if extra != nil {
		out = *extra
	}
	if out.baseRowID == nil {
		out.baseRowID = new(r.mark + 1)
		r.mark += records
	}
	if out.defaultRowCommitVersion == nil {
		out.defaultRowCommitVersion = new(r.version)
	}
	return &out, nil
}

// domain is the new mark; false when it has not moved.
func (r *rowIDs) domain() (domainAction, bool) {
	return domainAction{domain: rowTrackingDomain, configuration: string(mustJSON(rowTrackingState{r.mark, rowTrackingDomain}))}, r.mark > r.start
}

// checkRowTracking refuses to turn row tracking on while rows have no ids.
func (s *Snapshot) checkRowTracking(next *Metadata) error {
	after := *s
	after.metadata = next
	if !after.metadata.on(rowTrackingProperty) || s.metadata == nil || s.metadata.on(rowTrackingProperty) {
		return nil
	}
	for f := range s.Files() {
		if _, ok := f.BaseRowID(); !ok {
			return fmt.Errorf("table %s cannot track its rows: file %s has no row ids; set delta.enableRowTracking when a table is created, or rewrite its files first under delta.feature.rowTracking = supported",
				s.uri, f.Path)
		}
	}
	return nil
}
