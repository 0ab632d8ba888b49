package stream

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

type ctx = context.Context

var rewrite = flag.Bool("rewrite", false, "write the golden files of testdata anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got), -rewrite writes it anew:\n%s", path, diff)
	}
}

// offsetsWritten is how many durable operations a first run needs until offsets/0 is there: see TestDurableOperations.
const offsetsWritten = 9

// sourceLine is a plain entry of Spark's source log.
func sourceLine(uri string, modTime time.Time, batch int64) string {
	return fmt.Sprintf("v1\n{\"path\":%q,\"timestamp\":%d,\"batchId\":%d}", uri, modTime.UnixMilli(), batch)
}

// gzipped is a header and n times the line behind it.
func gzipped(t *testing.T, text string, n int) []byte {
	t.Helper()
	header, line, _ := strings.Cut(text, "\n")
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(header + "\n"))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		_, err = fmt.Fprintf(w, "%d%s", rng.IntN(1000), line[1:])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}
