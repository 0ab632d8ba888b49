package server

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServersThatStartAtOnceHaveOneKey(t *testing.T) {
	files := TLSFiles{Folder: t.TempDir()}
	var starts sync.WaitGroup
	for range 8 {
		starts.Go(func() {
			if _, err := files.Config(); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	entries, err := os.ReadDir(files.Folder)
	require.NoError(t, err)
	require.Len(t, entries, 2, "nothing is left over")
	info, err := os.Stat(filepath.Join(files.Folder, keyFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

func TestACertificateIsKeptUntilItEndsSoon(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile)
	read := func() (c, k string) {
		a, err := os.ReadFile(cert)
		require.NoError(t, err)
		b, err := os.ReadFile(key)
		require.NoError(t, err)
		return string(a), string(b)
	}
	now := time.Now()
	require.NoError(t, keepCertificate(cert, key, now))
	firstCert, firstKey := read()
	require.NoError(t, keepCertificate(cert, key, now.Add(certificateAge-2*renewBefore)))
	c, _ := read()
	require.Equal(t, firstCert, c)
	require.NoError(t, keepCertificate(cert, key, now.Add(certificateAge-renewBefore/2)))
	c, k := read()
	require.NotEqual(t, firstCert, c)
	require.Equal(t, firstKey, k)
	_, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(cert, nil, 0o600))
	require.ErrorContains(t, keepCertificate(cert, key, now), "no PEM block")
}

func TestACertificateOfAnotherKeyIsNamed(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, certificateFile), filepath.Join(dir, keyFile)
	require.NoError(t, keepCertificate(cert, key, time.Now()))
	require.NoError(t, os.Remove(key))
	err := keepCertificate(cert, key, time.Now())
	require.ErrorContains(t, err, "is of another key than "+key)
	require.ErrorContains(t, err, "delete "+cert)
	require.NoError(t, os.Remove(cert))
	require.NoError(t, keepCertificate(cert, key, time.Now()))
}

func TestHostsOfAccounts(t *testing.T) {
	for _, c := range []struct {
		pattern, address string
		local, matches   bool
	}{
		{"%", "10.1.2.3", false, true}, {"localhost", "localhost", true, true}, {"localhost", "10.1.2.3", false, false}, {"10.1.%", "10.1.2.3", false, true},
		{"10.1.%", "10.10.2.3", false, false}, {"10.1.2.3", "10.1.2.3", false, true}, {"10.0.0.0/8", "10.1.2.3", false, true}, {"10.0.0.0/8", "11.1.2.3", false, false},
		{"10.1.2._", "10.1.2.3", false, false}, {"10.1.%._", "10.1.2.3", false, true}, {"%.3", "10.1.2.3", false, true}, {"", "10.1.2.3", false, false},
	} {
		require.Equal(t, c.matches, matchesHost(c.pattern, c.address, c.local), "%+v", c)
	}
	order := []string{"%", "10.%", "10.1.%", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3"}
	for i := 1; i < len(order); i++ {
		require.Less(t, says(order[i-1]), says(order[i]), order[i])
	}
}
