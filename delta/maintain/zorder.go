package maintain

import (
	"cmp"
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
)

const (
	zSampleRows = 1 << 16 // rows of a partition's sample
	zRankBits   = 10      // each column's values fall into 1 << zRankBits ranges of about as many rows
	zMaxBuckets = 8       // files that are written at once, each of which holds a row group in memory
	zSortRows   = 1 << 16 // rows of a file that are sorted together
)

// order are the columns to order rows by: those asked for, or those that the table is clustered by, as far as they are not fields of structs.
func order(snap *delta.Snapshot, asked []string) ([]string, error) {
	clustered, err := snap.ClusteringColumns()
	switch {
	case err != nil:
		return nil, err
	case len(asked) > 0 && len(clustered) > 0:
		return nil, delta.Refuse("[DELTA_CLUSTERING_WITH_ZORDER_BY] the table is clustered: OPTIMIZE orders it by those columns, write it without ZORDER BY")
	case len(asked) > 0:
		return asked, checkZOrder(snap, asked)
	}
	var out []string
	for _, path := range clustered {
		if len(path) == 1 {
			out = append(out, path[0])
		}
	}
	return out, nil
}

// checkZOrder refuses columns that order nothing.
func checkZOrder(snap *delta.Snapshot, columns []string) error {
	for i, name := range columns {
		at := snap.Schema().Index(name)
		if at < 0 {
			return delta.Refuse("ZORDER BY %s: no such column; the table has %s", name, strings.Join(snap.Schema().Names(), ", "))
		}
		if slices.ContainsFunc(snap.Metadata().PartitionColumns, func(p string) bool { return strings.EqualFold(p, name) }) {
			return delta.Refuse("[DELTA_ZORDERING_ON_PARTITION_COLUMN] ZORDER BY %s: it is a partition column, whose values are apart already", name)
		}
		if slices.ContainsFunc(columns[:i], func(o string) bool { return strings.EqualFold(o, name) }) {
			return delta.Refuse("ZORDER BY %s: the column is named twice", name)
		}
		if !batch.Ordered(snap.Schema().Fields[at].Type) {
			return delta.Refuse("ZORDER BY %s: values of type %s have no order", name, snap.Schema().Fields[at].Type)
		}
	}
	return nil
}

// zorder writes all rows of a partition anew, so that rows that are near each other in all of the columns are in the same files. A row's
// place is the bits of its columns' ranks, interleaved.
func (o *optimizer) zorder(ctx context.Context, files []delta.File) error {
	z, err := o.sample(ctx, files)
	if err != nil {
		return err
	}
	o.out.Partitions++
	all := rewritten{}
	for _, f := range files {
		all.add(f)
	}
	buckets := z.split(max(1, int((all.bytes+o.opts.TargetBytes-1)/o.opts.TargetBytes)))
	for from := 0; from < len(buckets); from += zMaxBuckets {
		some := buckets[from:min(from+zMaxBuckets, len(buckets))]
		adds, err := o.writeBuckets(ctx, z, files, some)
		if err != nil {
			return err
		}
		all.adds = append(all.adds, adds...)
	}
	return o.done(ctx, all)
}

// zcurve gives rows their place.
type zcurve struct {
	columns []int           // positions in the table's schema
	ranges  []*batch.Vector // by column: where its ranges begin, sorted, without null
	places  []uint64        // of the sample, sorted
	ranks   []uint64        // scratch
}

