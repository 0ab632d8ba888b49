package delta

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lakesql/store"
)

// TestConflicts runs the scripts of testdata/conflicts: transactions begin on one version, and commit one after another.
//
//	table [partitioned] [level=WriteSerializable]   a new table with the files a1, a2 (and b1 in another partition)
//	begin NAME [whole] [add=FILE] [remove=FILE] [txn=APP] [meta] [foreign-protocol] ...
//	commit NAME
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
		return strings.Join(pathsOf(snapshot), " ")
	default:
		t.Fatalf("unknown step %q", verb)
	}
	return ""
}

func (s *conflictScript) newTable(t *testing.T, args []string) {
	st := store.NewMemory("mem://t")
	require.NoError(t, st.MakeRoot(ctx))
	config, partitionBy := map[string]string{}, []string(nil)
	for _, a := range args {
		if level, ok := strings.CutPrefix(a, "level="); ok {
			config["delta.isolationLevel"] = level
		}
		if a == "partitioned" {
			partitionBy = []string{"day"}
		}
	}
	s.table, s.open = createTable(t, st, testSchema, partitionBy, config), map[string]*Transaction{}
	s.begin(t, "fill", []string{"add=a1", "add=a2", "add=b1"})
	_, err := s.open["fill"].Commit(ctx, Operation{Name: "WRITE"})
	require.NoError(t, err)
}

// fileInPartition puts files that begin with a into one partition, with b into another.
func (s *conflictScript) fileInPartition(path string) AddFile {
	add := addOf(path)
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
			found := false
			for f := range snapshot.Files() {
				if f.Path == value {
					x.Remove(f)
					found = true
				}
			}
			require.True(t, found, "no file %s", value)
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
