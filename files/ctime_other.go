//go:build !linux

package files

import (
	"io/fs"
	"time"
)

// changeTime is not known here: the modification time has to do.
func changeTime(fs.FileInfo) time.Time { return time.Time{} }

// folderVersion is not known here: folders are listed each time.
func folderVersion(string) (time.Time, bool) { return time.Time{}, false }
