package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"lakesql/checkpoint"
	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
)

const (
	// keepCleaned is Auto Loader's cleanSource.retentionDuration. Files that are archived as Spark does go at once.
	keepCleaned = 30 * 24 * time.Hour
	// cleanEvery is how often at the least files are looked for whose time has come; it is more often where that time is short.
	cleanEvery = time.Hour
	// cleanAgain is how often at the most it is tried again to take away what could not be: often enough for a disk that comes back, and no cost where it stays away.
	cleanAgain = time.Minute
)

// cleaner deletes or moves files whose rows are committed.
//
// A file is touched only when its range is behind a commit that the checkpoint has, so that no replay can ask for it; when it was read; when it is as it was then; and
// when neither its folder nor the one that it goes to belongs to a table, a lake or a checkpoint. It goes in one step (a rename, or a removal), so a crash leaves it where
// it was, and the next start finds it by listing the folder. What cannot be done is told once, and tried again.
type cleaner struct {
	mode      files.CleanMode
	retention time.Duration
	root      store.Store // of the whole disk
	folder    string      // below the root, without slashes at its ends
	base      string      // the path of the folder that is read, likewise
	opened    time.Time
	looked    time.Time             // of the last look for files whose time has come
	dealt     int64                 // the entry up to which all that could be taken away is
	stuck     []checkpoint.FileFact // of the entries up to dealt, those that could not be
	tried     time.Time             // of the last try to take the stuck ones away
	told      map[string]bool
	fence     source.Fence
	places    map[string]error // what checkPlace says of folders, since the look began
}

// newCleaner checks the options cleanSource; nil: files stay.
func newCleaner(ctx context.Context, spec source.Spec, env source.Env, opts *files.Options, base string) (*cleaner, error) {
	if opts.Clean.Mode == files.CleanOff {
		return nil, nil
	}
	retention, err := Retention(opts.Clean)
	if err != nil {
		return nil, err
	}
	c := &cleaner{mode: opts.Clean.Mode, retention: retention, opened: env.Now(), dealt: -1, told: map[string]bool{}, fence: env.Fence}
	at, err := store.ParseFileURI(base)
	if err != nil {
		return nil, err
	}
	c.base = strings.Trim(at, "/")
	if c.root, err = env.Open("file:///"); err != nil {
		return nil, err
	}
	if err := c.checkPlace(ctx, c.base); err != nil || c.mode == files.CleanDelete {
		return c, err
	}
	if env.Fence != nil {
		if err := env.Fence.Check(opts.Clean.Folder); err != nil {
			return nil, err
		}
	}
	to, err := store.ParseFileURI(opts.Clean.Folder)
	if err != nil {
		return nil, argumentError("option sourceArchiveDir => '%s': %w", opts.Clean.Folder, err)
	}
	c.folder = strings.Trim(to, "/")
	if within(c.folder, c.base) || within(c.base, c.folder) {
		return nil, argumentError("option sourceArchiveDir => '%s' lies in the folder that is read, or holds it: archived files would be read again. Give a folder beside %s", opts.Clean.Folder, spec.Path)
	}
	return c, c.checkPlace(ctx, c.folder)
}

// Retention is how long after its commit cleanSource leaves a file where it is.
func Retention(c files.Clean) (time.Duration, error) {
	switch {
	case c.Retention == "" && c.Mode == files.CleanArchive:
		return 0, nil
	case c.Retention == "":
		return keepCleaned, nil
	}
	d, ok := source.ParseDuration(strings.TrimPrefix(strings.ToLower(c.Retention), "interval "), 0)
	if !ok {
		return 0, argumentError("option cleanSource.retentionDuration => '%s': give a time, such as '7 days' or '0 seconds'", c.Retention)
	}
	return d, nil
}

func within(path, folder string) bool { return strings.HasPrefix(path+"/", folder+"/") }

// clean takes away files up to the committed entry whose time has come.
func (s *Source) clean(ctx context.Context, committed int64) error {
	if s.cleaner == nil {
		return nil
	}
	if err := s.cleanStuck(ctx); err != nil {
		return err
	}
	return s.cleanDue(ctx, committed)
}

