package catalog

import (
	"sort"
	"strings"
)

// state is the catalog table at one version. It is immutable.
type state struct {
	version    int64 // -1: the catalog table does not exist yet
	seq        int64 // the highest of all rows
	entries    map[entryKey]entry
	tombstones map[string]map[string]bool // folder in lower case -> ids
}

func newState(version int64, rows []entry) (*state, error) {
	s := &state{version: version, entries: make(map[entryKey]entry), tombstones: make(map[string]map[string]bool)}
	for _, e := range rows {
		s.seq = max(s.seq, e.Seq)
		if old, ok := s.entries[e.key()]; !ok || old.Seq < e.Seq {
			s.entries[e.key()] = e
		}
	}
	for _, e := range s.entries {
		if e.Kind != tombstoneEntry || e.Deleted {
			continue
		}
		var t tombstone
		if err := e.decode(&t); err != nil {
			return nil, err
		}
		folder := strings.ToLower(t.Folder)
		if s.tombstones[folder] == nil {
			s.tombstones[folder] = make(map[string]bool)
		}
		s.tombstones[folder][t.ID] = true
	}
	return s, nil
}

// get returns the entry in force; false when there is none or it is deleted.
func (s *state) get(kind entryKind, name string) (entry, bool) {
	e, ok := s.entries[entryKey{kind, strings.ToLower(name)}]
	return e, ok && !e.Deleted
}

// deleted says that the newest row of that name deletes it.
func (s *state) deleted(kind entryKind, name string) bool {
	return s.entries[entryKey{kind, strings.ToLower(name)}].Deleted
}

// list returns the entries of a kind by name: those of one database, or all when database is "".
func (s *state) list(kind entryKind, database string) []entry {
	prefix := ""
	if database != "" {
		prefix = strings.ToLower(database) + "/"
	}
	var out []entry
	for key, e := range s.entries {
		if key.kind == kind && !e.Deleted && strings.HasPrefix(key.name, prefix) {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// hides says whether a tombstone names the table with that id in the folder.
func (s *state) hides(folder, id string) bool { return s.tombstones[strings.ToLower(folder)][id] }

// hasTombstones says whether any table was dropped from the folder.
func (s *state) hasTombstones(folder string) bool {
	return len(s.tombstones[strings.ToLower(folder)]) > 0
}
