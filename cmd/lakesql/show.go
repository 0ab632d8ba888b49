package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// format is how results are printed.
type format int

// The formats.
const (
	asTSV   format = iota // a head line, then one line a row, tabs between: for other programs
	asTable               // a table, and how many rows it has: for people
)

// result is what one statement gave: rows, or a count.
type result struct {
	columns  []string
	numeric  []bool     // by column: to be set right
	rows     [][]cell   // nil where there are no columns
	affected int64      // rows, where there are no columns
	warnings [][]string // level, number, message
	took     time.Duration
}

// cell is one value as text; nil is NULL.
type cell *string

func (r *result) hasRows() bool { return len(r.columns) > 0 }

// show prints a result.
func show(w io.Writer, r *result, f format, vertical bool) error {
	switch {
	case r.hasRows() && vertical:
		return showVertical(w, r)
	case r.hasRows() && f == asTSV:
		return showTSV(w, r)
	case r.hasRows():
		return showTable(w, r)
	case f == asTSV:
		return nil
	}
	if _, err := fmt.Fprintf(w, "OK, %s affected (%s)\n", count(r.affected, "row"), seconds(r.took)); err != nil {
		return err
	}
	for _, warning := range r.warnings {
		if _, err := fmt.Fprintln(w, strings.Join(warning, " ")); err != nil {
			return err
		}
	}
	return nil
}

func showTable(w io.Writer, r *result) error {
	if len(r.rows) == 0 {
		_, err := fmt.Fprintf(w, "Empty set (%s)\n", seconds(r.took))
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n%s in set (%s)\n", drawTable(r), count(int64(len(r.rows)), "row"), seconds(r.took))
	return err
}

// drawTable draws the rows the way MySQL's own client does.
func drawTable(r *result) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Format.Header = text.FormatDefault
	head := make(table.Row, len(r.columns))
	configs := make([]table.ColumnConfig, len(r.columns))
	for i, name := range r.columns {
		head[i] = name
		configs[i] = table.ColumnConfig{Number: i + 1}
		if r.numeric[i] {
			configs[i].Align = text.AlignRight
		}
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(configs)
	for _, row := range r.rows {
		line := make(table.Row, len(row))
		for i, value := range row {
			line[i] = plain(value)
		}
		t.AppendRow(line)
	}
	return t.Render()
}

func showVertical(w io.Writer, r *result) error {
	width := 0
	for _, name := range r.columns {
		width = max(width, text.StringWidthWithoutEscSequences(name))
	}
	var b strings.Builder
	for n, row := range r.rows {
		fmt.Fprintf(&b, "*************************** %d. row ***************************\n", n+1)
		for i, value := range row {
			fmt.Fprintf(&b, "%s: %s\n", text.AlignRight.Apply(r.columns[i], width), plain(value))
		}
	}
	fmt.Fprintf(&b, "%s in set (%s)\n", count(int64(len(r.rows)), "row"), seconds(r.took))
	_, err := io.WriteString(w, b.String())
	return err
}

// tsvEscapes are MySQL's own for batch output.
var tsvEscapes = strings.NewReplacer("\\", `\\`, "\t", `\t`, "\n", `\n`, "\x00", `\0`)

func showTSV(w io.Writer, r *result) error {
	line := make([]string, len(r.columns))
	for i, name := range r.columns {
		line[i] = tsvEscapes.Replace(name)
	}
	var b strings.Builder
	b.WriteString(strings.Join(line, "\t") + "\n")
	for _, row := range r.rows {
		for i, value := range row {
			line[i] = "NULL"
			if value != nil {
				line[i] = tsvEscapes.Replace(*value)
			}
		}
		b.WriteString(strings.Join(line, "\t") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func plain(value cell) string {
	if value == nil {
		return "NULL"
	}
	return *value
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f sec", d.Seconds()) }
