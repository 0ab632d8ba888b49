package delta

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta/dv"
	"lakesql/integration/shared"
	"lakesql/store"
)

// TestDeletedRowsOfOtherWriters reads every deletion vector of every version, and counts the rows that are left.
func TestDeletedRowsOfOtherWriters(t *testing.T) {
	dir, tables := shared.Tables(t)
	vectors := 0
	for name, want := range tables {
		if want.Hist == "" || name == "vacuumed_old_versions" {
			continue
		}
		table := localTable(t, filepath.Join(dir, name))
		for _, fact := range strings.Fields(want.Hist) {
			versionText, rowsText, ok := strings.Cut(fact, ":")
			if !ok { // of versions that have lost files
				continue
			}
			version, err := strconv.ParseInt(versionText, 10, 64)
			require.NoError(t, err)
			s, _, err := loadVersion(ctx, table.st, version)
			require.NoError(t, err)
			live, known := int64(0), true
			for f := range s.Files() {
				deleted, err := table.DeletedRows(ctx, f)
				require.NoError(t, err, "%s version %d", name, version)
				if f.DeletionVector() != nil {
					vectors++
				}
				n, ok := f.NumRecords()
				live, known = live+n-deleted.Cardinality(), known && ok
				if ok {
					require.Less(t, deleted.Max(), n)
					left, _ := f.NumLiveRecords()
					require.Equal(t, n-deleted.Cardinality(), left)
				}
			}
			if known {
				require.Equal(t, rowsText, strconv.FormatInt(live, 10), "%s version %d", name, version)
			}
		}
		for _, fact := range want.DVRows {
			path, rows, _ := strings.Cut(strings.TrimPrefix(fact, "DV rows of "), " : ")
			s, err := table.newest(ctx)
			require.NoError(t, err)
			require.Equal(t, rows, deletedIn(t, table, s, path))
		}
	}
	require.Greater(t, vectors, 50)
}

// deletedIn is the list of rows that are deleted in a file.
func deletedIn(t *testing.T, table *Table, s *Snapshot, path string) string {
	for f := range s.Files() {
		if f.Path == path {
			rows, err := table.DeletedRows(ctx, f)
			require.NoError(t, err)
			return fmt.Sprint(slices.Collect(rows.All()))
		}
	}
	return "no such file"
}

func TestDamagedVector(t *testing.T) {
	st := memoryStore(t)
	table := createTable(t, st, testSchema, nil, nil)
	add := `{"add":{"path":"a","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":9}","deletionVector":{"storageType":"%s","pathOrInlineDv":"%s","offset":1,"sizeInBytes":34,"cardinality":1}}}`
	read := func(version int64, kind, path string) error {
		require.NoError(t, st.PutIfAbsent(ctx, commitKey(version), fmt.Appendf(nil, add, kind, path)))
		s, err := table.newest(ctx)
		require.NoError(t, err)
		for f := range s.Files() {
			if d := f.DeletionVector(); d.PathOrInline == path {
				_, err := table.DeletedRows(ctx, f)
				return err
			}
		}
		return nil
	}
	err := read(1, "u", "short")
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "deleted rows of a of mem://table")
	err = read(2, "u", "^-aqEH.-t@S}K{vb[*k^")
	require.ErrorIs(t, err, store.ErrNotFound)
	require.NotErrorIs(t, err, ErrCorrupt)
	err = read(3, "p", "mem://elsewhere/x.bin")
	require.ErrorContains(t, err, "outside of its table")
	err = read(4, "p", "mem://table/x%20y.bin")
	require.ErrorContains(t, err, "mem://table/x%20y.bin")
}

func TestVectorCacheIsBounded(t *testing.T) {
	var c vectorCache
	for i := range 100 {
		c.put(strconv.Itoa(i), dv.Of(int64(i)), maxCachedVectorBytes/10)
		require.NotNil(t, c.get(strconv.Itoa(i)))
	}
	require.LessOrEqual(t, c.bytes, int64(maxCachedVectorBytes))
	require.Len(t, c.rows, 10)
	require.Nil(t, c.get("0"))
	c.put("large", dv.Of(1), maxCachedVectorBytes+1)
	require.Nil(t, c.get("large"))
}
