package delta

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/store/faultstore"
)

// TestCompactionsSaveCommits: of the commits that a compaction holds, none is read.
func TestCompactionsSaveCommits(t *testing.T) {
	memory := memoryStore(t)
	table := createTable(t, memory, testSchema, nil, nil)
	var adds []byte
	for v := 1; v <= 9; v++ {
		appendFiles(t, table, fmt.Sprint(v))
		if 2 <= v && v <= 6 {
			adds = appendAction(adds, "add", appendAdd(nil, addOf(fmt.Sprint(v)), nil, true))
		}
	}
	want, err := table.Snapshot(ctx)
	require.NoError(t, err)
	require.NoError(t, memory.PutIfAbsent(ctx, versionRange{2, 6}.key(), adds))
	require.NoError(t, memory.PutIfAbsent(ctx, versionRange{2, 4}.key(), []byte("a shorter one is not read")))
	require.NoError(t, memory.PutIfAbsent(ctx, versionRange{1, 12}.key(), []byte("one beyond the newest version is not read")))
	require.NoError(t, memory.PutIfAbsent(ctx, versionRange{3, 8}.key(), []byte("one that begins inside another is not read")))

	st := faultstore.New(memory)
	got, err := NewTable(st).Snapshot(ctx)
	require.NoError(t, err)
	require.ElementsMatch(t, pathsOf(want), pathsOf(got))
	require.Equal(t, want.Version(), got.Version())
	log := st.Log(faultstore.Get)
	require.Contains(t, log, "00000000000000000002.00000000000000000006.compacted.json ok")
	for v := range int64(10) {
		if 2 <= v && v <= 6 {
			require.NotContains(t, log, commitKey(v))
		} else {
			require.Contains(t, log, commitKey(v))
		}
	}

	for _, text := range []string{"{\"add\":", string(adds) + string(adds), ""} {
		overwrite(t, memory, versionRange{2, 6}.key(), text)
		got, err := NewTable(memory).Snapshot(ctx)
		require.NoError(t, err, "what a compaction cannot tell is read from the commits")
		require.ElementsMatch(t, pathsOf(want), pathsOf(got))
	}
	overwrite(t, memory, versionRange{2, 6}.key(), "x")
	down := errors.New("the network is down")
	st.Add(faultstore.Rule{Match: faultstore.On(faultstore.Get, versionRange{2, 6}.key()), Before: faultstore.Fail(down)})
	_, err = NewTable(st).Snapshot(ctx)
	require.ErrorIs(t, err, down, "a store that fails is no reason to look elsewhere")
}

func TestStepsOfAReplay(t *testing.T) {
	var l logListing
	for _, r := range []versionRange{{0, 3}, {0, 5}, {2, 9}, {6, 7}, {6, 20}, {8, 9}} {
		name := parseLogName(r.key())
		require.Equal(t, compactionFile, name.kind)
		l.compactions = append(l.compactions, name)
	}
	require.Equal(t, []versionRange{{0, 5}, {6, 7}, {8, 9}, {10, 10}}, l.steps(-1, 10))
	require.Equal(t, []versionRange{{0, 5}, {6, 7}, {8, 8}, {9, 9}}, l.steps(-1, 9), "the last version is read from its own commit")
	require.Equal(t, []versionRange{{1, 1}, {2, 9}, {10, 10}}, l.steps(0, 10))
	require.Equal(t, []versionRange{{6, 20}, {21, 21}}, l.steps(5, 21))
	require.Empty(t, l.steps(5, 5))
	for _, name := range []string{"00000000000000000005.00000000000000000005.compacted.json", "00000000000000000005.00000000000000000004.compacted.json",
		"00000000000000000005.9.compacted.json", "00000000000000000005.00000000000000000006.compacted.parquet", "+0000000000000000005.json", "-0000000000000000000.json"} {
		require.Equal(t, otherFile, parseLogName(logFolder+name).kind, name)
	}
}
