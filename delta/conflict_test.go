package delta

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lakesql/delta/dv"
)

// TestConflicts runs the scripts of testdata/conflicts: transactions begin on one version, and commit one after another.
//
//	table [partitioned] [level=WriteSerializable]   a new table with the files a1, a2 (and b1 in another partition), of 10 rows each
//	begin NAME [whole] [add=FILE] [remove=FILE] [delete=FILE:ROW,ROW] [recheck[=FILE]] [read=FILE] [read-rows=FILE:ROW] [read-day=DAY] [txn=APP]
//	    [domain=NAME] [meta] [protocol] [set=PROPERTY:VALUE] [identity] [rearrange]
//	commit NAME
//	files
//
// recheck says that the statement depends on rows that satisfy a predicate; FILE is one that has such a row.
func TestConflicts(t *testing.T) {
	datadriven.Walk(t, "testdata/conflicts", func(t *testing.T, path string) {
		var s conflictScript
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			require.Equal(t, "run", d.Cmd)
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				words := strings.Fields(line)
				if len(words) == 0 {
					continue
				}
				if result := s.step(t, words[0], words[1:]); result != "" {
					fmt.Fprintf(&out, "%s: %s\n", strings.Join(words, " "), result)
				}
			}
			return out.String()
		})
	})
}

type conflictScript struct {
	table *Table
	open  map[string]*Transaction
}

func (s *conflictScript) step(t *testing.T, verb string, args []string) string {
	switch verb {
	case "table":
		s.newTable(t, args)
	case "begin":
		s.begin(t, args[0], args[1:])
	case "commit":
		done, err := s.open[args[0]].Commit(ctx, Operation{Name: args[0]})
		if err == nil {
			return fmt.Sprintf("version %d", done.Version)
		}
		kind := "other error"
		switch {
		case errors.Is(err, ErrConflict):
			kind = "conflict"
		case errors.Is(err, ErrConcurrentTxn):
			kind = "concurrent txn"
		}
		return kind + ": " + err.Error()
	case "files":
		snapshot, err := s.table.Snapshot(ctx)
		require.NoError(t, err)
		return strings.Join(liveRows(t, s.table, snapshot), " ")
	default:
		t.Fatalf("unknown step %q", verb)
	}
	return ""
}

// liveRows are the files of a snapshot, each with the rows that it has lost.
func liveRows(t *testing.T, table *Table, s *Snapshot) []string {
	out := pathsOf(s)
	i := 0
	for f := range s.Files() {
		rows, err := table.DeletedRows(ctx, f)
		require.NoError(t, err)
		if rows != nil {
			out[i] += fmt.Sprint("-", slices.Collect(rows.All()))
		}
		i++
	}
	requireRows(t, s)
	return out
}

func (s *conflictScript) newTable(t *testing.T, args []string) {
	config, partitionBy := map[string]string{"delta.enableDeletionVectors": "true"}, []string(nil)
	for _, a := range args {
		if level, ok := strings.CutPrefix(a, "level="); ok {
			config["delta.isolationLevel"] = level
		}
		if a == "partitioned" {
			partitionBy = []string{"day"}
		}
	}
	s.table, s.open = featureTable(t, []string{"deletionVectors", "domainMetadata"}, partitionBy, config), map[string]*Transaction{}
	s.begin(t, "fill", []string{"add=a1", "add=a2", "add=b1"})
	_, err := s.open["fill"].Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
}

// featureTable is a table whose protocol lists features.
func featureTable(t testing.TB, features, partitionBy []string, config map[string]string) *Table {
	st := memoryStore(t)
	meta, err := NewMetadata(testSchema, partitionBy, nil)
	require.NoError(t, err)
	meta.Configuration = config
	protocol := Protocol{MinReader: 3, MinWriter: 7, WriterFeatures: append([]string{"appendOnly", "invariants"}, features...)}
	if slices.Contains(features, "deletionVectors") {
		protocol.ReaderFeatures = []string{"deletionVectors"}
	}
	text := appendAction(nil, "commitInfo", []byte(`{"operation":"CREATE TABLE","inCommitTimestamp":1700000000000}`))
	text = appendAction(text, "protocol", mustJSON(protocol.json()))
	require.NoError(t, st.PutIfAbsent(ctx, commitKey(0), appendAction(text, "metaData", mustJSON(meta.json()))))
	return NewTable(st)
}

// fileInPartition puts files that begin with a into one partition, with b into another.
func (s *conflictScript) fileInPartition(path string) AddFile {
	add := addOf(path)
	add.NumRecords, add.Stats = 10, `{"numRecords":10}`
	add.PartitionValues = map[string]string{"day": map[byte]string{'a': "2024-01-01", 'b': "2024-01-02"}[path[0]]}
	return add
}

func (s *conflictScript) begin(t *testing.T, name string, args []string) {
	snapshot, err := s.table.Snapshot(ctx)
	require.NoError(t, err)
	x := s.table.Begin(snapshot)
	s.open[name] = x
	for _, a := range args {
		what, value, _ := strings.Cut(a, "=")
		switch what {
		case "whole":
			x.ReadWholeTable()
		case "add":
			x.Add(s.fileInPartition(value))
		case "remove":
			x.Remove(fileOf(t, snapshot, value))
		case "delete":
			f, rows := deletedRowsOf(t, snapshot, value)
			require.NoError(t, x.DeleteRows(f, rows))
		case "recheck":
			x.Recheck(func(_ context.Context, added []File) (bool, error) {
				return slices.ContainsFunc(added, func(f File) bool { return f.Path == value }), nil
			})
		case "read":
			x.ReadFiles(fileOf(t, snapshot, value))
		case "read-rows":
			x.ReadRows(deletedRowsOf(t, snapshot, value))
		case "read-day":
			x.ReadPartitions(func(values map[string]string) bool { return values["day"] == value })
		case "rearrange":
			x.Rearrange()
		case "domain":
			x.SetDomain(value, "by "+name)
		case "set":
			m := *snapshot.Metadata()
			key, v, _ := strings.Cut(value, ":")
			m.Configuration = maps.Clone(m.Configuration)
			m.Configuration[key] = v
			x.SetMetadata(&m)
		case "txn":
			x.SetTxn(value, 1)
		case "meta":
			m := *snapshot.Metadata()
			m.Description = "changed by " + name
			x.SetMetadata(&m)
		case "protocol":
			m := *snapshot.Metadata()
			m.SchemaString = strings.Replace(m.SchemaString, `"date"`, `"timestamp_ntz"`, 1)
			x.SetMetadata(&m)
		default:
			t.Fatalf("unknown word %q", a)
		}
	}
}

func fileOf(t *testing.T, s *Snapshot, path string) File {
	for f := range s.Files() {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("no file %s", path)
	return File{}
}

// deletedRowsOf reads FILE:ROW,ROW.
func deletedRowsOf(t *testing.T, s *Snapshot, text string) (File, *dv.Bitmap) {
	path, list, _ := strings.Cut(text, ":")
	rows := dv.Of()
	for _, word := range strings.Split(list, ",") {
		row, err := strconv.ParseInt(word, 10, 64)
		require.NoError(t, err)
		rows.Add(row)
	}
	return fileOf(t, s, path), rows
}
