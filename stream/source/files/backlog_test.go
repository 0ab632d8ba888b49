package files

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/files"
	"lakesql/stream/source"
)

// TestABacklogIsKept: while files wait, the folder is not listed for each range; what happened to them meanwhile is found when a range takes them, and what is new at the next look.
func TestABacklogIsKept(t *testing.T) {
	f := newFolder(t).with("schema", "id INT").with("maxFilesPerTrigger", "1")
	now := time.Now()
	f.change = func(e *source.Env) { e.Now = func() time.Time { return now } }
	for i := range 6 {
		f.put(t, fmt.Sprintf("f%d.csv", i), fmt.Sprintf("id\n%d\n", i))
		f.touch(t, fmt.Sprintf("f%d.csv", i), now.Add(time.Duration(i-100)*time.Hour))
	}
	src := f.Open(t)
	defer src.Close()
	settled(t, src, 6)
	at := f.next(t, src, source.None)
	require.Equal(t, []string{"0"}, f.commit(t, src, 0, source.None, at))

	f.put(t, "older.csv", "id\n100\n")
	f.touch(t, "older.csv", now.Add(-1000*time.Hour))
	require.NoError(t, os.Remove(filepath.Join(f.landing, "f1.csv")))
	end := f.next(t, src, at)
	require.Equal(t, []string{"2"}, f.commit(t, src, 1, at, end), "one that is gone is passed over, and there is no look for one that is new")
	require.Equal(t, source.Backlog{Files: 3, Bytes: 15}, src.Backlog())

	f.put(t, "f3.csv", "id\n3\n33\n")
	var rows []string
	for batch := int64(2); len(rows) < 5; batch++ {
		now = now.Add(listingFresh + time.Second)
		at, end = end, f.next(t, src, end)
		rows = append(rows, f.commit(t, src, batch, at, end)...)
	}
	slices.Sort(rows)
	require.Equal(t, []string{"100", "3", "33", "4", "5"}, rows)
	require.True(t, src.Backlog().Empty())
}

// TestFoldersThatAreNotThereAreNoGoneFiles: when the whole folder is away, files that wait in the backlog are not passed over.
func TestFoldersThatAreNotThereAreNoGoneFiles(t *testing.T) {
	f := newFolder(t).with("schema", "id INT").with("maxFilesPerTrigger", "1")
	for i := range 3 {
		f.put(t, fmt.Sprintf("f%d.csv", i), "id\n1\n")
	}
	src := f.Open(t)
	defer src.Close()
	settled(t, src, 3)
	at := f.next(t, src, source.None)
	f.commit(t, src, 0, source.None, at)
	away := f.landing + ".away"
	require.NoError(t, os.Rename(f.landing, away))
	_, _, err := src.Latest(t.Context(), at, source.Limit{})
	require.ErrorContains(t, err, "is not there, and 1 files of it were read")
}

// TestNothingIsForgottenOrTakenTwice does what people do to a folder, in any order, while ranges of a few files are taken: each file that stays is in one range, with what it
// then holds, and none is in two.
func TestNothingIsForgottenOrTakenTwice(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			f := newFolder(t).with("schema", "id INT").with("maxFilesPerTrigger", "3").with("latestFirst", fmt.Sprint(seed%3 == 0))
			now := time.Now()
			f.change = func(e *source.Env) { e.Now = func() time.Time { return now } }
			m := &folderModel{folder: f, waiting: map[string]string{}, at: source.None}
			m.src = f.Open(t)
			defer func() { require.NoError(t, m.src.Close()) }()
			for range 60 {
				switch r.IntN(8) {
				case 0, 1, 2:
					for range r.IntN(5) {
						m.add(t, r)
					}
				case 3:
					m.change(t, r)
				case 4:
					m.remove(t, r)
				case 5:
					now = now.Add(time.Duration(r.IntN(30)) * time.Second)
				case 6:
					require.NoError(t, m.src.Close())
					m.src = f.Open(t)
				default:
					m.batch(t)
				}
			}
			require.Eventually(t, func() bool {
				now = now.Add(time.Minute)
				m.batch(t)
				return len(m.waiting) == 0
			}, patience, time.Millisecond)
			now = now.Add(time.Minute)
			m.batch(t)
			require.True(t, m.src.Backlog().Empty())
		})
	}
}

// folderModel is a folder as people see it, and a stream over it.
type folderModel struct {
	*folder
	src     source.Source
	waiting map[string]string // the row of each file that no range has
	at      source.Offset
	n       int
}

func (m *folderModel) add(t *testing.T, r *rand.Rand) {
	name := fmt.Sprintf("f%d.csv", m.n)
	m.n++
	m.waiting[name] = fmt.Sprint(m.n)
	m.put(t, name, fmt.Sprintf("id\n%d\n", m.n))
	m.touch(t, name, time.Now().Add(-time.Duration(r.IntN(1000))*time.Hour))
}

// one is a file that no range has; "" where there is none.
func (m *folderModel) one(r *rand.Rand) string {
	names := slices.Sorted(maps.Keys(m.waiting))
	if len(names) == 0 {
		return ""
	}
	return names[r.IntN(len(names))]
}

func (m *folderModel) change(t *testing.T, r *rand.Rand) {
	if name := m.one(r); name != "" {
		m.n++
		m.waiting[name] = fmt.Sprint(1000 + m.n)
		m.put(t, name, fmt.Sprintf("id\n%d\n", 1000+m.n))
	}
}

func (m *folderModel) remove(t *testing.T, r *rand.Rand) {
	if name := m.one(r); name != "" {
		delete(m.waiting, name)
		require.NoError(t, os.Remove(filepath.Join(m.landing, name)))
	}
}

// batch takes a range, if there is one, and wants its rows to be those of files that waited.
func (m *folderModel) batch(t *testing.T) {
	end, _, err := m.src.Latest(t.Context(), m.at, source.Limit{})
	require.NoError(t, err)
	if end == m.at {
		return
	}
	rows := m.commit(t, m.src, 0, m.at, end)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		name := ""
		for n, want := range m.waiting {
			if want == row {
				name = n
			}
		}
		require.NotEmpty(t, name, "row %s is of no file that waits", row)
		delete(m.waiting, name)
	}
	m.at = end
}

// TestWholeFilesStayWhole: a look that lists all anew waits for no file that was whole and is as it was.
func TestWholeFilesStayWhole(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	file := func(uri string, size int64) files.File {
		return files.File{URI: uri, Size: size, ModTime: at}
	}
	whole := []files.File{file("a", 1), file("b", 2), file("gone", 3)}
	ready, waiting := stillWhole([]files.File{file("a", 1)}, []files.File{file("b", 2), file("c", 4)}, whole)
	require.Equal(t, []files.File{file("a", 1), file("b", 2)}, ready)
	require.Equal(t, []files.File{file("c", 4)}, waiting)
	ready, waiting = stillWhole(nil, []files.File{file("b", 5)}, whole)
	require.Empty(t, ready, "it was written to")
	require.Equal(t, []files.File{file("b", 5)}, waiting)
}
