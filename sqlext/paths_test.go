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
	isPath := func(argument string) bool { return argument == "place" || argument == "cleanSource.moveDestination" }
	out, err := ResolveStreamPaths("SELECT 'STREAM read_files(''x'')', stream FROM STREAM read_files('a''b', header => 'in') -- STREAM read_files('c')\n"+
		"UNION ALL SELECT * FROM STREAM(read_files(\"d\")) UNION ALL SELECT * FROM STREAM read_files(?), read_files('static')", isPath, absolute)
	require.NoError(t, err)
	require.Equal(t, "SELECT 'STREAM read_files(''x'')', stream FROM STREAM read_files('file:///a''b', header => 'in') -- STREAM read_files('c')\n"+
		"UNION ALL SELECT * FROM STREAM(read_files('file:///d')) UNION ALL SELECT * FROM STREAM read_files(?), read_files('static')", out)
	_, err = ResolveStreamPaths("SELECT * FROM STREAM read_files('out')", isPath, absolute)
	require.EqualError(t, err, "outside")
	out, err = ResolveStreamPaths("SELECT * FROM STREAM delta.`a b` UNION ALL SELECT * FROM STREAM(delta.`c`, x => 1) JOIN delta.`d` UNION ALL SELECT * FROM STREAM delta.t", isPath, absolute)
	require.NoError(t, err)
	require.Equal(t, "SELECT * FROM STREAM delta.`file:///a b` UNION ALL SELECT * FROM STREAM(delta.`file:///c`, x => 1) JOIN delta.`d` UNION ALL SELECT * FROM STREAM delta.t", out)
	out, err = ResolveStreamPaths("SELECT * FROM STREAM(read_files('a', header => 'b', cleanSource.moveDestination => 'c', 'place' = \"d\", schema => 'e INT, f INT', place => ?)) WHERE place = 'g'", isPath, absolute)
	require.NoError(t, err)
	require.Equal(t, "SELECT * FROM STREAM(read_files('file:///a', header => 'b', cleanSource.moveDestination => 'file:///c', 'place' = 'file:///d', schema => 'e INT, f INT', place => ?)) WHERE place = 'g'", out)
	_, err = ResolveStreamPaths("SELECT * FROM STREAM read_files('a', place => 'out')", isPath, absolute)
	require.EqualError(t, err, "option place: outside")
}

func TestParams(t *testing.T) {
	require.Equal(t, 2, Params("SELECT ?, '?', `?` FROM t WHERE a = ? -- ?\n; SELECT ?"))
}
