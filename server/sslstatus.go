package server

import (
	"crypto/tls"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// setTLSStatus has the session's Ssl_version and Ssl_cipher say how its connection is encrypted.
func setTLSStatus(ctx *sql.Context, c *mysql.Conn) error {
	encrypted := front(c).security.conn
	if encrypted == nil {
		return nil
	}
	state := encrypted.ConnectionState()
	version := strings.Replace(tls.VersionName(state.Version), "TLS ", "TLSv", 1)
	if err := ctx.SetStatusVariable(ctx, "Ssl_version", version); err != nil {
		return err
	}
	return ctx.SetStatusVariable(ctx, "Ssl_cipher", cipherName(state.CipherSuite))
}

// cipherName is a cipher suite as OpenSSL, and so MySQL, calls it: those of TLS 1.3 as everybody does, of the others ECDHE-RSA-AES128-GCM-SHA256.
func cipherName(id uint16) string {
	name := tls.CipherSuiteName(id)
	exchange, cipher, old := strings.Cut(name, "_WITH_")
	if !old {
		return name
	}
	cipher = strings.NewReplacer("AES_128", "AES128", "AES_256", "AES256", "_CBC", "", "POLY1305_SHA256", "POLY1305").Replace(cipher)
	if exchange != "TLS_RSA" {
		cipher = strings.TrimPrefix(exchange, "TLS_") + "_" + cipher
	}
	return strings.ReplaceAll(cipher, "_", "-")
}
