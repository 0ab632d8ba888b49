package delta

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lakesql/store"
	"lakesql/store/faultstore"
)

// datedStore gives objects other times than those at which they were written.
type datedStore struct {
	store.Store
	times map[string]time.Time // by key; the zero time for others
}

func (d *datedStore) date(info store.Info) store.Info {
	info.ModTime = d.times[info.Key]
	return info
}

func (d *datedStore) Stat(ctx context.Context, key string) (store.Info, error) {
	info, err := d.Store.Stat(ctx, key)
	return d.date(info), err
}

func (d *datedStore) List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		for info, err := range d.Store.List(ctx, prefix, startAfter, delimiter) {
			if !yield(d.date(info), err) {
				return
			}
		}
	}
}

// logDay is a midnight; versions are committed around noon of the days behind it.
var logDay = time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)

func noon(day int) time.Time { return logDay.AddDate(0, 0, day).Add(12 * time.Hour) }

// agedLog is a table whose version v was committed on day v.
type agedLog struct {
	*datedStore
	memory *store.Memory
	files  map[int64][]string // what each version has
}

// newAgedLog makes a log of versions 0 to newest, each of which adds a file and from the third on removes one.
func newAgedLog(t require.TestingT, newest int64, protocol, properties string) *agedLog {
	memory := store.NewMemory("mem://aged")
	require.NoError(t, memory.MakeRoot(ctx))
	l := &agedLog{datedStore: &datedStore{memory, map[string]time.Time{}}, memory: memory, files: map[int64][]string{}}
	var live []string
	for v := range newest + 1 {
		text := ""
		if strings.Contains(properties, inCommitProperty) {
			text = fmt.Sprintf("{\"commitInfo\":{\"inCommitTimestamp\":%d,\"operation\":\"WRITE\"}}\n", noon(int(v)).UnixMilli())
		}
		if v == 0 {
			text += fmt.Sprintf("{\"protocol\":%s}\n", protocol)
			text += fmt.Sprintf("{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{%s}}}\n", properties)
		}
		text += fmt.Sprintf("{\"add\":{\"path\":\"f%d\",\"partitionValues\":{},\"size\":%d,\"modificationTime\":1,\"dataChange\":true}}\n", v, v)
		live = append(live, fmt.Sprint("f", v))
		if v >= 3 {
			text += fmt.Sprintf("{\"remove\":{\"path\":\"f%d\",\"deletionTimestamp\":%d,\"dataChange\":true}}\n", v-3, noon(int(v)).UnixMilli())
			live = slices.Clone(live[1:])
		}
		l.put(t, commitKey(v), text, noon(int(v)))
		l.files[v] = slices.Clone(live)
	}
	return l
}

const plainProtocol = `{"minReaderVersion":1,"minWriterVersion":2}`

func featureProtocol(reader, writer string) string {
	return fmt.Sprintf(`{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[%s],"writerFeatures":[%s]}`, reader, writer)
}

func (l *agedLog) put(t require.TestingT, key, text string, at time.Time) {
	require.NoError(t, l.memory.PutIfAbsent(ctx, key, []byte(text)))
	l.times[key] = at
}

// checkpoint writes the checkpoint of a version, of the kind that the table wants.
func (l *agedLog) checkpoint(t require.TestingT, version int64) {
	s, _, err := loadVersion(ctx, l, version)
	require.NoError(t, err)
	require.NoError(t, writeCheckpoint(ctx, l.memory, s, noon(0)))
	for info, err := range l.memory.List(ctx, logFolder, "", "") {
		require.NoError(t, err)
		if _, ok := l.times[info.Key]; !ok {
			l.times[info.Key] = noon(int(version))
		}
	}
}

// clean cleans the log up at a time, as the newest version's checkpoint would.
func (l *agedLog) clean(st store.Store, now time.Time) error {
	table := NewTable(st)
	s, err := table.newest(ctx)
	if err != nil {
		return err
	}
	return table.cleanUp(ctx, s, now)
}

