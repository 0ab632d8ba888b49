package store

import (
	"os"
)

// ReplaceFile makes a local writer write to another file.
func ReplaceFile(w Writer, f *os.File) { w.(*localWriter).f = f }
