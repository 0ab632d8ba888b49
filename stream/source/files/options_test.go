package files

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/files"
	"lakesql/store"
	"lakesql/stream/source"
)

// commit reads a range and says that it is in the table.
func (f *folder) commit(t *testing.T, src source.Source, batch int64, start, end source.Offset) []string {
	t.Helper()
	rows := f.read(t, src, start, end)
	require.NoError(t, src.Committed(t.Context(), batch, start, end))
	return rows
}

// settled looks until nothing waits and so many files are ready.
func settled(t *testing.T, src source.Source, ready int) {
	t.Helper()
	s := src.(*Source)
	require.Eventually(t, func() bool {
		require.NoError(t, s.look(t.Context()))
		return len(s.ready) == ready && len(s.waiting) == 0
	}, patience, time.Millisecond)
}

func (f *folder) with(name, value string) *folder {
	f.options[name] = value
	return f
}

func (f *folder) touch(t *testing.T, name string, at time.Time) {
	require.NoError(t, os.Chtimes(filepath.Join(f.landing, name), at, at))
}

func TestLatestFirst(t *testing.T) {
	f := newFolder(t).with("latestFirst", "true").with("maxFilesPerTrigger", "1").with("schema", "id INT")
	for i, name := range []string{"a.csv", "b.csv"} {
		f.put(t, name, "id\n"+name[:0]+string(rune('1'+i))+"\n")
		f.touch(t, name, time.Now().Add(time.Duration(i-10)*time.Hour))
	}
	src := f.Open(t)
	defer src.Close()
	settled(t, src, 2)
	at := f.next(t, src, source.None)
	require.Equal(t, []string{"2"}, f.commit(t, src, 0, source.None, at))
	f.put(t, "c.csv", "id\n3\n")
	settled(t, src, 2)
	end := f.next(t, src, at)
	require.Equal(t, []string{"3"}, f.commit(t, src, 1, at, end), "a newer file goes before an older one that waits")
	require.Equal(t, []string{"1"}, f.commit(t, src, 2, end, f.next(t, src, end)))
}

// TestExistingFilesAreLeftOut: what is there at the first start is never read, wherever a crash cuts the start short, and whatever the option says later.
func TestExistingFilesAreLeftOut(t *testing.T) {
	f := newFolder(t).with("includeExistingFiles", "false").with("schema", "id INT")
	f.put(t, "old.csv", "id\n1\n")
	src := f.Open(t)
	require.NoError(t, src.Close()) // before there is any offset
	f.put(t, "new.csv", "id\n2\n")
	src = f.Open(t)
	end := f.next(t, src, source.None)
	require.Equal(t, source.Offset(`{"logOffset":0}`), end)
	var results []source.FileResult
	op, err := src.Read(t.Context(), source.None, end, source.Observer{File: func(r source.FileResult) { results = append(results, r) }})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	require.Error(t, err)
	require.NoError(t, op.Close())
	require.Empty(t, results, "it is no fault")
	require.ErrorContains(t, src.(*Source).CanSkip(t.Context(), f.uri("old.csv"), source.None), "it was there when the stream began")
	require.NoError(t, src.Close())

	f.with("includeExistingFiles", "true")
	src = f.Open(t)
	defer src.Close()
	require.Empty(t, f.commit(t, src, 0, source.None, end))
	for fact, err := range src.(*Source).facts.All(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "includeExistingFiles => false: it was there when the stream began", fact.Error)
	}
	require.Equal(t, []string{"2"}, f.commit(t, src, 1, end, f.next(t, src, end)))
}

func TestNoFileExists(t *testing.T) {
	f := newFolder(t).with("includeExistingFiles", "false")
	src := f.Open(t)
	require.NoError(t, src.Close())
	f.put(t, "new.csv", "id\n2\n")
	src = f.Open(t)
	defer src.Close()
	require.Equal(t, []string{"2"}, f.commit(t, src, 0, source.None, f.next(t, src, source.None)), "it came after the first start")
}

// TestCaughtUpWithExistingFiles: nobody waits for files that are not read, and whose columns nobody knows.
func TestCaughtUpWithExistingFiles(t *testing.T) {
	f := newFolder(t).with("includeExistingFiles", "false")
	f.put(t, "old.csv", "id\n1\n")
	src := f.Open(t)
	defer src.Close()
	_, err := src.Schema(t.Context())
	require.ErrorIs(t, err, source.ErrNoData)
	m, err := src.Mark(t.Context())
	require.NoError(t, err)
	reached, err := src.Reached(t.Context(), m, source.None)
	require.NoError(t, err)
	require.True(t, reached)
}

