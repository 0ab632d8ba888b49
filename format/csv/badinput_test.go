package csv

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/batch"
	"lakesql/format"
)

// TestHeaderOfOtherFiles: what begins as a compressed or a Parquet file must not become columns.
func TestHeaderOfOtherFiles(t *testing.T) {
	opts := DefaultOptions()
	opts.Header = true
	for _, head := range []string{"\x1f\x8b\x08\x00\x00\n1", "PK\x03\x04x\n", "i\x00d\x00,\x00n\x00\n\x00", "id,\x00\n1,2\n", "id,\x7f\n"} {
		_, err := headerOf(head, opts)
		var bad *format.Error
		require.ErrorAs(t, err, &bad, "%q", head)
		require.ErrorContains(t, err, "is this a CSV file?")
		opts := opts
		opts.Header = false
		_, err = headerOf(head, opts)
		require.NoError(t, err, "without a header it is data")
	}
	names, err := headerOf("Gr\xf6\xdfe,\tb\n", opts)
	require.NoError(t, err, "another encoding is not")
	require.Equal(t, []string{"Gr\uFFFD\uFFFDe", "\tb"}, names)
}

// TestNumberThatDoesNotFit is told apart from a text.
func TestNumberThatDoesNotFit(t *testing.T) {
	opts := DefaultOptions()
	for text, want := range map[string]string{
		"3000000000": `"3000000000" does not fit into integer`, "-99999999999999999999999": "does not fit into integer",
		"x": `"x" is no integer`, "1e9": "is no integer", "--5": "is no integer", "+": "is no integer",
	} {
		var got []format.RowError
		opts := opts
		opts.OnError = func(e format.RowError) { got = append(got, e) }
		r, err := NewReader(strings.NewReader(text+"\n"), batch.NewSchema(batch.Field{Name: "a", Type: batch.Type{Kind: batch.Int32}, Nullable: true}), opts)
		require.NoError(t, err)
		_, err = r.Next()
		require.NoError(t, err)
		require.Len(t, got, 1, text)
		require.Contains(t, got[0].Message, want)
	}
}
