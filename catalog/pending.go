package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
	"lakesql/vector"
)

// pendingScan reads the files that a transaction has written and not committed: no snapshot names them yet.
type pendingScan struct {
	st         store.Store
	fields     []batch.Field // of the scan
	stored     []batch.Field // of them, those that are in the files
	partitions map[string]bool
	files      []delta.AddFile

	file    *parquet.File // open; nil between files
	scan    *parquet.Scanner
	current delta.AddFile
}

var _ vector.Operator = (*pendingScan)(nil)

func newPendingScan(st store.Store, meta *delta.Metadata, fields []batch.Field, files []delta.AddFile) *pendingScan {
	p := &pendingScan{st: st, fields: fields, files: files, partitions: make(map[string]bool)}
	for _, c := range meta.PartitionColumns {
		p.partitions[c] = true
	}
	for _, f := range fields {
		if !p.partitions[f.Name] {
			p.stored = append(p.stored, f)
		}
	}
	return p
}

// Schema is that of the scan.
func (p *pendingScan) Schema() *batch.Schema { return &batch.Schema{Fields: p.fields} }

// Next returns the next batch of the files in the order in which they were written.
func (p *pendingScan) Next(ctx context.Context) (*batch.Batch, error) {
	for {
		if p.file == nil {
			if len(p.files) == 0 {
				return nil, io.EOF
			}
			p.current, p.files = p.files[0], p.files[1:]
			file, err := parquet.Open(ctx, p.st, p.current.Path, p.current.Size)
			if err != nil {
				return nil, fmt.Errorf("read own writes: %w", err)
			}
			p.file, p.scan = file, file.Scan(ctx, parquet.ScanOptions{Columns: p.stored})
		}
		b, err := p.scan.Next(ctx)
		if errors.Is(err, io.EOF) {
			if err := p.Close(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read own writes: %w", err)
		}
		return p.withPartitions(b)
	}
}

// withPartitions puts the file's partition values between the stored columns.
func (p *pendingScan) withPartitions(b *batch.Batch) (*batch.Batch, error) {
	if len(p.stored) == len(p.fields) {
		return &batch.Batch{Schema: p.Schema(), Cols: b.Cols, Len: b.Len, Sel: b.Sel}, nil
	}
	out := &batch.Batch{Schema: p.Schema(), Len: b.Len, Sel: b.Sel}
	next := 0
	for _, f := range p.fields {
		if !p.partitions[f.Name] {
			out.Cols = append(out.Cols, b.Cols[next])
			next++
			continue
		}
		one, err := delta.ParsePartitionValue(p.current.PartitionValues[f.Name], f.Type)
		if err != nil {
			return nil, err
		}
		out.Cols = append(out.Cols, one.Gather(make([]int32, b.Len))) // row 0, as often as there are rows
	}
	return out, nil
}

// Close closes the open file.
func (p *pendingScan) Close() error {
	if p.file == nil {
		return nil
	}
	err := errors.Join(p.scan.Close(), p.file.Close())
	p.file, p.scan = nil, nil
	return err
}