// TestIncludeExistingFilesIsForTheFirstStart: a checkpoint that has entries has had it.
func TestIncludeExistingFilesIsForTheFirstStart(t *testing.T) {
	f := newFolder(t).with("schema", "id INT")
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	end := f.next(t, src, source.None)
	require.NoError(t, src.Close())
	f.with("includeExistingFiles", "false")
	f.put(t, "b.csv", "id\n2\n")
	src = f.Open(t)
	defer src.Close()
	require.Equal(t, []string{"1"}, f.commit(t, src, 0, source.None, end))
	require.Equal(t, []string{"2"}, f.commit(t, src, 1, end, f.next(t, src, end)))
}

// TestOverwrittenFilesAreReadAgain: P37.
func TestOverwrittenFilesAreReadAgain(t *testing.T) {
	f := newFolder(t).with("cloudFiles.allowOverwrites", "true").with("schema", "id INT")
	f.put(t, "a.csv", "id\n1\n")
	f.put(t, "b.csv", "id\n5\n")
	src := f.Open(t)
	settled(t, src, 2)
	at := f.next(t, src, source.None)
	require.ElementsMatch(t, []string{"1", "5"}, f.commit(t, src, 0, source.None, at))
	settled(t, src, 0)
	m, err := src.Mark(t.Context())
	require.NoError(t, err)
	reached, err := src.Reached(t.Context(), m, at)
	require.NoError(t, err)
	require.True(t, reached)

	f.put(t, "a.csv", "id\n1\n2\n")
	settled(t, src, 1)
	m, err = src.Mark(t.Context())
	require.NoError(t, err)
	reached, err = src.Reached(t.Context(), m, at)
	require.NoError(t, err)
	require.False(t, reached, "the new version is not in the table")
	end := f.next(t, src, at)
	require.Equal(t, []string{"1", "2"}, f.commit(t, src, 1, at, end))
	reached, err = src.Reached(t.Context(), m, end)
	require.NoError(t, err)
	require.True(t, reached)
	require.NoError(t, src.Close())

	src = f.Open(t)
	defer src.Close()
	settled(t, src, 0) // a restart knows what the files looked like
	f.put(t, "a.csv", "id\n7\n")
	settled(t, src, 1)
	require.Equal(t, []string{"7"}, f.commit(t, src, 2, end, f.next(t, src, end)))
}

// TestOverwrittenBeforeItIsRead: what a range recorded is gone, and the next one has what took its place; also where both are run again.
func TestOverwrittenBeforeItIsRead(t *testing.T) {
	f := newFolder(t).with("allowOverwrites", "true").with("schema", "id INT")
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	at := f.next(t, src, source.None)
	require.NoError(t, src.Close())
	f.put(t, "a.csv", "id\n1\n2\n")
	src = f.Open(t)
	op, err := src.Read(t.Context(), source.None, at, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	require.ErrorIs(t, err, source.ErrAgain)
	require.NoError(t, op.Close())
	require.Empty(t, f.commit(t, src, 0, source.None, at))
	settled(t, src, 1)
	end := f.next(t, src, at)
	require.NoError(t, src.Close())
	src = f.Open(t)
	defer src.Close()
	require.Equal(t, []string{"1", "2"}, f.commit(t, src, 1, at, end))
	require.Equal(t, []string{"1", "2"}, f.read(t, src, source.None, end), "of a range with both, the newest is read")
}

// cleaned are the names that are left in the landing folder, and the files below the archive.
func (f *folder) cleaned(t *testing.T, archive string) (left, moved []string) {
	list, err := os.ReadDir(f.landing)
	require.NoError(t, err)
	for _, e := range list {
		left = append(left, e.Name())
	}
	_ = filepath.WalkDir(archive, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			moved = append(moved, path[len(archive):])
		}
		return nil
	})
	return left, moved
}

