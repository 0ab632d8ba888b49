package files

import (
	"io"

	"lakesql/batch"
	"lakesql/format"
	"lakesql/format/csv"
	"lakesql/format/json"
	"lakesql/format/text"
)

// formatReader is the rows of one file. Its methods are those of format.LineReader.
type formatReader interface {
	Next() (*batch.Batch, error)
	Extra() []string
	Rejected() int64
}

// openRows reads a file by its format. release frees what that holds.
func (o *Options) openRows(c *contents, schema *batch.Schema, rescued format.Rescued, onError func(RowError)) (rows formatReader, release func(), err error) {
	if o.Format == "parquet" {
		return openParquet(c, schema, &rescued)
	}
	data, size, release, err := o.openText(c)
	if err != nil {
		return nil, nil, err
	}
	reader, err := o.lineReader(data, size, schema, rescued, onError)
	if err != nil {
		release()
		return nil, nil, err
	}
	return lines{reader}, release, nil
}

// lineReader reads text that has about size bytes; 0: not known.
func (o *Options) lineReader(data io.Reader, size int64, schema *batch.Schema, rescued format.Rescued, onError func(RowError)) (format.LineReader, error) {
	switch o.Format {
	case "json":
		opts := o.JSON
		opts.SizeHint, opts.OnError, opts.Rescued = size, onError, rescued
		return json.NewReader(data, schema, opts)
	case "text":
		opts := text.Options{TextOptions: o.CSV.TextOptions, WholeText: o.wholeText}
		opts.SizeHint, opts.OnError = size, onError
		return text.NewReader(data, schema, opts)
	}
	opts := o.CSV
	opts.SizeHint, opts.OnError, opts.Rescued = size, onError, rescued
	return csv.NewReader(data, schema, opts)
}

// openText gives a file's bytes as UTF-8, unpacked; size is 0 where it is not known.
func (o *Options) openText(c *contents) (data io.Reader, size int64, release func(), err error) {
	unpacked, release, err := decompress(c.file.URI, c.file.Size, c)
	if err != nil {
		return nil, 0, nil, err
	}
	if data = decode(unpacked, o.charset); data == io.Reader(c) {
		size = c.file.Size
	}
	return data, size, release, nil
}

// inference gathers what files say of their columns.
type inference interface {
	add(c *contents) error
	schema() (*batch.Schema, error)
}

type csvInference struct {
	csv.Inference
	opts *Options
}

func (in *csvInference) add(c *contents) error {
	data, size, release, err := in.opts.openText(c)
	if err != nil {
		return err
	}
	defer release()
	opts := in.opts.CSV
	opts.SizeHint = size
	return csv.Infer(data, opts, &in.Inference)
}

func (in *csvInference) schema() (*batch.Schema, error) { return in.Schema(), nil }

type jsonInference struct {
	json.Inference
	opts *Options
}

func (in *jsonInference) add(c *contents) error {
	data, size, release, err := in.opts.openText(c)
	if err != nil {
		return err
	}
	defer release()
	opts := in.opts.JSON
	opts.SizeHint = size
	return json.Infer(data, opts, &in.Inference)
}

func (in *jsonInference) schema() (*batch.Schema, error) { return in.Schema() }

// textInference knows the column without looking.
type textInference struct{}

func (textInference) add(*contents) error { return nil }

func (textInference) schema() (*batch.Schema, error) {
	return batch.NewSchema(batch.Field{Name: text.Column, Type: batch.Type{Kind: batch.String}, Nullable: true}), nil
}

func (o *Options) newInference() inference {
	fileBytes := int64(inferFileBytes)
	if o.whole {
		fileBytes = 0
	}
	switch o.Format {
	case "json":
		return &jsonInference{json.Inference{MaxBytes: fileBytes}, o}
	case "parquet":
		return &parquetInference{}
	case "text":
		return textInference{}
	}
	return &csvInference{csv.Inference{MaxBytes: fileBytes}, o}
}
