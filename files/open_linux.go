package files

import "golang.org/x/sys/unix"

// isOpenForWriting says whether some program has the file open for writing. It asks for a read lease and gives it back at once: the
// kernel grants none while there is a writer (fcntl(2), F_SETLEASE). Where it does not tell, as for files of other users and on
// file systems without leases, the answer is no.
func isOpenForWriting(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	}
	return err == unix.EAGAIN
}
