package store

// LocalPath returns where on the disk an object is: an optional power for callers that watch folders, or need of a file what
// Info does not tell. Bytes are read through the store.
func (l *Local) LocalPath(key string) string { return l.path(key) }
