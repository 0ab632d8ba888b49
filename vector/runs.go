package vector

// sortedRuns merges sorted rows: a binary heap of runs that are not empty, by their first rows.
type sortedRuns struct {
	keys []SortKey
	runs [][]rowRef
}

func newSortedRuns(keys []SortKey, runs [][]rowRef) *sortedRuns {
	h := &sortedRuns{keys: keys}
	for _, r := range runs {
		if len(r) > 0 {
			h.runs = append(h.runs, r)
		}
	}
	for i := len(h.runs)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h
}

// take takes the first of all rows. There must be one.
func (h *sortedRuns) take() rowRef {
	row := h.runs[0][0]
	if h.runs[0] = h.runs[0][1:]; len(h.runs[0]) == 0 {
		last := len(h.runs) - 1
		h.runs[0], h.runs[last] = h.runs[last], nil
		h.runs = h.runs[:last]
	}
	h.down(0)
	return row
}

// down moves a run to where no run below it comes first.
func (h *sortedRuns) down(i int) {
	for {
		first := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.runs); child++ {
			if compareRows(h.keys, &h.runs[child][0], &h.runs[first][0]) < 0 {
				first = child
			}
		}
		if first == i {
			return
		}
		h.runs[i], h.runs[first] = h.runs[first], h.runs[i]
		i = first
	}
}
