package integration

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// TestDemo runs the first command of README: it compares each step with what it should give, and fails where one differs.
func TestDemo(t *testing.T) {
	t.Parallel()
	cmd := harness.Command("demo")
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "gave what they should")
}