func TestCleanSource(t *testing.T) {
	for mode, want := range map[string]func(f *folder) []string{
		"delete":  func(*folder) []string { return nil },
		"ARCHIVE": func(f *folder) []string { return []string{f.landing + "/a.csv"} },
		"Move":    func(*folder) []string { return []string{"/a.csv"} },
	} {
		t.Run(mode, func(t *testing.T) {
			f := newFolder(t).with("cleanSource", mode).with("cleanSource.retentionDuration", "0 seconds").with("schema", "id INT")
			archive := filepath.Join(filepath.Dir(f.landing), "archive")
			if mode != "delete" {
				f.with("sourceArchiveDir", store.FileURI(archive))
			}
			f.put(t, "a.csv", "id\n1\n")
			f.put(t, "b.csv", "id\n2\n")
			f.change = func(e *source.Env) { e.Skipped = func(uri string) bool { return uri == f.uri("b.csv") } }
			src := f.Open(t)
			settled(t, src, 2)
			at := f.next(t, src, source.None)
			require.Equal(t, []string{"1"}, f.read(t, src, source.None, at))
			left, _ := f.cleaned(t, archive)
			require.Equal(t, []string{"a.csv", "b.csv"}, left, "a replay may want them")
			require.NoError(t, src.Committed(t.Context(), 0, source.None, at))
			left, moved := f.cleaned(t, archive)
			require.Equal(t, []string{"b.csv"}, left, "a file that was left out stays")
			require.Equal(t, want(f), moved)

			f.put(t, "a.csv", "id\n8\n")
			f.put(t, "c.csv", "id\n3\n")
			settled(t, src, 1)
			end := f.next(t, src, at)
			require.NoError(t, src.Close())
			src = f.Open(t)
			defer src.Close()
			require.Equal(t, []string{"3"}, f.read(t, src, at, end), "an uncommitted range survives a restart")
			require.Equal(t, end, f.latest(t, src, end), "as if a crash had kept the source from hearing of the commit")
			left, _ = f.cleaned(t, archive)
			require.Equal(t, []string{"a.csv", "b.csv"}, left, "what came under a known name is no committed file")
			require.Empty(t, src.(*Source).Notices())
		})
	}
}

// latest looks for a range behind start, where there is none.
func (f *folder) latest(t *testing.T, src source.Source, start source.Offset) source.Offset {
	end, _, err := src.Latest(t.Context(), start, source.Limit{})
	require.NoError(t, err)
	return end
}

func TestCleanSourceWaits(t *testing.T) {
	f := newFolder(t).with("cleanSource", "delete").with("schema", "id INT")
	now := time.Now()
	f.change = func(e *source.Env) { e.Now = func() time.Time { return now } }
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	defer src.Close()
	at := f.next(t, src, source.None)
	f.commit(t, src, 0, source.None, at)
	now = now.Add(29 * 24 * time.Hour)
	f.latest(t, src, at)
	left, _ := f.cleaned(t, "")
	require.Equal(t, []string{"a.csv"}, left)
	now = now.Add(24 * time.Hour)
	f.latest(t, src, at)
	left, _ = f.cleaned(t, "")
	require.Empty(t, left)
}

func TestCleanSourceTellsWhatItCannot(t *testing.T) {
	f := newFolder(t).with("cleanSource", "archive").with("schema", "id INT")
	archive := filepath.Join(filepath.Dir(f.landing), "archive")
	f.with("sourceArchiveDir", store.FileURI(archive))
	taken := filepath.Join(archive, f.landing, "a.csv")
	require.NoError(t, os.MkdirAll(filepath.Dir(taken), 0o755))
	require.NoError(t, os.WriteFile(taken, []byte("there"), 0o644))
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	defer src.Close()
	f.commit(t, src, 0, source.None, f.next(t, src, source.None))
	notices := src.(*Source).Notices()
	require.Len(t, notices, 1)
	require.Contains(t, notices[0].Message, "cleanSource could not take it away")
	data, err := os.ReadFile(taken)
	require.NoError(t, err)
	require.Equal(t, "there", string(data))
}

