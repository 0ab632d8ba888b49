package delta

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
	"lakesql/store/faultstore"
)

// TestEveryFaultOfACheckpoint fails each durable operation of a checkpoint in every way; the table reads as before, and the next call makes
// good what is missing.
func TestEveryFaultOfACheckpoint(t *testing.T) {
	faults := map[string]func(st *faultstore.Store, n int){
		"crash before": func(st *faultstore.Store, n int) { st.CrashBefore(n) },
		"crash after":  func(st *faultstore.Store, n int) { st.CrashAfter(n) },
		"error": func(st *faultstore.Store, n int) {
			st.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: faultstore.Fail(errors.New("the disk is full"))})
		},
		"not done, nobody knows": func(st *faultstore.Store, n int) {
			st.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, Before: faultstore.Lose()})
		},
		"done, nobody knows": func(st *faultstore.Store, n int) {
			st.Add(faultstore.Rule{Match: faultstore.Is(faultstore.Durable...), Nth: n, After: faultstore.Obscure()})
		},
	}
	for kind, protocol := range map[string]string{"classic": plainProtocol, "v2": v2Protocol} {
		aged := func() *agedLog {
			return newAgedLog(t, 6, protocol, fmt.Sprintf(`"delta.checkpointInterval":"3","delta.checkpointPolicy":"%s"`, kind))
		}
		st := faultstore.New(aged().memory)
		wrote, err := NewTable(st).Maintain(ctx)
		require.NoError(t, err)
		require.True(t, wrote)
		operations := strings.Count(st.Log(faultstore.Durable...), "\n")
		require.Equal(t, map[string]int{"classic": 3, "v2": 4}[kind], operations)
		for name, fault := range faults {
			for n := 1; n <= operations; n++ {
				t.Run(fmt.Sprintf("%s %s %d", kind, name, n), func(t *testing.T) {
					l := aged()
					st := faultstore.New(l.memory)
					fault(st, n)
					_, err := NewTable(st).Maintain(ctx)
					require.Error(t, err)
					l.requireVersions(t, l.memory, 0)
					s, err := NewTable(l.memory).newest(ctx)
					require.NoError(t, err)
					require.Equal(t, l.files[6], pathsOf(s))

					_, err = NewTable(l.memory).Maintain(ctx)
					require.NoError(t, err)
					for v := range int64(7) {
						require.NoError(t, l.memory.Delete(ctx, commitKey(v)))
					}
					s, err = NewTable(l.memory).newest(ctx)
					require.NoError(t, err)
					require.Equal(t, l.files[6], pathsOf(s))
				})
			}
		}
	}
}

// TestMaintain: a checkpoint when it is due, else a checksum now and then.
func TestMaintain(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, map[string]string{"delta.checkpointInterval": "3"})
	names := func() (out []string) {
		for key, err := range store.ListNames(ctx, st, logFolder, "") {
			require.NoError(t, err)
			if parseLogName(key).kind != commitFile {
				out = append(out, strings.ReplaceAll(logFileName(key), "0000000000000000000", ""))
			}
		}
		return out
	}
	maintain := func() bool {
		wrote, err := table.Maintain(ctx)
		require.NoError(t, err)
		return wrote
	}
	require.False(t, maintain())
	require.Equal(t, []string{"0.crc"}, names())
	appendFiles(t, table, "a")
	table.checksummed = time.Now().Add(time.Hour) // just now, however busy the machine is
	require.False(t, maintain())
	require.Equal(t, []string{"0.crc"}, names(), "the last checksum is too young")
	table.checksummed = time.Time{}
	require.False(t, maintain())
	appendFiles(t, table, "b")
	appendFiles(t, table, "c")
	table.checksummed = time.Now()
	require.True(t, maintain())
	require.Equal(t, []string{"0.crc", "1.crc", "3.checkpoint.parquet", "3.crc", "_last_checkpoint"}, names())
	require.False(t, maintain())

	table.maintenance.Lock()
	wrote, err := table.Maintain(ctx)
	table.maintenance.Unlock()
	require.NoError(t, err)
	require.False(t, wrote, "another call is at work")

	for range 3 {
		appendFiles(t, table, fmt.Sprint("d", time.Now()))
	}
	require.NoError(t, st.PutIfAbsent(ctx, checksumKey(6), []byte(`{"tableSizeBytes":600,"numFiles":7}`)))
	_, err = table.Maintain(ctx)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "00000000000000000006.crc of mem://table says 7 files of 600 bytes, and the log comes to 6 of 600")
	require.NotContains(t, names(), "6.checkpoint.parquet")
}

// TestCheckpointOfAnother: a checkpoint that another process wrote is not written again, whatever _last_checkpoint says.
func TestCheckpointOfAnother(t *testing.T) {
	for name, hint := range map[string]string{"right": "", "missing": "-", "damaged": `{"version":`, "of before": `{"version":-3}`, "of a version to come": `{"version":70}`} {
		t.Run(name, func(t *testing.T) {
			st := memoryStore(t)
			table := createTable(t, st, testSchema, nil, map[string]string{"delta.checkpointInterval": "3"})
			for _, file := range []string{"a", "b", "c"} {
				appendFiles(t, table, file)
			}
			wrote, err := NewTable(st).Maintain(ctx)
			require.NoError(t, err)
			require.True(t, wrote)
			if hint != "" {
				require.NoError(t, st.Delete(ctx, lastCheckpointKey))
			}
			if hint != "" && hint != "-" {
				require.NoError(t, st.PutIfAbsent(ctx, lastCheckpointKey, []byte(hint)))
			}
			wrote, err = table.Maintain(ctx)
			require.NoError(t, err)
			require.False(t, wrote)
			s, err := table.Snapshot(ctx)
			require.NoError(t, err)
			require.EqualValues(t, 3, s.checkpoint)
		})
	}
}
