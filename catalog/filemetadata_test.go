package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileMetadataIsNotYet(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id\n1\n")
	for _, query := range []string{
		"SELECT id, _metadata.file_path FROM read_files('./in', format => 'csv', header => true)",
		"SELECT f._metadata.file_path FROM read_files('./in', format => 'csv', header => true) AS f",
		"SELECT id FROM read_files('./in', format => 'csv', header => true) WHERE _metadata.file_size > 1",
		"CREATE TABLE t AS SELECT id, _metadata.file_path FROM read_files('./in', format => 'csv', header => true)",
		"CREATE STREAM s INTO t WITH CHECKPOINT './cp' AS SELECT id, _metadata.file_path" + castSource,
	} {
		_, err := l.c.engine.Parser.ParseSimple(query) // as the server does; GMS makes an error of a parser a syntax error
		if err == nil {
			_, err = l.try("%s", query)
		}
		var refused *Error
		require.ErrorAs(t, err, &refused, query)
		require.Equal(t, KindUnsupported, refused.Kind)
		require.Contains(t, refused.Message, "_metadata.file_")
	}
	l.exec("CREATE TABLE dim (id INT)", "SELECT _metadata.id FROM dim AS _metadata, read_files('./in', format => 'csv', header => true) f")
}
