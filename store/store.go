package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors that callers test for with errors.Is. Implementations wrap them with the operation and the object's URI.
var (
	// ErrNotFound says that no object has that key.
	ErrNotFound = errors.New("not found")
	// ErrRootMissing says that the store's own root is gone. It is also an ErrNotFound. No operation makes a missing root:
	// a checkpoint or a table that somebody deleted must not come back as an empty one.
	ErrRootMissing error = rootMissingError{}
	// ErrExists says that a conditional put lost: an object with that key is there already.
	ErrExists = errors.New("already exists")
	// ErrAmbiguous says that the outcome of a put is unknown: the object may or may not be there. The caller reads it back.
	ErrAmbiguous = errors.New("outcome of the write is unknown")
)

type rootMissingError struct{}

func (rootMissingError) Error() string        { return "root folder is missing" }
func (rootMissingError) Is(target error) bool { return target == ErrNotFound }

// Info describes one object, or one common prefix of a listing with a delimiter.
type Info struct {
	Key     string    // relative to the root, slash-separated, decoded; a common prefix ends with the delimiter
	Size    int64     // bytes
	ModTime time.Time // as the store reports it
	ETag    string    // changes whenever the content may have changed; "" where the store has none
	Prefix  bool      // a common prefix, not an object
}

// Store is the only way to bytes: objects named by slash-separated keys below one root.
// Nothing that it writes is visible before it is durable. All methods may be called from several goroutines.
//
// A key is one or more names joined by "/"; a name is not empty, not "." or "..", holds no NUL byte, and does not look like
// a temporary file (".x.tmp"). Another key is refused with an error that is fs.ErrInvalid.
type Store interface {
	// URI is the root's absolute URI without a trailing slash, encoded as java.net.URI does: file:///data/in.
	URI() string
	// Get returns the whole object, or ErrNotFound.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetRange returns bytes [off, off+n); fewer only where the object ends. off beyond the end gives an empty slice.
	GetRange(ctx context.Context, key string, off, n int64) ([]byte, error)
	// Create begins a new object. It is visible, whole, only after Commit.
	Create(ctx context.Context, key string) (Writer, error)
	// PutIfAbsent writes the object if the key is free, else returns ErrExists and changes nothing. Of several callers,
	// in any number of processes, exactly one wins. Like Create and Commit it returns ErrRootMissing when the root is gone.
	PutIfAbsent(ctx context.Context, key string, data []byte) error
	// List yields the objects whose key begins with prefix and is greater than startAfter, in the order of their keys.
	// With a delimiter, those keys that have it behind the prefix are folded into one Info with Prefix set.
	// Temporary files of writers that have not committed are never listed. A missing root yields ErrRootMissing.
	List(ctx context.Context, prefix, startAfter, delimiter string) iter.Seq2[Info, error]
	// Stat returns the object's Info, or ErrNotFound.
	Stat(ctx context.Context, key string) (Info, error)
	// Delete removes the object; one that is not there is no error. The removal is durable when it returns.
	Delete(ctx context.Context, key string) error
}

// Writer receives the bytes of one new object. Exactly one of Commit and Abort must be called.
type Writer interface {
	io.Writer
	// Commit makes the object durable, then visible. With ifAbsent it returns ErrExists when the key is taken;
	// without it, it replaces what is there. After an error nothing is visible, unless it is ErrAmbiguous.
	Commit(ctx context.Context, ifAbsent bool) error
	// Abort drops what was written.
	Abort() error
}

// Mapper is an optional power: objects as read-only memory that stays valid until release is called.
type Mapper interface {
	Map(ctx context.Context, key string) (data []byte, release func(), err error)
}

// RangeReader is an optional power: GetRange into memory of the caller's. ReadRange uses it and says what it does.
type RangeReader interface {
	ReadRange(ctx context.Context, key string, off int64, p []byte) (int, error)
}

// NameLister is an optional power of stores that make a call for each Info of a listing. ListNames uses it and says what it does.
type NameLister interface {
	ListNames(ctx context.Context, folder, startAfter string) iter.Seq2[string, error]
}

// RootMaker is an optional power of stores whose root is a thing of its own, such as a folder.
type RootMaker interface {
	// MakeRoot makes the root and what is missing above it. An existing root is no error.
	MakeRoot(ctx context.Context) error
}

// Renamer is an optional power: moving everything below the folder fromPrefix to toPrefix in one step. An existing target is
// ErrExists, a missing source ErrNotFound. A trailing slash has no meaning.
type Renamer interface {
	Rename(ctx context.Context, fromPrefix, toPrefix string) error
}

// Syncer is an optional power of a Writer: making what was written so far durable ahead of Commit, which then has less to do.
type Syncer interface {
	Sync() error
}

// Subber is an optional power: a store of its own over the objects below a prefix. Sub uses it.
type Subber interface {
	Sub(prefix string) Store
}

// PrefixDeleter is an optional power of stores with folders. DeletePrefix uses it and says what it does.
type PrefixDeleter interface {
	DeletePrefix(ctx context.Context, prefix string) error
}

// KeysDeleter is an optional power of stores in which one wait makes many removals durable. DeleteKeys uses it and says what it does.
type KeysDeleter interface {
	DeleteKeys(ctx context.Context, keys []string) error
}

// LeftoverRemover is an optional power of stores whose writers leave something behind when their process dies. RemoveLeftovers uses it and says what it does.
type LeftoverRemover interface {
	RemoveLeftovers(ctx context.Context, prefix string, before time.Time) error
}

// Opener opens the store rooted at an absolute URI. It does not touch what is there.
type Opener func(uri string) (Store, error)