// cleanStuck tries again what was not possible before.
func (s *Source) cleanStuck(ctx context.Context) error {
	c, now := s.cleaner, s.env.Now()
	if len(c.stuck) == 0 || now.Sub(c.tried) < cleanAgain {
		return nil
	}
	c.tried, c.places = now, map[string]error{}
	var stuck []checkpoint.FileFact
	for i, fact := range c.stuck {
		settled, err := s.cleanFile(ctx, fact)
		if err != nil {
			c.stuck = append(stuck, c.stuck[i:]...)
			return err
		}
		if !settled {
			stuck = append(stuck, fact)
		}
	}
	c.stuck = stuck
	return nil
}

// cleanDue goes through the entries that it has not dealt with.
func (s *Source) cleanDue(ctx context.Context, committed int64) error {
	c, now := s.cleaner, s.env.Now()
	if committed <= c.dealt || now.Sub(c.looked) < min(c.retention/24, cleanEvery) {
		return nil
	}
	c.looked, c.places = now, map[string]error{}
	var stuck []checkpoint.FileFact // of the entry at hand
	deal := func(entry int64) {
		c.dealt = max(c.dealt, entry)
		if len(stuck) > 0 && stuck[0].LogID <= entry {
			c.stuck, c.tried, stuck = append(c.stuck, stuck...), now, nil
		}
	}
	for fact, err := range s.facts.Range(ctx, c.dealt+1, committed) {
		if err != nil {
			return fmt.Errorf("read what the files looked like: %w", err)
		}
		deal(fact.LogID - 1) // the entry may have more files
		done := c.opened     // of those whose end a crash has kept from being recorded
		if fact.DoneMs > 0 {
			done = time.UnixMilli(fact.DoneMs)
		}
		if now.Sub(done) < c.retention { // and those behind it were done later
			return nil
		}
		settled, err := s.cleanFile(ctx, fact)
		if err != nil {
			return err
		}
		if !settled {
			stuck = append(stuck, fact)
		}
	}
	deal(committed)
	return nil
}

// wasRead tells whether a file of a committed range is in the table, and has no newer entry.
func (s *Source) wasRead(fact checkpoint.FileFact) bool {
	if fact.Batch < 0 && s.mayLeaveOut() {
		return false // it may have been left out: another engine ran the batch
	}
	return fact.Error == "" && s.seen[fact.Path] == fact.LogID && fact.LogID >= s.first && s.leftOut(fact.Path) == ""
}

// cleanFile deletes or moves one file, if it was read, and is there as it was then. It returns whether nothing is left to do.
func (s *Source) cleanFile(ctx context.Context, fact checkpoint.FileFact) (settled bool, err error) {
	if !s.wasRead(fact) {
		return true, nil
	}
	info, err := s.stat(ctx, fact.Path)
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	if err == nil && (info.Size != fact.Size || info.ModTime.UnixNano() != fact.ModTimeNs) {
		return true, nil
	}
	if err == nil {
		err = s.cleaner.do(ctx, fact.Path)
	}
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil && !s.cleaner.told[fact.Path] {
		s.cleaner.told[fact.Path] = true
		s.notices = append(s.notices, source.RowError{File: fact.Path, Message: "its rows are in the table, and cleanSource could not take it away: " + err.Error()})
	}
	return err == nil, nil
}

func (c *cleaner) do(ctx context.Context, uri string) error {
	whole, err := store.ParseFileURI(uri)
	if err != nil {
		return err
	}
	from := strings.TrimPrefix(whole, "/")
	if c.mode == files.CleanDelete {
		if err := c.checkMove(ctx, from, ""); err != nil {
			return err
		}
		return c.root.Delete(ctx, from)
	}
	to := from
	if c.mode == files.CleanMove {
		if to = strings.TrimPrefix(from, c.base+"/"); to == from {
			to = path.Base(from)
		}
	}
	to = c.folder + "/" + to
	if err := c.checkMove(ctx, from, to); err != nil {
		return err
	}
	mover, ok := c.root.(store.Renamer)
	if !ok {
		return fmt.Errorf("%s has no renames", c.root.URI())
	}
	return mover.Rename(ctx, from, to)
}
