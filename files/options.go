package files

import (
	"errors"
	"lakesql/format/csv"
)

// RowError is one malformed record of a source file.
type RowError = csv.RowError

// Options are the named arguments of read_files that say how files are found and read. Make them with ParseOptions.
type Options struct {
	Format string // lower case
	CSV    csv.Options
	// IncludeExistingFiles says whether a stream's first listing counts; looked at only on the first start.
	IncludeExistingFiles bool
	// MaxFilesPerTrigger and MaxBytesPerTrigger bound a batch; 0: not given.
	MaxFilesPerTrigger int
	MaxBytesPerTrigger int64
	// InferColumnTypes false makes every inferred column a string.
	InferColumnTypes bool
}

// ParseOptions reads named arguments: Spark's and Auto Loader's names in any case, with or without "cloudFiles.".
func ParseOptions(args map[string]string) (*Options, error) { return nil, errors.ErrUnsupported }
