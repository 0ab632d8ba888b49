package stream

import (
	"context"
	"fmt"
	"slices"
)

// Retry lets a stream take files once more that it has left out, by ON ERROR SKIP FILE or by SKIP FILE: the one at fileURI, or with "" all of them but those that
// were there when a stream of new files began. It returns how many those are, and starts the stream again unless it is paused. A file of which rows may be in the table is refused.
func (m *Manager) Retry(ctx context.Context, database, name, fileURI string) (count int, err error) {
	err = m.alter(ctx, database, name, func(d *Definition) (err error) {
		d.Finished = false
		count, err = m.retry(ctx, d, fileURI)
		return err
	})
	return count, err
}

func (m *Manager) retry(ctx context.Context, d *Definition, fileURI string) (count int, err error) {
	cp, err := m.openCheckpoint(ctx, d)
	if err != nil {
		return 0, err
	}
	specs, err := m.sources(ctx, d)
	if err != nil {
		return 0, err
	}
	list, err := m.files(ctx, cp, specs)
	if err != nil {
		return 0, showError(d, "files", err)
	}
	skipped, err := loadSkipped(ctx, cp)
	if err != nil {
		return 0, err
	}
	for _, f := range list {
		if fileURI != "" && f.Path != fileURI || f.State != FileSkipped {
			continue
		}
		if f.committed {
			first, _, err := cp.Files(f.SourceID).Begin(ctx)
			if err != nil {
				return count, err
			}
			if f.isUnknown() || fileURI == "" && f.SourceLog < first { // or it was there when the stream began
				continue
			}
			if err := cp.RetryFile(ctx, f.SourceID, f.Path, f.SourceLog); err != nil {
				return count, fmt.Errorf("keep that file %s is taken once more: %w", f.Path, err)
			}
			count++
		}
	}
	for uri := range skipped {
		if fileURI != "" && uri != fileURI || isUnknown(list, uri) {
			continue
		}
		if err := cp.UnskipFile(ctx, uri); err != nil {
			return count, fmt.Errorf("forget that file %s is left out: %w", uri, err)
		}
		if !isRetried(list, uri) {
			count++
		}
	}
	if fileURI != "" && count == 0 {
		return 0, retryRefusal(d, list, fileURI)
	}
	return count, nil
}

// isUnknown says that a file was to be left out, and that what the batch of its committed range did with it was not kept. The decision to leave it out stays:
// without it the file would count for one whose rows are in the table.
func (f *FileStatus) isUnknown() bool { return f.State == FileSkipped && f.committed && f.Error == "" }

func isUnknown(list []FileStatus, uri string) bool {
	return slices.ContainsFunc(list, func(f FileStatus) bool { return f.Path == uri && f.isUnknown() })
}

// isRetried says whether a file was counted with those of committed ranges.
func isRetried(list []FileStatus, uri string) bool {
	for _, f := range list {
		if f.Path == uri && f.committed && f.Error != "" {
			return true
		}
	}
	return false
}

// retryRefusal says why a file is not taken once more.
func retryRefusal(d *Definition, list []FileStatus, uri string) error {
	why := fmt.Sprintf("the stream has met no such file. Type the file's whole path, as SHOW STREAM FILES FOR %s has it", d.FullName())
	for _, f := range list {
		switch {
		case f.Path != uri:
		case f.isUnknown():
			why = "its batch is committed, and a crash has lost the record of what the batch did with it. Put it into the folder under another name to read it"
		case f.State == FileCommitted:
			why = "its rows are in the table, and would be there twice. Put it into the folder under another name to read it once more"
		case f.State == FilePending:
			why = fmt.Sprintf("it is still to be read: START STREAM %s reads it", d.FullName())
		}
	}
	return &Error{Kind: KindInvalid, Stream: d.FullName(), Message: fmt.Sprintf("stream %s cannot take file %s once more: %s", d.FullName(), uri, why)}
}
