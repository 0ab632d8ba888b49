package files

import "time"

// File is one source file as a listing saw it.
type File struct {
	URI     string // absolute, encoded as java.net.URI does: the key by which streams know a file
	Size    int64  // bytes
	ModTime time.Time
	ETag    string // as the store gives it; "" where it has none
}
