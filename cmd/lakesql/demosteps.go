package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// The files of the demo. Their first line is blank, as a text in triple quotes has it.
const (
	demoFile1 = "\ntransaction_id,item,amount\n1,ItemA,19.99\n2,ItemB,25.00\n"
	demoFile2 = "\ntransaction_id,item,amount\n3,ItemC,10.50\n4,ItemD,55.10\n"
	demoFile3 = "\ntransaction_id,item,amount\n5,ItemE,7.25\n6,ItemF,3.00\n"
)

const (
	demoCreate = `CREATE STREAM sales_in INTO sales
  WITH CHECKPOINT './lake/_checkpoints/sales'
  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true, inferColumnTypes => true)`
	demoSecond = `CREATE STREAM another INTO elsewhere
  WITH CHECKPOINT './lake/_checkpoints/sales'
  AS SELECT * FROM STREAM read_files('./landing', format => 'csv', header => true)`
	demoWait  = "WAIT FOR STREAM sales_in UNTIL CAUGHT UP TIMEOUT 60 SECONDS"
	demoState = "SELECT STREAM_NAME, STATE, STATE_REASON FROM information_schema.STREAMS"
	demoRows  = "SELECT * FROM sales ORDER BY transaction_id"
)

var (
	demoRows1 = [][]string{{"1", "ItemA", "19.99"}, {"2", "ItemB", "25"}}
	demoRows2 = append(demoRows1[:2:2], []string{"3", "ItemC", "10.5"}, []string{"4", "ItemD", "55.1"})
	demoRows3 = append(demoRows2[:4:4], []string{"5", "ItemE", "7.25"}, []string{"6", "ItemF", "3"})
)

// play runs all steps; the first that does not give what it should ends it.
func (d *demo) play(ctx context.Context) error {
	steps := []func(context.Context) error{
		d.createsStream, d.readsFirstFile, d.readsNextFile, d.stopsAndStarts, d.survivesKill, d.refusesLostCheckpoint, d.startsOver,
		d.refusesSharedCheckpoint, d.showsHistory,
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	d.say("All %d steps gave what they should.", len(steps))
	return nil
}

func (d *demo) createsStream(ctx context.Context) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	d.say("A fresh lake in %s. The server runs as a process of its own, on %s.\n"+
		"A stream is one statement. There is no file yet: it waits for the first.", d.dir, d.child.address)
	if err := d.do(ctx, demoCreate); err != nil {
		return err
	}
	if err := d.do(ctx, demoWait); err != nil {
		return err
	}
	return d.expect(ctx, demoState, []string{"sales_in", "IDLE", "waiting for the first file"})
}

func (d *demo) readsFirstFile(ctx context.Context) error {
	d.say("The first file arrives. Its columns and their types become the table's.")
	if err := d.drop("data_1.csv", demoFile1); err != nil {
		return err
	}
	if err := d.do(ctx, demoWait); err != nil {
		return err
	}
	if err := d.expect(ctx, demoRows, demoRows1...); err != nil {
		return err
	}
	return d.expect(ctx, "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'sales' ORDER BY ORDINAL_POSITION",
		[]string{"transaction_id", "int"}, []string{"item", "varchar"}, []string{"amount", "double"})
}

func (d *demo) readsNextFile(ctx context.Context) error {
	d.say("The stream runs on. The next file's rows come by themselves.")
	if err := d.drop("data_2.csv", demoFile2); err != nil {
		return err
	}
	if err := d.do(ctx, demoWait); err != nil {
		return err
	}
	return d.expect(ctx, demoRows, demoRows2...)
}

func (d *demo) stopsAndStarts(ctx context.Context) error {
	d.say("Stopped and started, the stream goes on where it was: nothing is read twice.")
	for _, statement := range []string{"STOP STREAM sales_in", "START STREAM sales_in", demoWait} {
		if err := d.do(ctx, statement); err != nil {
			return err
		}
	}
	return d.expect(ctx, demoRows, demoRows2...)
}

func (d *demo) survivesKill(ctx context.Context) error {
	d.say("The server is killed without warning; a third file arrives while it is gone. A new server\n"+
		"starts the stream by itself, and every row is there once.\n$ kill -9 %d", d.child.cmd.Process.Pid)
	if err := d.disconnect(); err != nil {
		return err
	}
	if err := d.child.kill(); err != nil {
		return err
	}
	if err := d.drop("data_3.csv", demoFile3); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "$ lakesql serve")
	if err := d.start(ctx); err != nil {
		return err
	}
	if err := d.do(ctx, demoWait); err != nil {
		return err
	}
	return d.expect(ctx, demoRows, demoRows3...)
}

func (d *demo) refusesLostCheckpoint(ctx context.Context) error {
	d.say("The checkpoint is the stream's memory. When it is gone, the stream does not begin again by itself, which\nwould write every row twice: it says what happened and what to type.")
	if err := d.do(ctx, "STOP STREAM sales_in"); err != nil {
		return err
	}
	fmt.Fprintln(d.out, "$ rm -r lake/_checkpoints/sales")
	if err := os.RemoveAll(filepath.Join(d.dir, "lake", "_checkpoints", "sales")); err != nil {
		return err
	}
	return d.refuse(ctx, "START STREAM sales_in", "checkpoint", "RESET")
}

func (d *demo) startsOver(ctx context.Context) error {
	d.say("RESET is how to begin again on purpose: all three files are read once more, and their rows are there twice.")
	for _, statement := range []string{"ALTER STREAM sales_in RESET", "START STREAM sales_in", demoWait} {
		if err := d.do(ctx, statement); err != nil {
			return err
		}
	}
	return d.expect(ctx, "SELECT transaction_id, COUNT(*) AS times FROM sales GROUP BY transaction_id ORDER BY transaction_id",
		[]string{"1", "2"}, []string{"2", "2"}, []string{"3", "2"}, []string{"4", "2"}, []string{"5", "2"}, []string{"6", "2"})
}

func (d *demo) refusesSharedCheckpoint(ctx context.Context) error {
	d.say("Two streams never share a checkpoint: the second is refused, and told which stream has it.")
	return d.refuse(ctx, demoSecond, "sales_in")
}

func (d *demo) showsHistory(ctx context.Context) error {
	d.say("The table is an ordinary Delta table and the checkpoint an ordinary Spark checkpoint: Spark reads the one and\ncontinues the other. Each batch is one version of the table.")
	return d.do(ctx, "DESCRIBE HISTORY sales LIMIT 1")
}
