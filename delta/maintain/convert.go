package maintain

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/format/parquet"
	"lakesql/store"
)

// ConvertOptions say how a folder of Parquet files becomes a table.
type ConvertOptions struct {
	PartitionBy  []batch.Field // the columns of the folders' names, in their order
	NoStatistics bool          // do not take statistics from the files' footers
}

// ConvertResult is what Convert has done.
type ConvertResult struct {
	Files   int
	Bytes   int64
	Version int64 // -1: the folder is a Delta table already, and nothing was done
}

// convertFooters is how many footers are read at once.
const convertFooters = 8

// Convert makes a Delta table of the Parquet files in the table's folder, without moving or reading their rows. Files and folders whose
// names begin with _ or a dot are left out. The schema is that of all footers together.
func Convert(ctx context.Context, table *delta.Table, opts ConvertOptions) (ConvertResult, error) {
	st := table.Store()
	if _, err := table.Snapshot(ctx); err == nil {
		return ConvertResult{Version: -1}, nil
	} else if !errors.Is(err, delta.ErrNoTable) {
		return ConvertResult{}, err
	}
	found, err := parquetFiles(ctx, st, opts.PartitionBy)
	if err != nil {
		return ConvertResult{}, err
	}
	if len(found) == 0 {
		return ConvertResult{}, delta.Refuse("[DELTA_EMPTY_DIRECTORY] convert %s: there is no Parquet file in it", st.URI())
	}
	if err := readFooters(ctx, st, found); err != nil {
		return ConvertResult{}, err
	}
	schema, err := mergedSchema(found, opts.PartitionBy)
	if err != nil {
		return ConvertResult{}, fmt.Errorf("convert %s: %w", st.URI(), err)
	}
	names := make([]string, len(opts.PartitionBy))
	for i, f := range opts.PartitionBy {
		names[i] = f.Name
	}
	metadata, err := delta.NewMetadata(schema, names, nil)
	if err != nil {
		return ConvertResult{}, err
	}
	return commitConverted(ctx, table, metadata, schema, found, opts)
}

func commitConverted(ctx context.Context, table *delta.Table, metadata *delta.Metadata, schema *batch.Schema, found []*foundFile, opts ConvertOptions) (ConvertResult, error) {
	out := ConvertResult{Files: len(found)}
	x := table.Begin(nil)
	x.SetMetadata(metadata)
	data := &batch.Schema{Fields: schema.Fields[:len(schema.Fields)-len(opts.PartitionBy)]}
	for _, f := range found {
		add := delta.AddFile{Path: f.info.Key, PartitionValues: f.values, Size: f.info.Size, ModTime: f.info.ModTime, NumRecords: f.rows}
		if !opts.NoStatistics {
			add.Stats = metadata.FormatStats(data, f.summary(data))
		}
		x.Add(add)
		out.Bytes += f.info.Size
	}
	done, err := x.Commit(ctx, delta.Operation{
		Name: "CONVERT",
		Parameters: map[string]string{
			"numFiles": strconv.Itoa(len(found)), "partitionedBy": jsonStrings(metadata.PartitionColumns),
			"collectStats": strconv.FormatBool(!opts.NoStatistics), "sourceFormat": "parquet",
		},
		Metrics: map[string]string{"numConvertedFiles": strconv.Itoa(len(found))},
	})
	out.Version = done.Version
	return out, err
}

// foundFile is a Parquet file of the folder.
type foundFile struct {
	info   store.Info
	values map[string]string // of its folders, without nulls
	rows   int64
	schema *batch.Schema
	groups []parquet.RowGroup
}

// parquetFiles lists the files, with the values of their folders.
func parquetFiles(ctx context.Context, st store.Store, partitionBy []batch.Field) ([]*foundFile, error) {
	var out []*foundFile
	for info, err := range st.List(ctx, "", "", "") {
		if err != nil {
			return nil, fmt.Errorf("convert %s: %w", st.URI(), err)
		}
		names := strings.Split(info.Key, "/")
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "_") || strings.HasPrefix(n, ".") }) {
			continue
		}
		values, err := folderValues(names[:len(names)-1], partitionBy)
		if err != nil {
			return nil, fmt.Errorf("convert %s: %s: %w", st.URI(), info.Key, err)
		}
		out = append(out, &foundFile{info: info, values: values})
	}
	return out, nil
}

