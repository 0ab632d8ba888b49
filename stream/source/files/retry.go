package files

import "context"

// retry forgets the files that ALTER STREAM ... RETRY wants to be taken once more. The log names such a file again then, and by that the wish is fulfilled.
func (s *Source) retry(ctx context.Context) error {
	wanted, err := s.env.Checkpoint.RetriedFiles(ctx, s.env.Index)
	if err != nil {
		return err
	}
	for uri, entry := range wanted {
		if at, ok := s.seen[uri]; ok && at == entry {
			delete(s.seen, uri)
			delete(s.versions, uri)
		}
	}
	return nil
}