// TestCleanSourceTriesAgain: what could not be taken away goes when it can, whatever was committed meanwhile, and nothing is told twice.
func TestCleanSourceTriesAgain(t *testing.T) {
	f := newFolder(t).with("cleanSource", "archive").with("schema", "id INT")
	archive := filepath.Join(filepath.Dir(f.landing), "archive")
	f.with("sourceArchiveDir", store.FileURI(archive))
	now := time.Now()
	f.change = func(e *source.Env) { e.Now = func() time.Time { return now } }
	require.NoError(t, os.WriteFile(archive, []byte("no folder"), 0o644))
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	defer src.Close()
	at := f.next(t, src, source.None)
	f.commit(t, src, 0, source.None, at)
	f.put(t, "b.csv", "id\n2\n")
	settled(t, src, 1)
	end := f.next(t, src, at)
	f.commit(t, src, 1, at, end)
	require.Len(t, src.(*Source).Notices(), 2)

	require.NoError(t, os.Remove(archive))
	f.put(t, "c.csv", "id\n3\n")
	settled(t, src, 1)
	last := f.next(t, src, end)
	f.commit(t, src, 2, end, last)
	left, _ := f.cleaned(t, archive)
	require.Equal(t, []string{"a.csv", "b.csv"}, left, "not before its time")
	now = now.Add(cleanAgain)
	f.latest(t, src, last)
	left, moved := f.cleaned(t, archive)
	require.Empty(t, left)
	require.Len(t, moved, 3)
	require.Empty(t, src.(*Source).Notices())
}

// TestCleanSourceLeavesWhatIsNoLandingFile: whatever a path reaches, the files of a table, a lake and a checkpoint are not taken away, and none are put among them.
func TestCleanSourceLeavesWhatIsNoLandingFile(t *testing.T) {
	f := newFolder(t).with("cleanSource", "delete").with("cleanSource.retentionDuration", "0 seconds").with("schema", "id INT").with("recursiveFileLookup", "true").with("pathGlobFilter", "*.csv")
	for _, dir := range []string{"t/_delta_log", "t/day=1", "lake/_lakesql/catalog", "cp/offsets", "other"} {
		require.NoError(t, os.MkdirAll(filepath.Join(f.landing, dir), 0o755))
	}
	for _, name := range []string{"t/_delta_log/0.json", "lake/_lakesql/catalog/x", "cp/offsets/0"} {
		require.NoError(t, os.WriteFile(filepath.Join(f.landing, name), []byte("{}"), 0o644))
	}
	kept := []string{"cp/f.csv", "lake/f.csv", "t/day=1/f.csv", "t/f.csv"}
	for _, name := range append(kept, "f.csv", "other/f.csv") {
		require.NoError(t, os.WriteFile(filepath.Join(f.landing, name), []byte("id\n1\n"), 0o644))
		f.touch(t, name, time.Now().Add(-time.Hour))
	}
	src := f.Open(t)
	settled(t, src, 6)
	f.commit(t, src, 0, source.None, f.next(t, src, source.None))
	notices := src.(*Source).Notices()
	require.NoError(t, src.Close())
	require.Len(t, notices, len(kept))
	for _, name := range kept {
		require.FileExists(t, filepath.Join(f.landing, name))
	}
	require.NoFileExists(t, filepath.Join(f.landing, "f.csv"))
	require.NoFileExists(t, filepath.Join(f.landing, "other", "f.csv"))

	landing := f.landing
	open := func(path string) (source.Source, error) {
		return Open(t.Context(), source.Spec{Kind: "files", Path: store.FileURI(path), Options: f.options}, source.Env{Open: store.Open, Now: time.Now})
	}
	f.with("cleanSource", "archive")
	for _, to := range []string{"t", "t/_delta_log", "lake/_lakesql/catalog", "cp/new"} {
		f.with("sourceArchiveDir", store.FileURI(filepath.Join(landing, to)))
		_, err := open(filepath.Join(landing, "other"))
		require.ErrorContains(t, err, "Give a folder of its own", to)
		_, err = open(filepath.Join(landing, to))
		require.ErrorContains(t, err, "Give a folder of its own", to)
	}
}

func TestSchemaLocation(t *testing.T) {
	f := newFolder(t)
	place := filepath.Join(filepath.Dir(f.landing), "schemas", "sales")
	f.with("schemaLocation", store.FileURI(place))
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	at := f.next(t, src, source.None)
	f.commit(t, src, 0, source.None, at)
	data, err := os.ReadFile(filepath.Join(place, "_schemas", "0"))
	require.NoError(t, err)
	require.Equal(t, `v1
{"dataSchemaJson":"{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}","partitionSchemaJson":"{\"type\":\"struct\",\"fields\":[]}"}`, string(data))

	f.put(t, "b.csv", "id,more\n2,x\n")
	end := f.next(t, src, at)
	op, err := src.Read(t.Context(), at, end, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	require.ErrorIs(t, err, source.ErrSchemaEvolved)
	require.NoError(t, op.Close())
	require.NoError(t, src.Close())
	src = f.Open(t)
	defer src.Close()
	schema, err := src.Schema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "id integer, more string", schema.String())
	require.Equal(t, []string{"2|x"}, f.read(t, src, at, end))
	require.FileExists(t, filepath.Join(place, "_schemas", "1"))

	require.NoError(t, os.WriteFile(filepath.Join(place, "_schemas", "2"), []byte("v2\n{}"), 0o644))
	_, err = src.(*Source).schemas.load(t.Context())
	require.ErrorContains(t, err, "it does not begin with the line v1")
}