// names are the files of the log, checkpoints without what makes their names unique.
func (l *agedLog) names(t require.TestingT) []string {
	var out []string
	for info, err := range l.memory.List(ctx, logFolder, "", "") {
		require.NoError(t, err)
		name := logFileName(info.Key)
		if i := strings.Index(name, ".checkpoint."); i >= 0 && len(name) > i+20 {
			name = name[:i] + ".checkpoint.UNIQUE"
		}
		out = append(out, strings.ReplaceAll(name, "000000000000000000", ""))
	}
	return out
}

func (l *agedLog) requireVersions(t require.TestingT, st store.Store, from int64) {
	for v, files := range l.files {
		s, _, err := loadVersion(ctx, st, v)
		if v < from {
			require.ErrorIs(t, err, ErrNoVersion, "version %d", v)
			continue
		}
		require.NoError(t, err, "version %d", v)
		require.Equal(t, files, pathsOf(s), "version %d", v)
	}
}

// TestWhatACleanUpKeeps is the rules of a clean-up, one by one. The table has versions 0 to 9, of the noons of days 0 to 9, and checkpoints
// at 2, 4 and 6; it is kept for four days.
func TestWhatACleanUpKeeps(t *testing.T) {
	const four = `"delta.logRetentionDuration":"interval 4 days"`
	for _, c := range []struct {
		name       string
		protocol   string
		properties string
		now        time.Time
		before     func(t *testing.T, l *agedLog)
		boundary   int64 // what is left begins here; 0: everything is left
	}{
		{name: "too young", properties: four, now: noon(6).Add(11 * time.Hour)},
		{name: "a commit between checkpoints", properties: four, now: noon(8), boundary: 2},
		{name: "the day's last second", properties: four, now: noon(8).Add(12*time.Hour - time.Second), boundary: 2},
		{name: "the next day", properties: four, now: noon(9), boundary: 4},
		{name: "long after", properties: four, now: noon(90), boundary: 6},
		{name: "a commit at midnight is old enough", properties: four, now: noon(8), boundary: 4, before: func(t *testing.T, l *agedLog) {
			l.times[commitKey(4)] = logDay.AddDate(0, 0, 4)
		}},
		{name: "a commit a moment later is not", properties: four, now: noon(8), boundary: 2, before: func(t *testing.T, l *agedLog) {
			l.times[commitKey(4)] = logDay.AddDate(0, 0, 4).Add(time.Millisecond)
		}},
		{name: "a file that was copied is young", properties: four, now: noon(9), boundary: 2, before: func(t *testing.T, l *agedLog) {
			l.times[commitKey(3)] = noon(9)
		}},
		{name: "thirty days without a property", now: noon(36), boundary: 4},
		{name: "not asked for", properties: four + `,"delta.enableExpiredLogCleanup":"false"`, now: noon(90)},
		{name: "checkpoints are kept longer", properties: `"delta.logRetentionDuration":"interval 1 day","delta.checkpointRetentionDuration":"interval 4 days"`, now: noon(9), boundary: 4},
		{name: "checkpoints are kept two days", properties: `"delta.logRetentionDuration":"interval 0 days"`, now: noon(8), boundary: 4},
		{name: "no checkpoint is old enough", properties: four, now: noon(6), before: func(t *testing.T, l *agedLog) {
			require.NoError(t, l.Delete(ctx, checkpointKey(2)))
		}},
		{name: "half a checkpoint is none", properties: four, now: noon(9), boundary: 2, before: func(t *testing.T, l *agedLog) {
			require.NoError(t, l.Delete(ctx, checkpointKey(4)))
			l.put(t, "_delta_log/00000000000000000004.checkpoint.0000000001.0000000002.parquet", "PAR1", noon(4))
		}},
		{name: "in-commit timestamps count", protocol: featureProtocol("", `"inCommitTimestamp"`), properties: four + `,"delta.enableInCommitTimestamps":"true"`, now: noon(8), boundary: 2,
			before: func(t *testing.T, l *agedLog) {
				for v := range int64(10) {
					l.times[commitKey(v)] = noon(0)
				}
			}},
		{name: "protected checkpoints", protocol: featureProtocol("", `"checkpointProtection"`), properties: four + `,"delta.requireCheckpointProtectionBeforeVersion":"5"`, now: noon(9)},
		{name: "all protected checkpoints at once", protocol: featureProtocol("", `"checkpointProtection"`), properties: four + `,"delta.requireCheckpointProtectionBeforeVersion":"6"`, now: noon(90), boundary: 6},
		{name: "protection that is not a feature", properties: four + `,"delta.requireCheckpointProtectionBeforeVersion":"5"`, now: noon(9), boundary: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.protocol == "" {
				c.protocol = plainProtocol
			}
			l := newAgedLog(t, 9, c.protocol, c.properties)
			for _, v := range []int64{2, 4, 6} {
				l.checkpoint(t, v)
			}
			if c.before != nil {
				c.before(t, l)
			}
			all := l.names(t)
			require.NoError(t, l.clean(l, c.now))
			want := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
				version, err := strconv.ParseInt(name[:2], 10, 64)
				return err == nil && version < c.boundary
			})
			require.Equal(t, want, l.names(t))
			l.requireVersions(t, l, c.boundary)
			require.NoError(t, l.clean(l, c.now), "again")
			require.Equal(t, want, l.names(t))
		})
	}
}

