package vector

import (
	"context"
	"slices"

	"lakesql/delta"
	"lakesql/format/parquet"
)

// pageIndexRows is how many rows a row group must have for its page index to be worth reading.
const pageIndexRows = 20_000

// skipped counts what a filter leaves out of an open file.
type skipped struct {
	groups int
	rows   int64 // of pages, in row groups that stay
}

// rows returns the rows of an open file, among those in within (nil: all), for which the predicate can be true, by the statistics of row groups and pages.
func (f *FileFilter) rows(ctx context.Context, file delta.File, open *parquet.File, within []parquet.RowRange) (rows []parquet.RowRange, out skipped, err error) {
	known, err := f.partitionBounds(file)
	if err != nil {
		return nil, out, err
	}
	for g, group := range open.RowGroups() {
		all := parquet.RowRange{Start: group.Start, End: group.Start + group.NumRows}
		looked := all.Meet(within)
		if len(looked) == 0 {
			continue
		}
		for _, i := range f.needed {
			if c := f.columns[i]; c.stored() {
				known[i] = f.statsBounds(c, group.Stats(c.field, f.naming, f.byID), group.NumRows)
			}
		}
		if f.coverage(known) == NoRows {
			out.groups++
			continue
		}
		wanted := []parquet.RowRange{all}
		if group.NumRows >= pageIndexRows && f.readsData() {
			if wanted, err = f.pages(ctx, open, g, all, known); err != nil {
				return nil, out, err
			}
		}
		kept := []parquet.RowRange{}
		for _, l := range looked {
			kept = append(kept, l.Meet(wanted)...)
		}
		out.rows += countRows(looked) - countRows(kept)
		rows = append(rows, kept...)
	}
	return rows, out, nil
}

func countRows(ranges []parquet.RowRange) (n int64) {
	for _, r := range ranges {
		n += r.End - r.Start
	}
	return n
}

func (f *FileFilter) statsBounds(c scanColumn, s parquet.ColumnStats, rows int64) bounds {
	return boundsOf(c.field.Type, s.Min, s.Max, s.NullCount, rows)
}

// pages returns the rows of a row group for which the predicate can be true. The pages of different columns end at different rows: each
// piece between two ends is looked at. known are the bounds of the row group, which hold where a column has no page index.
func (f *FileFilter) pages(ctx context.Context, open *parquet.File, group int, all parquet.RowRange, known []bounds) ([]parquet.RowRange, error) {
	pages := make(map[int][]parquet.PageStats)
	ends := []int64{all.End}
	for _, i := range f.needed {
		c := f.columns[i]
		if !c.stored() {
			continue
		}
		of, err := open.Pages(ctx, group, c.field, f.naming, f.byID)
		if err != nil {
			return nil, err
		}
		pages[i] = of
		for _, p := range of {
			ends = append(ends, p.Rows.End)
		}
	}
	slices.Sort(ends)
	var out []parquet.RowRange
	start := all.Start
	for _, end := range slices.Compact(ends) {
		for i, of := range pages {
			for len(of) > 1 && of[0].Rows.End <= start {
				of = of[1:]
			}
			if pages[i] = of; len(of) > 0 {
				known[i] = f.statsBounds(f.columns[i], of[0].Stats, of[0].Rows.End-of[0].Rows.Start)
			}
		}
		if f.coverage(known) != NoRows {
			if n := len(out); n > 0 && out[n-1].End == start {
				out[n-1].End = end
			} else {
				out = append(out, parquet.RowRange{Start: start, End: end})
			}
		}
		start = end
	}
	return out, nil
}
