package version

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnUnknownBuildIsDev(t *testing.T) { require.Equal(t, unknown, String()) }

// The Makefile gives the linker the name of a variable, which nothing else checks.
func TestTheLinkerSetsTheVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	bin := filepath.Join(t.TempDir(), "lakesql")
	build := exec.Command("go", "build", "-tags", "gms_pure_go", "-ldflags", "-X lakesql/version.linked=v9.8.7", "-o", bin, "../cmd/lakesql")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	out, err = exec.Command(bin, "version").Output()
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(out), "lakesql v9.8.7\n"), string(out))
}
