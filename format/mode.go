package format

// Mode decides what happens to a record that is malformed as a whole or has a field that does not convert.
type Mode uint8

// The modes, with Spark's names.
const (
	Permissive    Mode = iota // keep the row, the bad fields are NULL
	DropMalformed             // leave the row out
	FailFast                  // stop with a *RecordError
)
