package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/store"
	"lakesql/stream/source"
)

// schemaLocation keeps inferred schemas as Auto Loader does: each in a file <location>/_schemas/<n>, of which the newest counts.
type schemaLocation struct{ st store.Store }

// schemasFolder holds the files.
const schemasFolder = "_schemas/"

// schemaFile is what follows the line v1: schemas as Spark's JSON. Columns of key=value folders are with the others.
type schemaFile struct {
	Data       string `json:"dataSchemaJson"`
	Partitions string `json:"partitionSchemaJson"`
}

func openSchemaLocation(env source.Env, uri string) (*schemaLocation, error) {
	if env.Fence != nil {
		if err := env.Fence.Check(uri); err != nil {
			return nil, err
		}
	}
	st, err := env.Open(uri)
	if err != nil {
		return nil, fmt.Errorf("schemaLocation: %w", err)
	}
	return &schemaLocation{st}, nil
}

// newest is the number of the newest file, -1 where there is none.
func (l *schemaLocation) newest(ctx context.Context) (int64, error) {
	last := int64(-1)
	for info, err := range l.st.List(ctx, schemasFolder, "", "/") {
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return 0, fmt.Errorf("list the schemas of %s: %w", l.st.URI(), err)
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(info.Key, schemasFolder), 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

// load returns the newest schema; nil where there is none.
func (l *schemaLocation) load(ctx context.Context) (*batch.Schema, error) {
	last, err := l.newest(ctx)
	if err != nil || last < 0 {
		return nil, err
	}
	key := schemasFolder + strconv.FormatInt(last, 10)
	data, err := l.st.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read schema %s: %w", store.ObjectURI(l.st, key), err)
	}
	schema, err := parseSchemaFile(data)
	if err != nil {
		return nil, fmt.Errorf("schema %s: %w: take the file away, and the one before it counts", store.ObjectURI(l.st, key), err)
	}
	return schema, nil
}

func parseSchemaFile(data []byte) (*batch.Schema, error) {
	text, ok := strings.CutPrefix(string(data), "v1\n")
	if !ok {
		return nil, errors.New("it does not begin with the line v1")
	}
	var f schemaFile
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		return nil, err
	}
	schema, err := delta.ParseSchema(f.Data)
	if err != nil || f.Partitions == "" {
		return schema, err
	}
	partitions, err := delta.ParseSchema(f.Partitions)
	if err != nil {
		return nil, err
	}
	schema.Fields = append(schema.Fields, partitions.Fields...)
	return schema, nil
}

// save makes a schema the newest, durable when it returns.
func (l *schemaLocation) save(ctx context.Context, schema *batch.Schema) error {
	if m, ok := l.st.(store.RootMaker); ok {
		if err := m.MakeRoot(ctx); err != nil {
			return fmt.Errorf("keep the schema: %w", err)
		}
	}
	text, err := json.Marshal(schemaFile{Data: delta.FormatSchema(schema), Partitions: delta.FormatSchema(batch.NewSchema())})
	if err != nil {
		return fmt.Errorf("keep the schema: %w", err)
	}
	last, err := l.newest(ctx)
	if err != nil {
		return err
	}
	if err := l.st.PutIfAbsent(ctx, schemasFolder+strconv.FormatInt(last+1, 10), append([]byte("v1\n"), text...)); err != nil {
		return fmt.Errorf("keep the schema in %s: %w", l.st.URI(), err) // where another stream was quicker, the next attempt finds its schema
	}
	return nil
}