// sample reads the partition's columns and learns how their values are spread.
func (o *optimizer) sample(ctx context.Context, files []delta.File) (*zcurve, error) {
	z := &zcurve{ranks: make([]uint64, len(o.opts.ZOrderBy))}
	fields := make([]batch.Field, 0, len(o.opts.ZOrderBy))
	for _, name := range o.opts.ZOrderBy {
		at := o.snap.Schema().Index(name)
		z.columns = append(z.columns, at)
		fields = append(fields, o.snap.Schema().Fields[at])
	}
	sampled := make([]*batch.Vector, len(fields))
	for i, f := range fields {
		sampled[i] = batch.NewVector(f.Type, zSampleRows)
	}
	rnd := rand.New(rand.NewPCG(1, 2)) // the same sample each time
	share := sampleShare(files)
	for _, f := range files {
		err := o.readColumns(ctx, f, fields, false, func(b *batch.Batch) error {
			var picked []int32
			for i := range b.Rows() {
				if sampled[0].Len+len(picked) < zSampleRows && rnd.Float64() < share {
					picked = append(picked, int32(b.Row(i)))
				}
			}
			if len(picked) > 0 {
				for c := range sampled {
					sampled[c].AppendRows(b.Cols[c], picked)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	z.learn(sampled)
	return z, nil
}

// sampleShare is the share of the rows that makes a sample.
func sampleShare(files []delta.File) float64 {
	rows := int64(0)
	for _, f := range files {
		n, ok := f.NumLiveRecords()
		if !ok {
			return 1
		}
		rows += n
	}
	if rows <= zSampleRows {
		return 1
	}
	return 0.9 * zSampleRows / float64(rows)
}

func (z *zcurve) learn(sampled []*batch.Vector) {
	for _, v := range sampled {
		v = v.Decode()
		order := make([]int32, 0, v.Len)
		for i := range v.Len {
			if !v.IsNull(i) {
				order = append(order, int32(i))
			}
		}
		slices.SortFunc(order, func(a, b int32) int { return batch.Compare(v, int(a), v, int(b)) })
		begins := batch.NewVector(v.Type, 1<<zRankBits)
		for r := 1; r < 1<<zRankBits && len(order) > 0; r++ {
			at := int(order[r*len(order)>>zRankBits])
			if begins.Len == 0 || batch.Compare(begins, begins.Len-1, v, at) < 0 {
				begins.AppendRows(v, []int32{int32(at)})
			}
		}
		z.ranges = append(z.ranges, begins)
	}
	z.places = make([]uint64, sampled[0].Len)
	for i := range z.places {
		z.places[i] = z.place(sampled, i)
	}
	slices.Sort(z.places)
}

// place is the row's place on the curve. Null comes first.
func (z *zcurve) place(columns []*batch.Vector, row int) uint64 {
	for c, v := range columns {
		z.ranks[c] = 0
		if !v.IsNull(row) {
			z.ranks[c] = 1 + uint64(rank(z.ranges[c], v, row))
		}
	}
	return interleave(z.ranks)
}

// rank is how many of the sorted values are not above the row's.
func rank(begins, v *batch.Vector, row int) int {
	lo, hi := 0, begins.Len
	for lo < hi {
		mid := (lo + hi) / 2
		if batch.Compare(begins, mid, v, row) <= 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// interleave takes the ranks' bits in turn, the highest first. With many columns the low bits are left out.
func interleave(ranks []uint64) uint64 {
	const width = zRankBits + 1 // null's rank is one more
	out, taken := uint64(0), 0
	for bit := width - 1; bit >= 0 && taken+len(ranks) <= 64; bit-- {
		for _, r := range ranks {
			out = out<<1 | r>>bit&1
			taken++
		}
	}
	return out
}

// zbucket is the stretch of the curve that becomes one file: places from begin up to, but for the last, end.
type zbucket struct {
	begin, end uint64
	last       bool
}

func (b zbucket) has(place uint64) bool { return place >= b.begin && (b.last || place < b.end) }

// split cuts the curve into up to n stretches of about as many rows.
func (z *zcurve) split(n int) []zbucket {
	begins := []uint64{0}
	for i := 1; i < n && len(z.places) > 0; i++ {
		if p := z.places[i*len(z.places)/n]; p > begins[len(begins)-1] {
			begins = append(begins, p)
		}
	}
	out := make([]zbucket, len(begins))
	for i, b := range begins {
		out[i] = zbucket{begin: b, last: i == len(begins)-1}
		if !out[i].last {
			out[i].end = begins[i+1]
		}
	}
	return out
}

// writeBuckets reads all files and writes the rows of some buckets.
func (o *optimizer) writeBuckets(ctx context.Context, z *zcurve, files []delta.File, buckets []zbucket) (adds []delta.AddFile, err error) {
	writers := make([]*zwriter, len(buckets))
	defer func() {
		for _, w := range writers {
			if w != nil {
				err = cmp.Or(err, w.files.Abort())
			}
		}
	}()
	for i := range writers {
		files, err := o.writer(2*o.opts.TargetBytes + delta.DefaultTargetFileBytes)
		if err != nil {
			return nil, err
		}
		writers[i] = &zwriter{files: files}
	}
	columns := make([]*batch.Vector, len(z.columns))
	for _, f := range inOrder(files) {
		err := o.read(ctx, f, func(b *batch.Batch) error {
			for i, c := range z.columns {
				columns[i] = b.Cols[c].Decode()
			}
			picked := make([][]int32, len(buckets))
			places := make([][]uint64, len(buckets))
			for i := range b.Rows() {
				row := b.Row(i)
				place := z.place(columns, row)
				for k, bucket := range buckets {
					if bucket.has(place) {
						picked[k], places[k] = append(picked[k], int32(row)), append(places[k], place)
						break
					}
				}
			}
			for k := range buckets {
				if err := writers[k].add(ctx, b, picked[k], places[k]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for _, w := range writers {
		files, err := w.close(ctx)
		if err != nil {
			return nil, err
		}
		adds = append(adds, files...)
	}
	return adds, nil
}

// zwriter writes the rows of a bucket, some of them sorted at a time.
type zwriter struct {
	files  *delta.FileWriter
	rows   *batch.Batch
	places []uint64
}

func (w *zwriter) add(ctx context.Context, b *batch.Batch, rows []int32, places []uint64) error {
	if len(rows) == 0 {
		return nil
	}
	if w.rows == nil {
		w.rows = &batch.Batch{Schema: b.Schema, Cols: make([]*batch.Vector, len(b.Cols))}
		for i, c := range b.Cols {
			w.rows.Cols[i] = batch.NewVector(c.Type, zSortRows)
		}
	}
	for i, c := range b.Cols {
		w.rows.Cols[i].AppendRows(c, rows)
	}
	w.rows.Len += len(rows)
	w.places = append(w.places, places...)
	if w.rows.Len < zSortRows {
		return nil
	}
	return w.flush(ctx)
}

// flush writes the rows that are held, sorted.
func (w *zwriter) flush(ctx context.Context) error {
	if w.rows == nil || w.rows.Len == 0 {
		return nil
	}
	order := make([]int32, w.rows.Len)
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(w.places[a], w.places[b]) })
	for at := 0; at < len(order); at += batch.MaxRows {
		some := order[at:min(at+batch.MaxRows, len(order))]
		sorted := &batch.Batch{Schema: w.rows.Schema, Cols: make([]*batch.Vector, len(w.rows.Cols)), Len: len(some)}
		for i, c := range w.rows.Cols {
			sorted.Cols[i] = c.Gather(some)
		}
		if err := w.files.Write(ctx, sorted); err != nil {
			return err
		}
	}
	w.rows, w.places = nil, w.places[:0]
	return nil
}

func (w *zwriter) close(ctx context.Context) ([]delta.AddFile, error) {
	if err := w.flush(ctx); err != nil {
		return nil, err
	}
	return w.files.Close(ctx)
}

// jsonStrings is a list as JSON.
func jsonStrings(list []string) string {
	if list == nil {
		list = []string{}
	}
	text, _ := json.Marshal(list) // strings always marshal
	return string(text)
}