// nullFolder is Hive's name of the folder of null.
const nullFolder = "__HIVE_DEFAULT_PARTITION__"

// folderValues reads the values out of folders named column=value.
func folderValues(folders []string, partitionBy []batch.Field) (map[string]string, error) {
	values := make(map[string]string)
	n := 0
	for _, folder := range folders {
		name, escaped, ok := strings.Cut(folder, "=")
		if !ok {
			continue
		}
		if n == len(partitionBy) || !strings.EqualFold(partitionBy[n].Name, name) {
			want := make([]string, len(partitionBy))
			for i, f := range partitionBy {
				want[i] = f.Name
			}
			return nil, delta.Refuse("[DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME] the folder %q is not one of the partition columns (%s): name them in the order of the folders, PARTITIONED BY (%s type, ...)",
				folder, strings.Join(want, ", "), name)
		}
		f := partitionBy[n]
		n++
		if escaped == nullFolder {
			continue
		}
		value, err := url.PathUnescape(escaped)
		if err != nil {
			value = escaped // a percent sign that escapes nothing
		}
		if _, err := delta.ParsePartitionValue(value, f.Type); err != nil {
			return nil, err
		}
		values[f.Name] = value
	}
	if n < len(partitionBy) {
		return nil, delta.Refuse("there is no folder %s=... on its path, though PARTITIONED BY names the column", partitionBy[n].Name)
	}
	return values, nil
}

func readFooters(ctx context.Context, st store.Store, files []*foundFile) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(convertFooters)
	for _, f := range files {
		group.Go(func() error {
			file, err := parquet.Open(ctx, st, f.info.Key, f.info.Size)
			if err != nil {
				return err
			}
			f.rows, f.schema, f.groups = file.NumRows(), file.Schema(), file.RowGroups()
			return nil
		})
	}
	return group.Wait()
}

// mergedSchema is the columns of all files, then the partition columns.
func mergedSchema(files []*foundFile, partitionBy []batch.Field) (*batch.Schema, error) {
	out := &batch.Schema{}
	from := make(map[string]string) // column -> the file that has it first
	for _, f := range files {
		for _, field := range f.schema.Fields {
			if slices.ContainsFunc(partitionBy, func(p batch.Field) bool { return strings.EqualFold(p.Name, field.Name) }) {
				continue
			}
			field.Nullable = true
			at := out.Index(field.Name)
			if at < 0 {
				out.Fields = append(out.Fields, field)
				from[field.Name] = f.info.Key
				continue
			}
			if have := out.Fields[at]; have.Type != field.Type {
				return nil, delta.Refuse("[DELTA_FAILED_TO_MERGE_FIELDS] column %s is %s in %s and %s in %s; write one of the files again with the other's type",
					have.Name, have.Type, from[have.Name], field.Type, f.info.Key)
			}
		}
	}
	for _, p := range partitionBy {
		p.Nullable = true
		out.Fields = append(out.Fields, p)
	}
	return out, nil
}

// summary puts the footers' statistics of all row groups together.
func (f *foundFile) summary(schema *batch.Schema) parquet.Summary {
	out := parquet.Summary{Rows: f.rows, Bytes: f.info.Size, Columns: make([]parquet.ColumnStats, len(schema.Fields))}
	for i, field := range schema.Fields {
		all := &out.Columns[i]
		all.HasMinMax = batch.Ordered(field.Type)
		for _, g := range f.groups {
			s := g.Stats(field, nil, false)
			if s.NullCount < 0 || all.NullCount < 0 {
				all.NullCount = -1
			} else {
				all.NullCount += s.NullCount
			}
			if s.NullCount == g.NumRows {
				continue
			}
			join(all, s)
		}
		if all.Min == nil {
			all.HasMinMax = false
		}
	}
	return out
}

// join widens bounds by those of another row group; unknown ones make the sum unknown.
func join(all *parquet.ColumnStats, s parquet.ColumnStats) {
	switch {
	case !all.HasMinMax:
	case !s.HasMinMax:
		all.HasMinMax, all.Min, all.Max = false, nil, nil
	case all.Min == nil:
		all.Min, all.Max = s.Min, s.Max
	default:
		if batch.Compare(s.Min, 0, all.Min, 0) < 0 {
			all.Min = s.Min
		}
		if batch.Compare(s.Max, 0, all.Max, 0) > 0 {
			all.Max = s.Max
		}
	}
}
