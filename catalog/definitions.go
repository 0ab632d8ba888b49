package catalog

import (
	"context"
	"fmt"
	"strings"

	"lakesql/stream"
)

// definitions keeps streams in the catalog table.
type definitions struct{ ledger *ledger }

var _ stream.Definitions = definitions{}

// List returns the streams of all databases by name.
func (d definitions) List(ctx context.Context) ([]stream.Definition, error) {
	s, err := d.ledger.read(ctx)
	if err != nil {
		return nil, err
	}
	var out []stream.Definition
	for _, e := range s.list(streamEntry, "") {
		var def stream.Definition
		if err := e.decode(&def); err != nil {
			return nil, err
		}
		def.Paused = e.Desired == desiredPaused
		out = append(out, def)
	}
	return out, nil
}

// Put adds or replaces a stream. A checkpoint that another stream holds is refused, also when another server made that stream; so is
// another checkpoint for a stream that has one, which is a second stream of that name: a stream never changes its checkpoint.
func (d definitions) Put(ctx context.Context, def stream.Definition) error {
	name := qualified(def.Database, def.Name)
	return d.ledger.update(ctx, "PUT STREAM "+name, func(s *state) ([]entry, error) {
		if err := checkpointFree(s, def); err != nil {
			return nil, err
		}
		e, err := newEntry(streamEntry, name, def)
		e.Desired = desiredRunning
		if def.Paused {
			e.Desired = desiredPaused
		}
		return []entry{e}, err
	})
}

func checkpointFree(s *state, def stream.Definition) error {
	own := entry{Kind: streamEntry, Name: qualified(def.Database, def.Name)}.key()
	for _, e := range s.list(streamEntry, "") {
		var other stream.Definition
		if err := e.decode(&other); err != nil {
			return err
		}
		if e.key() == own && other.Checkpoint != def.Checkpoint {
			return &stream.Error{
				Kind: stream.KindExists, Stream: def.FullName(),
				Message: fmt.Sprintf("stream %s exists, made by another server on this lake, with checkpoint %s: choose another name", def.FullName(), other.Checkpoint),
			}
		}
		if e.key() == own {
			continue
		}
		renamed := strings.EqualFold(other.Database, def.Database) && strings.EqualFold(other.Name, def.RenamedFrom)
		if (other.Checkpoint == def.Checkpoint || other.ID == def.ID && def.ID != "") && !renamed {
			return &stream.Error{
				Kind: stream.KindCheckpointHeld, Stream: def.FullName(),
				Message: fmt.Sprintf("checkpoint %s, or a copy of it, is held by the stream %s: a checkpoint belongs to one stream; name another folder, or DROP STREAM %s",
					def.Checkpoint, other.FullName(), other.FullName()),
			}
		}
	}
	return nil
}

// Delete forgets a stream.
func (d definitions) Delete(ctx context.Context, database, name string) error {
	return d.ledger.update(ctx, "DELETE STREAM "+qualified(database, name), func(s *state) ([]entry, error) {
		e, ok := s.get(streamEntry, qualified(database, name))
		if !ok {
			return nil, nil
		}
		e.Deleted = true
		return []entry{e}, nil
	})
}
