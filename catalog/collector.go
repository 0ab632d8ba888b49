package catalog

import (
	"os"
	"runtime/debug"
)

// collectAt is how much garbage there may be to 100 bytes that are in use before the collector runs. Go's own 100 costs statements that hold little, which
// are most, a tenth of their time and more: each batch makes garbage, and a heap of some megabytes is collected many times a second.
const collectAt = 300

// TuneCollector has the garbage collector run seldom while the process holds little, and as often as it takes where it comes near the memory of all
// statements. It changes the whole process, so the program that serves calls it, once. GOGC and GOMEMLIMIT go before it.
func (m Memory) TuneCollector() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		all := m.complete("").All
		debug.SetMemoryLimit(all + all/4) // what no statement holds is a part of it
	}
}
