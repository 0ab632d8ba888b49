package delta

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// longLog writes a table of n one-file commits behind its creation.
func longLog(b *testing.B, n int) *store.Local {
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	require.NoError(b, st.MakeRoot(ctx))
	createTable(b, st, testSchema, nil, nil)
	s, err := NewTable(st).Snapshot(ctx)
	require.NoError(b, err)
	for v := 1; v <= n; v++ {
		x := NewTable(st).Begin(s)
		add := addOf(fmt.Sprintf("part-00000-%032x-c000.snappy.parquet", v))
		add.Stats = `{"numRecords":100,"minValues":{"id":1,"day":"2024-01-01"},"maxValues":{"id":100,"day":"2024-01-02"},"nullCount":{"id":0,"day":0}}`
		x.Add(add)
		x.SetTxn("7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11", int64(v))
		text, err := x.encode(attempt{op: Operation{Name: "STREAMING UPDATE"}, id: "id", version: int64(v), nowMs: time.Now().UnixMilli()})
		require.NoError(b, err)
		require.NoError(b, st.PutIfAbsent(ctx, commitKey(int64(v)), text))
	}
	return st
}

// BenchmarkOpen10000Commits opens a table without any checkpoint.
func BenchmarkOpen10000Commits(b *testing.B) {
	st := longLog(b, 10_000)
	for b.Loop() {
		s, err := NewTable(st).Snapshot(ctx)
		require.NoError(b, err)
		require.Equal(b, 10_000, s.NumFiles())
	}
}

// BenchmarkRefresh is what a reader pays for one commit more, behind 100 and behind 10,000 others.
func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			writer, reader := NewTable(longLog(b, n)), (*Table)(nil)
			reader = NewTable(writer.Store())
			_, err := reader.Snapshot(ctx)
			require.NoError(b, err)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				appendFiles(b, writer, fmt.Sprintf("more-%d", i))
				b.StartTimer()
				_, err := reader.Snapshot(ctx)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCommit is one commit of one file, behind 100 and behind 10,000 others, in memory.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			st := store.NewMemory("mem://t")
			require.NoError(b, st.MakeRoot(ctx))
			table := createTable(b, st, testSchema, nil, nil)
			for i := range n {
				appendFiles(b, table, fmt.Sprintf("first-%d", i))
			}
			for i := 0; b.Loop(); i++ {
				appendFiles(b, table, fmt.Sprintf("more-%d", i))
			}
		})
	}
}

// millionFiles is a table of a million files with statistics, in memory but for its log.
func millionFiles(b *testing.B) (*store.Local, *Snapshot) {
	st, err := store.NewLocal(b.TempDir())
	require.NoError(b, err)
	require.NoError(b, st.MakeRoot(ctx))
	table := createTable(b, st, testSchema, nil, nil)
	s, err := table.Snapshot(ctx)
	require.NoError(b, err)
	x := table.Begin(s)
	for i := range 1_000_000 {
		add := addOf(fmt.Sprintf("part-00000-%032x-c000.snappy.parquet", uint64(i)*0x9E3779B97F4A7C15))
		add.Stats = fmt.Sprintf(`{"numRecords":100,"minValues":{"id":%d,"day":"2024-01-01","a_name_of_some_length":"%032x"},"maxValues":{"id":%d,"day":"2024-01-02","a_name_of_some_length":"%032x"},"nullCount":{"id":0,"day":0,"a_name_of_some_length":0}}`,
			i*100, i, i*100+99, i+99)
		x.Add(add)
	}
	_, err = x.Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(b, err)
	s, err = table.Snapshot(ctx)
	require.NoError(b, err)
	return st, s
}

// BenchmarkOpenMillionFiles opens a table of a million files from its checkpoint and reports the memory that it keeps.
func BenchmarkOpenMillionFiles(b *testing.B) {
	st, s := millionFiles(b)
	require.NoError(b, writeCheckpoint(ctx, st, s, time.Now()))
	s = nil
	for b.Loop() {
		b.StopTimer()
		before := heapInUse()
		b.StartTimer()
		s, err := NewTable(st).Snapshot(ctx)
		b.StopTimer()
		require.NoError(b, err)
		require.Equal(b, 1_000_000, s.NumFiles())
		b.ReportMetric(float64(heapInUse()-before)/1e6, "MB-kept")
		runtime.KeepAlive(s)
		b.StartTimer()
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkCheckpointMillionFiles writes a checkpoint of a million files and reports all memory that it allocates, which bounds what it adds.
func BenchmarkCheckpointMillionFiles(b *testing.B) {
	st, s := millionFiles(b)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, writeCheckpoint(ctx, st, s, time.Now()))
	}
}
