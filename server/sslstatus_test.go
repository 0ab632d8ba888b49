package server

import (
	"crypto/tls"
	"testing"

	gomysql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
)

func TestStatusTellsOfTLS(t *testing.T) {
	g := startGuarded(t)
	require.NoError(t, gomysql.RegisterTLSConfig("twelve", &tls.Config{
		InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
	}))
	defer gomysql.DeregisterTLSConfig("twelve")
	for params, want := range map[string][2]string{"tls=skip-verify": {"TLSv1.3", "^TLS_(AES|CHACHA20)"}, "tls=twelve": {"TLSv1.2", "^ECDHE-(RSA|ECDSA)-AES128-GCM-SHA256$"}, "tls=false": {"", "^$"}} {
		db := g.as("root", params)
		var name, version, cipher string
		require.NoError(t, db.QueryRow("SHOW SESSION STATUS LIKE 'Ssl_version'").Scan(&name, &version))
		require.NoError(t, db.QueryRow("SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher))
		require.Equal(t, want[0], version, params)
		require.Regexp(t, want[1], cipher, params)
	}
	require.Equal(t, "AES256-GCM-SHA384", cipherName(tls.TLS_RSA_WITH_AES_256_GCM_SHA384))
	require.Equal(t, "ECDHE-RSA-CHACHA20-POLY1305", cipherName(tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256))
	require.Equal(t, "ECDHE-ECDSA-AES128-SHA", cipherName(tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA))
}
