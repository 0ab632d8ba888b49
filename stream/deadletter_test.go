package stream

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format/parquet"
	"lakesql/store/faultstore"
	"lakesql/vector"
)

// dead lets what is malformed go into the table dead.
func dead(d *Definition) {
	d.OnError = OnError{Mode: DeadLetter, DeadLetter: &TargetRef{Database: "lake", Table: "dead"}}
	d.SelectSQL = "file:///lake/landing schema id INT, name STRING"
}

// letters are the rows of the dead-letter table without their time.
func (l *lake) letters() (out []string) {
	for _, row := range l.rows("dead") {
		out = append(out, timeOf.ReplaceAllString(row, "|"))
	}
	return out
}

// TestDeadLetters: a row is in the table or, once and whole, among the dead letters.
func TestDeadLetters(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\nx,b\n3,c,d\n")
	s := l.serve()
	s.create(sales(dead, oneFileABatch))
	s.caughtUp()
	l.put("b.csv", "id,name\n4,d\n")
	s.caughtUp()
	require.Equal(t, int64(0), l.version("dead"), "a batch without such rows is no version")
	l.put("c.csv", "id,name\n5,\xff\n99999999999,e,f\n")
	s.caughtUp()
	require.Equal(t, []string{"1|a", "4|d"}, l.rows("sales"))
	require.Equal(t, []string{
		`lake.sales_in|0|file:///lake/landing/a.csv|3|id: "x" is no integer|x,b`,
		`lake.sales_in|0|file:///lake/landing/a.csv|4|the record has 3 fields and the header has 2|3,c,d`,
		`lake.sales_in|2|file:///lake/landing/c.csv|2|name: "\xff" is no UTF-8; such bytes are read as U+FFFD|5,` + "\uFFFD",
		`lake.sales_in|2|file:///lake/landing/c.csv|3|the record has 3 fields and the header has 2; id: "99999999999" does not fit into integer|99999999999,e,f`,
	}, l.letters())
	require.EqualValues(t, 4, s.state().ErrorRows)
}

// TestDeadLettersCountForMemory: where there is little, their files are written in small row groups, and nothing is held when they are there.
func TestDeadLettersCountForMemory(t *testing.T) {
	l := newLake(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	text.WriteString("id,name\n")
	noise := make([]byte, 200)
	for range 3 * batch.MaxRows {
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		fmt.Fprintf(&text, "x,%x\n", noise)
	}
	l.put("a.csv", text.String())
	budget := vector.NewBudget(1, nil)
	s := l.serve(func(c *Config) { c.Memory = budget })
	s.create(sales(dead))
	s.caughtUp()
	groups := 0
	for _, key := range l.keys("tables/dead/") {
		if strings.HasPrefix(key, "part-") {
			info, err := l.mem.Stat(t.Context(), "tables/dead/"+key)
			require.NoError(t, err)
			file, err := parquet.Open(t.Context(), l.mem, "tables/dead/"+key, info.Size)
			require.NoError(t, err)
			groups += len(file.RowGroups())
			require.NoError(t, file.Close())
		}
	}
	require.Greater(t, groups, 1)
	held, _ := budget.Use()
	require.Zero(t, held)
}

// TestDeadLettersOfAnotherTable: a table that cannot have them is refused.
func TestDeadLettersOfAnotherTable(t *testing.T) {
	l := newLake(t)
	l.input(1)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	s.stop()
	_, err := s.Create(t.Context(), sales(func(d *Definition) {
		dead(d)
		d.Name, d.Checkpoint, d.Target.Table, d.OnError.DeadLetter.Table = "second", "file:///lake/checkpoints/second", "other", "sales"
	}), CreateOptions{})
	require.ErrorContains(t, err, "DEAD LETTER INTO lake.sales: the table has the columns (id")
}

// timeOf is the time of a batch.
var timeOf = regexp.MustCompile(`\|\d{4}-\d\d-\d\d [0-9:.]+\|`)

// TestDeadLettersBeforeAnotherDefinition: a batch whose dead letters are committed is finished as it began.
func TestDeadLettersBeforeAnotherDefinition(t *testing.T) {
	l := newLake(t)
	l.put("a.csv", "id,name\n1,a\nx,b\n")
	s := l.serve()
	s.faults.Add(faultstore.Rule{Match: faultstore.On(faultstore.PutIfAbsent, "tables/sales/_delta_log/"), Before: faultstore.Fail(syscall.EIO)})
	s.create(sales(dead))
	require.Eventually(t, func() bool { return s.state().State == Retrying && len(l.keys("tables/dead/_delta_log/")) > 0 }, patience, time.Millisecond)
	s.stop()
	_, err := s.Create(t.Context(), sales(), CreateOptions{OrReplace: true})
	require.ErrorContains(t, err, "batch 0 of stream lake.sales_in has its dead letters in lake.dead")
}