// TestEverythingElseOfALog: checksums, compactions, staged commits and strangers.
func TestEverythingElseOfALog(t *testing.T) {
	l := newAgedLog(t, 9, plainProtocol, `"delta.logRetentionDuration":"interval 4 days"`)
	l.checkpoint(t, 4)
	for v := range int64(10) {
		l.put(t, checksumKey(v), "{}", noon(int(v)))
	}
	for _, r := range []versionRange{{0, 3}, {3, 6}, {4, 6}, {5, 6}} {
		l.put(t, r.key(), "{}", noon(0))
	}
	for _, key := range []string{stagedFolder + "00000000000000000004.x.json", stagedFolder + "00000000000000000005.x.json", stagedFolder + "notes",
		logFolder + "00000000000000000001.notes", logFolder + "notes/00000000000000000001.json"} {
		l.put(t, key, "{}", noon(0))
	}
	require.NoError(t, l.clean(l, noon(9)))
	names := l.names(t)
	for _, gone := range []string{"00.json", "03.json", "00.crc", "03.crc", "00.03.compacted.json", "03.06.compacted.json", "04.06.compacted.json", "_staged_commits/04.x.json"} {
		require.NotContains(t, names, gone)
	}
	for _, kept := range []string{"04.json", "04.crc", "04.checkpoint.parquet", "05.json", "09.crc", "05.06.compacted.json", "_staged_commits/05.x.json", "_staged_commits/notes", "01.notes", "notes/01.json"} {
		require.Contains(t, names, kept)
	}
}

const v2Protocol = `{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"],"writerFeatures":["v2Checkpoint"]}`

// TestSidecarsGoWithTheirCheckpoints: those that a checkpoint names stay, and young ones, which a checkpoint that is being written may need.
func TestSidecarsGoWithTheirCheckpoints(t *testing.T) {
	l := newAgedLog(t, 9, v2Protocol, `"delta.logRetentionDuration":"interval 4 days","delta.checkpointPolicy":"v2"`)
	for _, v := range []int64{2, 4, 6, 9} {
		l.checkpoint(t, v)
	}
	l.put(t, sidecarFolder+"old.parquet", "x", noon(7))
	l.put(t, sidecarFolder+"young.parquet", "x", noon(8))
	require.NoError(t, l.clean(l, noon(9)))
	require.Equal(t, []string{"04.checkpoint.UNIQUE", "04.json", "05.json", "06.checkpoint.UNIQUE", "06.json", "07.json", "08.json",
		"09.checkpoint.UNIQUE", "09.checkpoint.parquet", "09.json", "_last_checkpoint",
		"_sidecars/04.checkpoint.UNIQUE", "_sidecars/06.checkpoint.UNIQUE", "_sidecars/09.checkpoint.UNIQUE", "_sidecars/young.parquet"}, l.names(t))
	l.requireVersions(t, l, 4)
	require.NoError(t, l.Delete(ctx, lastCheckpointKey))
	for info, err := range l.List(ctx, logFolder+"00000000000000000009.checkpoint.", "", "/") {
		require.NoError(t, err)
		if parseLogName(info.Key).kind == uuidCheckpoint {
			require.NoError(t, l.Delete(ctx, info.Key))
		}
	}
	l.requireVersions(t, l, 4) // through the checkpoint that old readers can see
	require.NoError(t, l.clean(l, noon(10)))
	require.NotContains(t, l.names(t), "_sidecars/young.parquet")
}

