//go:build unix

package store

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// readWhole reads a file with four system calls, where os.ReadFile needs six: a log of many small commits waits for little else.
func readWhole(path string) ([]byte, error) {
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := uninterrupted(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fs.ErrNotExist
	}
	data := make([]byte, st.Size)
	for read := 0; read < len(data); {
		var n int
		err := uninterrupted(func() (err error) {
			n, err = unix.Read(fd, data[read:])
			return err
		})
		if err != nil {
			return nil, err
		}
		if n == 0 { // it has been cut since
			return data[:read], nil
		}
		read += n
	}
	return data, nil
}

// uninterrupted repeats a system call that a signal has interrupted.
func uninterrupted(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func fsyncDir(d *os.File) error { return d.Sync() }

// Map implements Mapper. The mapping does not depend on an open file or on a Go object that could be collected: it lives
// until release, which may be called more than once. A mapping that nobody releases stays for the life of the process.
func (l *Local) Map(ctx context.Context, key string) (data []byte, release func(), err error) {
	path, err := l.begin(ctx, key)
	if err != nil {
		return nil, nil, l.wrapRead("map", key, err)
	}
	f, err := openFile(path)
	if err != nil {
		return nil, nil, l.wrapRead("map", key, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, l.wrapRead("map", key, err)
	}
	if info.Size() == 0 {
		return []byte{}, func() {}, nil
	}
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, l.wrapRead("map", key, err)
	}
	var once sync.Once
	// Munmap fails only for an address that is not mapped, which once and the capture rule out.
	return mapped[:len(mapped):len(mapped)], func() { once.Do(func() { _ = unix.Munmap(mapped) }) }, nil
}
