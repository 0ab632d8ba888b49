package main

import (
	"fmt"
	"strings"
	"time"
)

// longStep is how many batches are measured together: ten times the interval at which source logs are compacted.
const longStep = 100

// longPause is what the client rests between two questions: with a hundred batches it counts little.
const longPause = 50 * time.Millisecond

// longResult is what batches of one file cost, early and late in the life of a stream.
type longResult struct {
	batches     int
	early, late usage // of a batch: the medians of some steps
}

// measureLongStream runs a stream of so many batches of one file each, all of which stay in the folder.
func measureLongStream(bin string, batches int) (r longResult, err error) {
	l, err := openLanding(bin, "TRIGGER EVERY 1 MILLISECOND OPTIONS (maxFilesPerTrigger = 1)") // without it the stream rests 100 ms, which hides what a batch takes
	defer l.close()
	if err != nil {
		return r, err
	}
	const around = 5 // steps: the first one, in which things are opened, counts nowhere
	if r.batches = batches / longStep * longStep; r.batches < (2*around+1)*longStep {
		return r, fmt.Errorf("%d batches are too few to compare: take %d or more", batches, (2*around+1)*longStep)
	}
	var steps []usage
	for n := 0; n < r.batches; n += longStep {
		u, err := l.timed(func() error {
			if err := l.dropFiles(n, n+longStep); err != nil {
				return err
			}
			return l.rowsVisible(n+longStep, longPause)
		})
		if err != nil {
			return r, err
		}
		steps = append(steps, usage{Wall: u.Wall / longStep, CPU: u.CPU / longStep})
	}
	of := func(steps []usage) usage { return usage{Wall: median(steps, wall), CPU: median(steps, cpu)} }
	r.early, r.late = of(steps[1:1+around]), of(steps[len(steps)-around:])
	return r, nil
}

// longStream writes its table.
func (p page) longStream(b *strings.Builder) {
	r := p.lasting
	fmt.Fprintf(b, "## A stream of many batches\n\n`make bench BENCH='-suite %s'`: batches of one file of one row, one right after the other, every file of which stays in the folder; %d batches at a time, compaction of the source log and\n",
		longName, longStep)
	fmt.Fprintf(b, "checkpoints of the table among them; medians of a batch. One SELECT COUNT(*) every %v is part of the server's CPU time.\n\n| | batches 100 to 600 | the last 500 of %d | ratio | goal |\n|---|---|---|---|---|\n", longPause, r.batches)
	fmt.Fprintf(b, "| wall | %s | %s | %.2f | <= 1.2 |\n", milliseconds(r.early.Wall), milliseconds(r.late.Wall), float64(r.late.Wall)/float64(r.early.Wall))
	fmt.Fprintf(b, "| CPU | %s | %s | %.2f | |\n\n", milliseconds(r.early.CPU), milliseconds(r.late.CPU), float64(r.late.CPU)/float64(r.early.CPU))
}