// TestADamagedLogIsNotCleanedUp: what is damaged may be all that is left to mend it with.
func TestADamagedLogIsNotCleanedUp(t *testing.T) {
	for name, damage := range map[string]func(*testing.T, *agedLog){
		"a damaged checkpoint": func(t *testing.T, l *agedLog) {
			require.NoError(t, l.Delete(ctx, checkpointKey(4)))
			l.put(t, checkpointKey(4), "PAR1 no checkpoint PAR1", noon(4))
		},
		"a missing commit": func(t *testing.T, l *agedLog) { require.NoError(t, l.Delete(ctx, commitKey(5))) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newAgedLog(t, 9, plainProtocol, `"delta.logRetentionDuration":"interval 4 days"`)
			l.checkpoint(t, 4)
			s, err := NewTable(l).newest(ctx)
			require.NoError(t, err)
			damage(t, l)
			all := l.names(t)
			require.ErrorIs(t, NewTable(l).cleanUp(ctx, s, noon(9)), ErrCorrupt)
			require.Equal(t, all, l.names(t))
		})
	}
	l := newAgedLog(t, 9, v2Protocol, `"delta.logRetentionDuration":"interval 4 days","delta.checkpointPolicy":"v2"`)
	l.checkpoint(t, 4)
	require.NoError(t, store.DeletePrefix(ctx, l.memory, sidecarFolder))
	all := l.names(t)
	require.ErrorContains(t, l.clean(l, noon(9)), "sidecar of checkpoint 4")
	require.Equal(t, all, l.names(t))
}

// TestCleanUpModel compares clean-ups of logs of any shape with the plainest reading of the rules, at every day, and what can be read
// afterwards with what could be read before.
func TestCleanUpModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newest := rapid.Int64Range(1, 8).Draw(t, "newest")
		retention := rapid.IntRange(2, 8).Draw(t, "retention")
		protocol, properties := plainProtocol, fmt.Sprintf(`"delta.logRetentionDuration":"interval %d days"`, retention)
		inCommit := rapid.Bool().Draw(t, "in-commit timestamps")
		if inCommit {
			protocol, properties = featureProtocol("", `"inCommitTimestamp"`), properties+`,"delta.enableInCommitTimestamps":"true"`
		} else if rapid.Bool().Draw(t, "v2") {
			protocol, properties = v2Protocol, properties+`,"delta.checkpointPolicy":"v2"`
		}
		l := newAgedLog(t, newest, protocol, properties)
		for v := range newest + 1 { // files may be copied, and clocks be wrong
			if rapid.IntRange(0, 3).Draw(t, "moved") == 0 {
				l.times[commitKey(v)] = noon(rapid.IntRange(0, 12).Draw(t, "day"))
			}
		}
		checkpoints := rapid.SliceOfDistinct(rapid.Int64Range(0, newest), rapid.ID).Draw(t, "checkpoints")
		for _, v := range checkpoints {
			l.checkpoint(t, v)
		}
		boundary := int64(-1)
		for day := 0; day < 24; day += rapid.IntRange(2, 8).Draw(t, "days") {
			now := noon(day)
			cutoff := logDay.AddDate(0, 0, day-retention)
			at := int64(-1)                  // the newest commit that is old enough
			borrowed := make(map[int64]bool) // versions whose time depends on the one before
			var file time.Time
			for v := max(boundary, 0); v <= newest; v++ {
				if when := l.times[commitKey(v)]; when.After(file) {
					file = when
				} else {
					file = file.Add(time.Millisecond)
					borrowed[v] = !inCommit
				}
				if file.After(cutoff) || inCommit && noon(int(v)).After(cutoff) {
					break
				}
				at = v
			}
			for _, v := range checkpoints {
				if v <= at && !borrowed[v] {
					boundary = max(boundary, v)
				}
			}
			times := map[int64]time.Time{}
			if entries, err := NewTable(l).History(ctx, 0); err == nil {
				for _, e := range entries {
					times[e.Version] = e.Timestamp
				}
			}
			require.NoError(t, l.clean(l, now))
			l.requireVersions(t, l, boundary)
			table := NewTable(l)
			for v := max(boundary, 0); v <= newest; v++ {
				_, err := l.Store.Stat(ctx, commitKey(v))
				require.NoError(t, err, "commit %d", v)
				got, err := table.VersionAt(ctx, times[v])
				require.NoError(t, err)
				require.Equal(t, v, got, "time travel to %v", times[v])
			}
			for _, name := range l.names(t) {
				if version, err := strconv.ParseInt(name[:2], 10, 64); err == nil {
					require.GreaterOrEqual(t, version, boundary, name)
				}
			}
		}
	})
}

