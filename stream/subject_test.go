package stream

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/delta/maintain"
)

// subject is a stream at whose every operation a test puts a crash or a fault: what it reads, and what is in its table in the end.
type subject struct {
	name     string
	d        Definition
	batches  int // at the least
	needs    func(*Config)
	begin    func(l *lake) []string // makes the input and returns the rows that the table must have, sorted
	later    func(l *lake) []string // what comes before the next process starts; nil: nothing
	rows     func(l *lake) []string // what the table has
	versions map[string]int64       // of tables in the end: one a batch
}

// require wants every row once, and one version of the table a batch.
func (sub *subject) require(l *lake, want []string, operation int) {
	l.t.Helper()
	require.Equal(l.t, want, sub.rows(l), "operation %d", operation)
	for table, version := range sub.versions {
		require.Equal(l.t, version, l.version(table), "one version a batch; operation %d", operation)
	}
}

// subjects has one of each kind of source, and of what else is durable, each of some batches.
func subjects(t *testing.T, batches int) []subject {
	return []subject{ofFiles("files", batches), ofJSONFiles(batches), ofATable(), ofATopic(t), withDeadLetters()}
}

func salesRows(l *lake) []string { return l.rows("sales") }

func ofFiles(name string, n int) subject {
	return subject{
		name: name, d: sales(availableNow, oneFileABatch), batches: n, needs: func(*Config) {},
		begin: func(l *lake) []string { return l.input(n) }, rows: salesRows, versions: map[string]int64{"sales": int64(n - 1)},
	}
}

func ofJSONFiles(n int) subject {
	sub := ofFiles("files of JSON", n)
	ofJSON(&sub.d)
	sub.begin = func(l *lake) []string { return l.inputJSON(n) }
	return sub
}

// ofATable reads a snapshot in two batches; the next process finds two more commits, and the table optimized between them.
func ofATable() subject {
	return subject{
		name: "a table", d: sales(ofTable, availableNow, oneFileABatch), batches: 2, needs: overTables,
		begin: func(l *lake) []string { return l.appendInput(1, 2) },
		later: func(l *lake) []string {
			rows := l.appendInput(3, 4)
			_, err := maintain.Optimize(l.t.Context(), l.inputTable(), maintain.OptimizeOptions{})
			require.NoError(l.t, err)
			return append(rows, l.appendInput(5)...)
		},
		rows: salesRows,
	}
}

// ofATopic reads three batches of two records.
func ofATopic(t *testing.T) subject {
	_, f, want := newTopic(t, 6)
	return subject{
		name: "a topic", d: sales(availableNow), batches: 3, needs: f.of,
		begin: func(*lake) []string { return want }, rows: (*lake).texts, versions: map[string]int64{"sales": 2},
	}
}

// withDeadLetters has malformed rows in two of its three batches.
func withDeadLetters() subject {
	return subject{
		name: "dead letters", d: sales(dead, availableNow, oneFileABatch), batches: 3, needs: func(*Config) {},
		begin: func(l *lake) []string {
			l.put("a.csv", "id,name\n1,a\nx,b\n")
			l.put("b.csv", "id,name\n2,a\ny,b\nz,c\n")
			l.put("c.csv", "id,name\n3,a\n")
			return []string{"1|a", "2|a", "3|a", "x,b", "y,b", "z,c"}
		},
		rows: func(l *lake) []string {
			rows := l.rows("sales")
			for _, letter := range l.letters() {
				rows = append(rows, letter[strings.LastIndexByte(letter, '|')+1:])
			}
			return rows
		},
		versions: map[string]int64{"sales": 2, "dead": 1},
	}
}
