package delta

import "slices"

// sizeBins are the sizes in bytes at which the bins of a checksum's histogram of files begin, which are Spark's.
var sizeBins = func() []int64 {
	const kb, mb, gb = int64(1) << 10, int64(1) << 20, int64(1) << 30
	bins := []int64{0}
	doubled := func(from, to int64) {
		for n := from; n <= to; n *= 2 {
			bins = append(bins, n)
		}
	}
	doubled(8*kb, 4*mb)
	for _, part := range []struct{ step, to int64 }{{4 * mb, 40 * mb}, {8 * mb, 120 * mb}, {4 * mb, 144 * mb}, {16 * mb, 576 * mb}, {64 * mb, 1408 * mb},
		{128 * mb, 2 * gb}, {256 * mb, 4 * gb}} {
		for n := bins[len(bins)-1] + part.step; n <= part.to; n += part.step {
			bins = append(bins, n)
		}
	}
	doubled(8*gb, 256*gb)
	return bins
}()

// deletedBins are the numbers of deleted rows at which the bins of a checksum's histogram of deletion vectors begin.
var deletedBins = []int64{0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 1<<31 - 1}

// fileCounts counts the live files of a snapshot by size and by deleted rows.
type fileCounts struct {
	files, bytes []int64 // by bin of sizeBins
	vectors      int64   // files with a deletion vector
	deleted      int64   // rows that those delete
	byDeleted    []int64 // files by bin of deletedBins
}

func (v *fileView) counts() fileCounts {
	c := fileCounts{files: make([]int64, len(sizeBins)), bytes: make([]int64, len(sizeBins)), byDeleted: make([]int64, len(deletedBins))}
	for chunk, i := range v.all() {
		size, deleted := chunk.size[i], int64(0)
		if x := chunk.extra[i]; x != nil && x.dv != nil {
			deleted = x.dv.cardinality
			c.vectors++
			c.deleted += deleted
		}
		bin := binOf(sizeBins, size)
		c.files[bin]++
		c.bytes[bin] += size
		c.byDeleted[binOf(deletedBins, deleted)]++
	}
	return c
}

// binOf is the last bin that begins at or below n, or the first.
func binOf(bins []int64, n int64) int {
	at, found := slices.BinarySearch(bins, n)
	if !found {
		at--
	}
	return max(at, 0)
}
