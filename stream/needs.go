package stream

import (
	"context"
	"time"

	"lakesql/batch"
	"lakesql/delta"
	"lakesql/stream/source"
	"lakesql/vector"
)

// Definitions keeps the definitions of streams: the catalog table. The manager is its only writer of streams, in this
// process; another server on the same lake may be another one.
type Definitions interface {
	List(ctx context.Context) ([]Definition, error)
	// Put adds the definition, or replaces the one of that name. It is durable when it returns.
	Put(ctx context.Context, d Definition) error
	// Delete removes the definition; one that is not there is no error.
	Delete(ctx context.Context, database, name string) error
}

// Targets opens the tables that streams write.
type Targets interface {
	Open(ctx context.Context, ref TargetRef) (Target, error)
}

// Target is a table that a stream writes, which may not exist yet.
type Target struct {
	Table  *delta.Table // the handle; its log may be missing when Exists is false
	Exists bool
	// Create makes the folder of a table that does not exist and registers the table where that is needed; the stream's
	// first batch then commits version 0 through Table. It may be called again after a crash.
	Create func(ctx context.Context) error
}

// Compiler turns a stream's SELECT into a pipeline.
type Compiler interface {
	// Sources returns the stream's sources in Spark's order: as the plan is walked from its root, left to right.
	Sources(ctx context.Context, d Definition) ([]source.Spec, error)
	// Compile plans the SELECT over inputs of these schemas, one for each source. Definition.Columns is the manager's
	// business, not the compiler's.
	Compile(ctx context.Context, d Definition, inputs []*batch.Schema) (Plan, error)
}

// Plan is a compiled SELECT. Run may be called any number of times, for one batch at a time.
type Plan interface {
	Schema() *batch.Schema
	// Run returns the rows of one batch. batchTime is what current_timestamp() gives, also when the batch is run again.
	// Each row of which the SELECT cannot compute a value goes to bad, with one error a value, and then by Definition.OnError
	// as a source's malformed row. Closing the operator closes the inputs.
	Run(ctx context.Context, inputs []vector.Operator, batchTime time.Time, bad func([]source.RowError)) (vector.Operator, error)
	// String is the plan for EXPLAIN, one operator a line.
	String() string
}
