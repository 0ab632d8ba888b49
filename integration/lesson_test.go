package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// The lesson's files: the first line is blank.
const (
	data1 = "\ntransaction_id,item,amount\n1,ItemA,19.99\n2,ItemB,25.00\n"
	data2 = "\ntransaction_id,item,amount\n3,ItemC,10.50\n4,ItemD,55.10\n"
	data3 = "\ntransaction_id,item,amount\n5,ItemE,1.25\n6,ItemF,2.50\n"

	createSales = `CREATE STREAM sales_in INTO sales WITH CHECKPOINT './lake/_checkpoints/sales'
	  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true, inferColumnTypes => true)`
	caughtUp = "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 300 SECONDS"
	allSales = "SELECT * FROM sales ORDER BY transaction_id"
	stateOf  = "SELECT STATE, STATE_REASON FROM information_schema.STREAMS WHERE STREAM_NAME = 'sales_in'"
)

// TestLesson plays the job that lakesql exists for, with each client.
func TestLesson(t *testing.T) {
	for name, c := range clients(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			playLesson(t, c)
		})
	}
}

func playLesson(t *testing.T, c client) {
	dir := landing(t)
	p := harness.Start(t, dir)

	must(t, c, p, createSales)
	require.Equal(t, [][]string{{"IDLE", "waiting for the first file"}}, awaitState(t, c, p, "IDLE"))

	drop(t, dir, "data_1.csv", data1)
	must(t, c, p, caughtUp)
	require.Equal(t, [][]string{{"1", "ItemA", "19.99"}, {"2", "ItemB", "25"}}, must(t, c, p, allSales))
	require.Equal(t, [][]string{{"transaction_id", "int"}, {"item", "varchar"}, {"amount", "double"}},
		must(t, c, p, "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sales' ORDER BY ORDINAL_POSITION"))

	drop(t, dir, "data_2.csv", data2)
	must(t, c, p, caughtUp)
	require.Len(t, must(t, c, p, allSales), 4)

	must(t, c, p, "STOP STREAM sales_in")
	require.Equal(t, "PAUSED", must(t, c, p, stateOf)[0][0])
	must(t, c, p, "START STREAM sales_in")
	must(t, c, p, caughtUp)
	require.Len(t, must(t, c, p, allSales), 4, "goes on where it was, nothing twice")

	p.Kill()
	drop(t, dir, "data_3.csv", data3)
	p = harness.Start(t, dir)
	must(t, c, p, caughtUp)
	require.Equal(t, "1 2 3 4 5 6", ids(t, c, p), "the stream starts by itself, every row once")

	refusesLostCheckpoint(t, c, p, dir)

	require.Contains(t, refused(t, c, p, `CREATE STREAM other INTO other WITH CHECKPOINT './lake/_checkpoints/sales'
	  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true)`), "sales_in")
	p.Stop(t)
}

// TestLessonOfJSON plays the job with files of JSON lines.
func TestLessonOfJSON(t *testing.T) {
	t.Parallel()
	dir := landing(t)
	p := harness.Start(t, dir)
	must(t, textClient{}, p, `CREATE STREAM sales_in INTO sales WITH CHECKPOINT './lake/_checkpoints/sales'
	  ON ERROR PERMISSIVE AS SELECT * FROM STREAM read_files('./landing', format => 'json')`)
	drop(t, dir, "data_1.json", `{"transaction_id":1,"item":"ItemA","amount":19.99}`+"\n"+`{"transaction_id":2,"item":"ItemB","amount":25}`+"\n")
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, [][]string{{"1", "ItemA", "19.99"}, {"2", "ItemB", "25"}}, must(t, textClient{}, p, allSales))
	p.Kill()
	drop(t, dir, "data_2.json", `{"transaction_id":3,"parts":[{"no":7}]}`+"\n"+`{"transaction_id":4,`+"\n")
	p = harness.Start(t, dir)
	must(t, textClient{}, p, caughtUp)
	require.Equal(t, [][]string{{"1", "NULL"}, {"2", "NULL"}, {"3", `[{"no":7}]`}}, must(t, textClient{}, p, "SELECT transaction_id, parts FROM sales WHERE transaction_id > 0 ORDER BY 1"))
	require.Equal(t, [][]string{{"4"}}, must(t, textClient{}, p, "SELECT COUNT(*) FROM sales"))
	require.Contains(t, must(t, textClient{}, p, "SELECT MESSAGE FROM information_schema.STREAM_ERRORS WHERE LINE = 2")[0][0], "the record ends too early")
	p.Stop(t)
}

// refusesLostCheckpoint deletes the checkpoint of a paused stream and of a running one, and starts over by RESET.
func refusesLostCheckpoint(t *testing.T, c client, p *harness.Process, dir string) {
	checkpoint := filepath.Join(dir, "lake", "_checkpoints", "sales")
	must(t, c, p, "STOP STREAM sales_in")
	require.NoError(t, os.RemoveAll(checkpoint))
	message := refused(t, c, p, "START STREAM sales_in")
	require.Contains(t, message, "checkpoint")
	require.Contains(t, message, "ALTER STREAM lake.sales_in RESET")
	require.NoDirExists(t, checkpoint)

	must(t, c, p, "ALTER STREAM sales_in RESET")
	must(t, c, p, "START STREAM sales_in")
	must(t, c, p, caughtUp)
	require.Equal(t, "1 1 2 2 3 3 4 4 5 5 6 6", ids(t, c, p), "reads all three again, on purpose")

	require.NoError(t, os.RemoveAll(checkpoint))
	drop(t, dir, "data_4.csv", "transaction_id,item,amount\n7,ItemG,1\n")
	state := awaitState(t, c, p, "FAILED")
	require.Contains(t, state[0][1], "checkpoint")
	require.NoDirExists(t, checkpoint, "a checkpoint that was deleted is never made anew")
	require.Len(t, must(t, c, p, allSales), 12)
}
