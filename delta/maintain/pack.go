package maintain

import (
	"cmp"
	"slices"
	"strings"

	"lakesql/delta"
)

// bin is files of one partition that become one file.
type bin struct {
	files []delta.File
	bytes int64 // of files
}

func (b *bin) add(f delta.File) {
	b.files = append(b.files, f)
	b.bytes += f.Size
}

// maxDeletedRatio is the share of deleted rows from which on a file is written anew whatever its size, as in Spark.
const maxDeletedRatio = 0.05

// deletedRatio is the share of the file's rows that are deleted; 1 when there are some and the number of rows is not known.
func deletedRatio(f delta.File) float64 {
	vector := f.DeletionVector()
	if vector == nil {
		return 0
	}
	if rows, ok := f.NumRecords(); ok && rows > 0 {
		return float64(vector.Cardinality) / float64(rows)
	}
	return 1
}

// partitionKey tells partitions apart.
func partitionKey(columns []string, f delta.File) string {
	var key strings.Builder
	for _, c := range columns {
		v, ok := f.PartitionValues[c]
		if ok {
			key.WriteByte(1)
			key.WriteString(v)
		}
		key.WriteByte(0)
	}
	return key.String()
}

// byPartition sorts files into partitions, in the order of the partitions' first files.
func byPartition(snap *delta.Snapshot, wanted func(delta.File) bool) [][]delta.File {
	columns := snap.Metadata().PartitionColumns
	at := make(map[string]int)
	var out [][]delta.File
	for f := range snap.Files() {
		if !wanted(f) {
			continue
		}
		key := partitionKey(columns, f)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], f)
	}
	return out
}

// pack fills bins of up to target bytes with files, which keep their order where they are equally large. A bin of one file is
// kept only when that file has to be written anew.
func pack(files []delta.File, target int64) []bin {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b delta.File) int { return cmp.Compare(a.Size, b.Size) })
	var bins []bin
	var open bin
	for _, f := range files {
		if len(open.files) > 0 && open.bytes+f.Size > target {
			bins = append(bins, open)
			open = bin{}
		}
		open.add(f)
	}
	bins = append(bins, open)
	return slices.DeleteFunc(bins, func(b bin) bool {
		return len(b.files) == 0 || len(b.files) == 1 && deletedRatio(b.files[0]) <= maxDeletedRatio
	})
}
