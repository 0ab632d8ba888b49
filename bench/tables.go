package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
)

// The tables that are measured have a log and no data: a file is an action, with statistics as a writer leaves them.

var schema = batch.NewSchema(
	batch.Field{Name: "id", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	batch.Field{Name: "day", Type: batch.Type{Kind: batch.Date}, Nullable: true},
	batch.Field{Name: "a_name_of_some_length", Type: batch.Type{Kind: batch.String}, Nullable: true},
)

// rowsOfFile is how many rows each file has, ids that follow one another.
const rowsOfFile = 100

// fileAt is the ith file of a table.
func fileAt(i int) delta.AddFile {
	return delta.AddFile{
		Path: fmt.Sprintf("part-00000-%032x-c000.snappy.parquet", uint64(i)*0x9E3779B97F4A7C15), Size: 100_000, ModTime: time.UnixMilli(1_700_000_000_000), NumRecords: rowsOfFile,
		Stats: fmt.Sprintf(`{"numRecords":%d,"minValues":{"id":%d,"day":"2024-01-01","a_name_of_some_length":"%032x"},"maxValues":{"id":%d,"day":"2024-01-02","a_name_of_some_length":"%032x"},"nullCount":{"id":0,"day":0,"a_name_of_some_length":0}}`,
			rowsOfFile, i*rowsOfFile, i, (i+1)*rowsOfFile-1, i+99),
	}
}

// openStore opens a folder of its own below dir, made when it is not there.
func openStore(dir, name string) (*store.Local, error) {
	st, err := store.NewLocal(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	return st, st.MakeRoot(context.Background())
}

// createTable makes a table without files, which is version 0.
func createTable(ctx context.Context, st store.Store, config map[string]string) (*delta.Table, error) {
	meta, err := delta.NewMetadata(schema, nil, config)
	if err != nil {
		return nil, err
	}
	table := delta.NewTable(st)
	x := table.Begin(nil)
	x.SetMetadata(meta)
	_, err = x.Commit(ctx, delta.Operation{Name: "CREATE TABLE"})
	return table, err
}

// appendFile commits one file, as a batch of a stream does.
func appendFile(ctx context.Context, table *delta.Table, i int) error {
	s, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	x := table.Begin(s)
	x.Add(fileAt(i))
	x.SetTxn("7a9d3c1e-5c1b-4a59-9e5e-0c6b1f6b8a11", int64(i))
	_, err = x.Commit(ctx, delta.Operation{Name: "STREAMING UPDATE"})
	return err
}

// filesOfCommit is how many files a commit of makeWide has, at most.
const filesOfCommit = 100_000

// makeWide makes a table of n files in few commits, and its checkpoint. Each later version is due for a checkpoint.
func makeWide(dir, name string, n int) error {
	ctx := context.Background()
	st, err := openStore(dir, name)
	if err != nil {
		return err
	}
	table, err := createTable(ctx, st, map[string]string{"delta.checkpointInterval": "1"})
	if err != nil {
		return err
	}
	for first := 0; first < n; first += filesOfCommit {
		s, err := table.Snapshot(ctx)
		if err != nil {
			return err
		}
		x := table.Begin(s)
		for i := first; i < min(first+filesOfCommit, n); i++ {
			x.Add(fileAt(i))
		}
		if _, err := x.Commit(ctx, delta.Operation{Name: "WRITE"}); err != nil {
			return err
		}
	}
	return checkpoint(ctx, table)
}

// checkpoint writes a checkpoint, as the server does after a commit that makes it due.
func checkpoint(ctx context.Context, table *delta.Table) error {
	wrote, err := table.Maintain(ctx)
	if err == nil && !wrote {
		err = fmt.Errorf("no checkpoint of %s was due", table.Store().URI())
	}
	return err
}

// makeLong makes a table of n commits of one file each, without a checkpoint. The commits are made in memory and copied: they need not be
// durable one by one.
func makeLong(dir, name string, n int) error {
	ctx := context.Background()
	memory := store.NewMemory("mem://" + name)
	if err := memory.MakeRoot(ctx); err != nil {
		return err
	}
	table, err := createTable(ctx, memory, nil)
	if err != nil {
		return err
	}
	for i := range n {
		if err := appendFile(ctx, table, i); err != nil {
			return err
		}
	}
	for info, err := range memory.List(ctx, "", "", "") {
		if err != nil {
			return err
		}
		data, err := memory.Get(ctx, info.Key)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, name, filepath.FromSlash(info.Key))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