func TestEvolutionMode(t *testing.T) {
	auto := &files.Options{}
	given, err := files.ParseOptions(map[string]string{"format": "csv", "schema": "id INT", "schemaEvolutionMode": "addNewColumns"})
	require.NoError(t, err)
	for mode, want := range map[string]source.NewColumns{
		"": source.AddWhereInferred, "addnewcolumns": source.AddColumns, "rescue": source.RescueColumns, "failonnewcolumns": source.RefuseColumns, "none": source.IgnoreColumns,
	} {
		auto.EvolutionMode = mode
		got, err := evolution(auto, source.AddWhereInferred)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	auto.EvolutionMode = "none"
	_, err = evolution(auto, source.RefuseColumns)
	require.ErrorContains(t, err, "says something else than ON SCHEMA CHANGE")
	_, err = evolution(given, source.AddWhereInferred)
	require.ErrorContains(t, err, "give schemaHints instead, or say ON SCHEMA CHANGE ADD COLUMNS")
	got, err := evolution(given, source.AddColumns)
	require.NoError(t, err)
	require.Equal(t, source.AddColumns, got)
}

// TestMissingFilesAreLeftOut: P0 with ignoreMissingFiles, across a restart.
func TestMissingFilesAreLeftOut(t *testing.T) {
	f := newFolder(t).with("ignoreMissingFiles", "true").with("schema", "id INT")
	f.put(t, "a.csv", "id\n1\n")
	f.put(t, "b.csv", "id\n2\n")
	src := f.Open(t)
	settled(t, src, 2)
	at := f.next(t, src, source.None)
	require.NoError(t, src.Close())
	require.NoError(t, os.Remove(filepath.Join(f.landing, "a.csv")))
	src = f.Open(t)
	defer src.Close()
	op, err := src.Read(t.Context(), source.None, at, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	require.ErrorIs(t, err, source.ErrAgain)
	require.NoError(t, op.Close())
	require.Equal(t, []string{"2"}, f.commit(t, src, 0, source.None, at))
}

func TestOptionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	for want, options := range map[string]map[string]string{
		"lies in the folder that is read": {"cleanSource": "move", "cleanSource.moveDestination": store.FileURI(dir + "/in/done")},
		"or holds it":                     {"cleanSource": "archive", "sourceArchiveDir": store.FileURI(dir)},
		"give a time, such as '7 days'":   {"cleanSource": "delete", "cleanSource.retentionDuration": "soon"},
	} {
		options["format"] = "csv"
		_, err := Open(t.Context(), source.Spec{Path: store.FileURI(dir + "/in"), Options: options}, source.Env{Open: store.Open, Now: time.Now})
		require.ErrorContains(t, err, want)
	}
}

// TestChangedBeforeAReplay: without allowOverwrites, a file of an uncommitted range that is not as it was recorded is refused by name, whatever else is left out.
func TestChangedBeforeAReplay(t *testing.T) {
	f := newFolder(t).with("ignoreMissingFiles", "true").with("ignoreCorruptFiles", "true").with("schema", "id INT")
	f.put(t, "a.csv", "id\n1\n")
	src := f.Open(t)
	at := f.next(t, src, source.None)
	require.NoError(t, src.Close())
	f.put(t, "a.csv", "id\n1\n2\n")
	src = f.Open(t)
	defer src.Close()
	op, err := src.Read(t.Context(), source.None, at, source.Observer{})
	require.NoError(t, err)
	_, err = op.Next(t.Context())
	require.ErrorIs(t, err, source.ErrChanged)
	require.ErrorContains(t, err, "file "+f.uri("a.csv")+" changed after it was listed: it had 5 bytes")
	require.NoError(t, op.Close())
}
