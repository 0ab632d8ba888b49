package sqlext

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolveStreamPaths(t *testing.T) {
	absolute := func(path string) (string, error) {
		if path == "out" {
			return "", errors.New("outside")
		}
		return "file:///" + path, nil
	}
	out, err := ResolveStreamPaths("SELECT 'STREAM read_files(''x'')', stream FROM STREAM read_files('a''b', header => 'in') -- STREAM read_files('c')\n"+
		"UNION ALL SELECT * FROM STREAM(read_files(\"d\")) UNION ALL SELECT * FROM STREAM read_files(?), read_files('static')", absolute)
	require.NoError(t, err)
	require.Equal(t, "SELECT 'STREAM read_files(''x'')', stream FROM STREAM read_files('file:///a''b', header => 'in') -- STREAM read_files('c')\n"+
		"UNION ALL SELECT * FROM STREAM(read_files('file:///d')) UNION ALL SELECT * FROM STREAM read_files(?), read_files('static')", out)
	_, err = ResolveStreamPaths("SELECT * FROM STREAM read_files('out')", absolute)
	require.EqualError(t, err, "outside")
}

func TestParams(t *testing.T) {
	require.Equal(t, 2, Params("SELECT ?, '?', `?` FROM t WHERE a = ? -- ?\n; SELECT ?"))
}
