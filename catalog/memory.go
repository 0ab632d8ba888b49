package catalog

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"lakesql/catalog/compile"
	"lakesql/vector"
)

// Memory bounds what SELECTs hold. A zero is the default.
type Memory struct {
	All        int64  // bytes of all statements together: half of the machine's
	Query      int64  // bytes of one statement: half of All. The session variable lakesql_query_memory goes before it
	SpillLimit int64  // bytes that all statements together have on disk: defaultSpillLimit
	SpillDir   string // where: the folder spill in the server's own one; without such, that for temporary files
}

const (
	// defaultSpillLimit is more than what statements mostly need, and less than most disks have.
	defaultSpillLimit = 64 << 30
	// unknownMemory is that of a machine that does not tell.
	unknownMemory = 8 << 30
	// leastQueryMemory is what a statement gets, whatever it is told: below that it would do nothing but write and read files.
	leastQueryMemory = 4 << 20
)

// complete puts the defaults in.
func (m Memory) complete(dataDir string) Memory {
	if m.All == 0 {
		m.All = machineMemory() / 2
	}
	if m.Query == 0 {
		m.Query = m.All / 2
	}
	if m.SpillLimit == 0 {
		m.SpillLimit = defaultSpillLimit
	}
	switch {
	case m.SpillDir != "":
	case dataDir != "":
		m.SpillDir = filepath.Join(dataDir, "spill")
	default:
		m.SpillDir = os.TempDir()
	}
	return m
}

// MemoryUse is how many bytes all statements and the batches of streams hold, and how many they may.
func (c *Catalog) MemoryUse() (used, limit int64) { return c.memory.Use() }

// Budget is the memory of all statements.
func (c *Catalog) Budget() *vector.Budget { return c.memory }

// SpillSpace is where statements put what does not fit in memory.
func (c *Catalog) SpillSpace() *vector.SpillSpace { return c.memory.Space() }

// budget is that of all statements.
func (m Memory) budget() (*vector.Budget, error) {
	space, err := vector.NewSpillSpace(m.SpillDir, m.SpillLimit)
	if err != nil {
		return nil, err
	}
	return vector.NewBudget(m.All, space), nil
}

// machineMemory is how many bytes of memory this process can have: the machine's, or what its control group may use.
func machineMemory() int64 {
	least := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 && string(fields[0]) == "MemTotal:" {
			if kib, err := strconv.ParseInt(string(fields[1]), 10, 64); err == nil {
				least = kib << 10
			}
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil { // "max": no limit
		if limit, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64); err == nil {
			least = min(least, limit)
		}
	}
	if least == math.MaxInt64 {
		return unknownMemory
	}
	return least
}

var _ compile.Rationed = (*session)(nil)

// StatementBudget is that of the statement that the session runs. It is the same for all of its parts.
func (s *session) StatementBudget(ctx *sql.Context) *vector.Budget {
	if s.budget == nil {
		limit := s.memory.Query
		if v, err := ctx.GetSessionVariable(ctx, compile.MemoryVariable); err == nil {
			if own, ok := v.(int64); ok && own > 0 {
				limit = own
			}
		}
		s.budget = s.allMemory.Child(max(limit, leastQueryMemory))
	}
	return s.budget
}
