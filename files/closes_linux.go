package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// closeTracker hears of files that are made, closed after writing, and renamed in. fsnotify, which works everywhere, does
// not tell of the second and mixes up the first and third; inotify does.
type closeTracker struct {
	notifier *Notifier
	file     *os.File // of the inotify instance; its reads wait in the runtime's poller

	mu      sync.Mutex
	folders map[int32]string
	handles map[string]int32
}

// trackedEvents of a folder's entries.
const trackedEvents = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_ONLYDIR

// newCloseTracker makes one that tells the notifier of each file it sees.
func newCloseTracker(n *Notifier) (*closeTracker, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	return &closeTracker{
		notifier: n, file: os.NewFile(uintptr(fd), "inotify"),
		folders: map[int32]string{}, handles: map[string]int32{},
	}, nil
}

// close ends run.
func (t *closeTracker) close() error { return t.file.Close() }

// control runs f with the instance's descriptor, which is not closed meanwhile.
func (t *closeTracker) control(f func(fd int)) error {
	raw, err := t.file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

func (t *closeTracker) add(folder string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var watchErr error
	err := t.control(func(fd int) {
		var wd int
		if wd, watchErr = unix.InotifyAddWatch(fd, folder, trackedEvents); watchErr == nil {
			t.folders[int32(wd)], t.handles[folder] = folder, int32(wd)
		}
	})
	if watchErr != nil {
		return &os.PathError{Op: "watch", Path: folder, Err: watchErr}
	}
	return err
}

// remove ends a folder's watch; one whose folder is gone has ended by itself.
func (t *closeTracker) remove(folder string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wd, ok := t.handles[folder]
	if !ok {
		return
	}
	delete(t.handles, folder)
	delete(t.folders, wd)
	_ = t.control(func(fd int) { _, _ = unix.InotifyRmWatch(fd, uint32(wd)) })
}

func (t *closeTracker) run() {
	buf := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buf)
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			t.notifier.lost()
			return // the listing goes on without it
		}
		for folder, list := range t.events(buf[:n]) {
			t.notifier.inTurn(folder, func() { t.look(folder, list) })
		}
	}
}

// closeEvent is what happened to a name in a folder.
type closeEvent struct {
	mask uint32
	name string
}

// events reads a buffer of struct inotify_event (inotify(7)): wd, mask, cookie, len, and a name padded with NUL. It returns what is to be looked at, by folder.
func (t *closeTracker) events(buf []byte) map[string][]closeEvent {
	out := map[string][]closeEvent{}
	for len(buf) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[12:]))
		if end > len(buf) {
			break
		}
		name, _, _ := bytes.Cut(buf[unix.SizeofInotifyEvent:end], []byte{0})
		if folder := t.folderOf(wd, mask); folder != "" && len(name) > 0 && mask&unix.IN_ISDIR == 0 && !hidden(string(name)) {
			out[folder] = append(out[folder], closeEvent{mask, string(name)})
		}
		buf = buf[end:]
	}
	return out
}

// folderOf is the folder of an event; "" where it is none that is watched.
func (t *closeTracker) folderOf(wd int32, mask uint32) string {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		t.notifier.lost()
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	folder := t.folders[wd]
	if mask&unix.IN_IGNORED != 0 {
		delete(t.folders, wd)
		if t.handles[folder] == wd {
			delete(t.handles, folder)
		}
	}
	return folder
}

// look tells what became of the files, and gives each watcher one hint.
func (t *closeTracker) look(folder string, list []closeEvent) {
	hints := map[*Watcher]bool{}
	for _, e := range list {
		for _, w := range t.event(folder, e) {
			hints[w] = true
		}
	}
	for w := range hints {
		w.hint()
	}
}

// event tells what became of one file. It returns who is to look.
func (t *closeTracker) event(folder string, e closeEvent) (hint []*Watcher) {
	path := filepath.Join(folder, e.name)
	if e.mask&unix.IN_CREATE != 0 {
		if !hasLinks(path) {
			t.notifier.saw(folder, path, note{})
		}
		return nil
	}
	info, err := t.notifier.stat(path)
	if err != nil {
		return t.notifier.of(folder, false) // gone again, or a link to nothing: the listing tells
	}
	return t.notifier.saw(folder, path, note{closed: true, size: info.Size(), modTime: info.ModTime()})
}

// hasLinks says whether a new name is one of several of its file: then it was linked, and nobody need have it open.
func hasLinks(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Nlink > 1
}
