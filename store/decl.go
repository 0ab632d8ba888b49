package store

import (
	"context"
	"errors"
	"iter"
)

var errNotBuilt = errors.New("store: not built yet")

type Local struct{ Store }

func NewLocal(dir string) (*Local, error)                          { return nil, errNotBuilt }
func (l *Local) MakeRoot(ctx context.Context) error                { return errNotBuilt }
func (l *Local) Rename(ctx context.Context, from, to string) error { return errNotBuilt }
func (l *Local) Map(ctx context.Context, key string) ([]byte, func(), error) {
	return nil, nil, errNotBuilt
}

type Memory struct{ Store }

func NewMemory(uri string) *Memory                                  { panic(errNotBuilt) }
func (m *Memory) Clone() *Memory                                    { panic(errNotBuilt) }
func (m *Memory) MakeRoot(ctx context.Context) error                { return errNotBuilt }
func (m *Memory) Rename(ctx context.Context, from, to string) error { return errNotBuilt }
func (m *Memory) Map(ctx context.Context, key string) ([]byte, func(), error) {
	return nil, nil, errNotBuilt
}

func Open(uri string) (Store, error)                                 { return nil, errNotBuilt }
func Sub(s Store, prefix string) Store                               { panic(errNotBuilt) }
func ObjectURI(s Store, key string) string                           { panic(errNotBuilt) }
func FileURI(absPath string) string                                  { panic(errNotBuilt) }
func ParseFileURI(uri string) (absPath string, err error)            { return "", errNotBuilt }
func DeletePrefix(ctx context.Context, s Store, prefix string) error { return errNotBuilt }

type Fence struct{ roots []string }

func NewFence(base string, roots ...string) (*Fence, error)       { return nil, errNotBuilt }
func (f *Fence) Resolve(pathOrURI string) (uri string, err error) { return "", errNotBuilt }
func (f *Fence) Check(uri string) error                           { return errNotBuilt }
func (f *Fence) Roots() []string                                  { return f.roots }

// OutsideError says that a statement named a path that it may not reach.
type OutsideError struct {
	Path  string
	Roots []string
}

func (e *OutsideError) Error() string { return "outside: " + e.Path }

var _ iter.Seq2[Info, error]
