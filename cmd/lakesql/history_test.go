package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheHistoryHasNoPasswords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	h := openHistory(file)
	for _, line := range []string{"SELECT 1;", "ALTER USER ann IDENTIFIED BY 'pw';", "SET PASSWORD TO 'pw';", "SELECT 2;"} {
		_, err := h.Write(line)
		require.NoError(t, err)
	}
	again := openHistory(file)
	require.Equal(t, 2, again.Len())
	last, err := again.GetLine(1)
	require.NoError(t, err)
	require.Equal(t, "SELECT 2;", last)
}
