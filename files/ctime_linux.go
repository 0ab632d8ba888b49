package files

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// changeTime is when the file's inode changed last: by a write, and later by a rename, a link, or a change of its rights.
// Unlike the modification time nobody can set it.
func changeTime(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))
	}
	return time.Time{}
}

// localFileSystems are those whose change times come from this machine's clock. A network's may lag behind or be cached.
var localFileSystems = map[int64]bool{
	unix.EXT4_SUPER_MAGIC:      true,
	unix.XFS_SUPER_MAGIC:       true,
	unix.BTRFS_SUPER_MAGIC:     true,
	unix.TMPFS_MAGIC:           true,
	unix.OVERLAYFS_SUPER_MAGIC: true,
}

// folderVersion is the change time of a folder on a local file system: each entry made, renamed or removed moves it.
func folderVersion(path string) (time.Time, bool) {
	var fsys unix.Statfs_t
	if unix.Statfs(path, &fsys) != nil || !localFileSystems[int64(fsys.Type)] {
		return time.Time{}, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}, false
	}
	return changeTime(info), true
}