// TestEveryCrashOfACleanUp stops the process before and after each deletion; what is left reads as before or as after, and the next
// clean-up does the rest.
func TestEveryCrashOfACleanUp(t *testing.T) {
	for _, protocol := range []string{plainProtocol, v2Protocol} {
		make := func() *agedLog {
			l := newAgedLog(t, 7, protocol, `"delta.logRetentionDuration":"interval 2 days","delta.checkpointPolicy":"v2"`)
			for _, v := range []int64{1, 3, 7} {
				l.checkpoint(t, v)
			}
			l.put(t, checksumKey(1), "{}", noon(1))
			return l
		}
		whole := make()
		st := faultstore.New(whole)
		require.NoError(t, whole.clean(st, noon(6)))
		want := whole.names(t)
		operations := strings.Count(st.Log(faultstore.Durable...), "\n")
		require.Greater(t, operations, 4)
		for n := 1; n <= operations; n++ {
			for _, after := range []bool{false, true} {
				l := make()
				st := faultstore.New(l)
				if after {
					st.CrashAfter(n)
				} else {
					st.CrashBefore(n)
				}
				require.ErrorIs(t, l.clean(st, noon(6)), faultstore.ErrCrashed)
				requireBeforeOrAfter(t, l, 3)
				require.NoError(t, l.clean(l, noon(6)))
				require.Equal(t, want, l.names(t), "%d %v", n, after)
			}
			for _, fault := range []error{errors.New("the disk is broken"), store.ErrAmbiguous} {
				l := make()
				st := faultstore.New(l)
				st.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: faultstore.Fail(fault)})
				require.ErrorIs(t, l.clean(st, noon(6)), fault)
				requireBeforeOrAfter(t, l, 3)
				st.ClearRules()
				require.NoError(t, l.clean(l, noon(6)))
				require.Equal(t, want, l.names(t))
			}
		}
	}
}

// requireBeforeOrAfter reads every version: those from the boundary on are what they were, the others that or gone.
func requireBeforeOrAfter(t *testing.T, l *agedLog, boundary int64) {
	newest, err := NewTable(l).newest(ctx)
	require.NoError(t, err)
	require.Equal(t, int64(len(l.files))-1, newest.Version())
	for v, files := range l.files {
		s, _, err := loadVersion(ctx, l, v)
		if v < boundary && errors.Is(err, ErrNoVersion) {
			continue
		}
		require.NoError(t, err, "version %d", v)
		require.Equal(t, files, pathsOf(s), "version %d", v)
	}
}
