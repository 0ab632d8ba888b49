package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"lakesql/store"
)

const (
	// certificateFile and keyFile are what the server makes for itself, under MySQL's names.
	certificateFile = "server-cert.pem"
	keyFile         = "server-key.pem"
	// certificateAge is how long such a certificate is good: MySQL's ten years.
	certificateAge = 10 * 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is made anew, at the next start.
	renewBefore = 30 * 24 * time.Hour
)

// TLSFiles says what the server proves itself with, and whom it believes.
type TLSFiles struct {
	Folder    string // where the server's own certificate is kept, and made when it is missing or ends soon
	Cert, Key string // PEM files to use instead; both or none
	CA        string // PEM file of the authorities that vouch for clients' certificates; "": none is asked for
}

// Config reads the files. Connections speak TLS 1.2 or newer.
func (f TLSFiles) Config() (*tls.Config, error) {
	if (f.Cert == "") != (f.Key == "") {
		return nil, errors.New("--ssl-cert and --ssl-key go together: give both, or none for the server's own")
	}
	cert, key := f.Cert, f.Key
	if cert == "" {
		cert, key = filepath.Join(f.Folder, certificateFile), filepath.Join(f.Folder, keyFile)
		if err := keepCertificate(cert, key, time.Now()); err != nil {
			return nil, fmt.Errorf("make the server's certificate: %w", err)
		}
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate %s and its key %s: %w", cert, key, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, fmt.Errorf("read --ssl-ca: %w", err)
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.VerifyClientCertIfGiven
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--ssl-ca %s has no certificate in PEM form", f.CA)
		}
	}
	return config, nil
}

// keepCertificate makes a certificate unless there is one that is good for a while. One that is damaged is an error, not made anew: clients
// may trust it by its very bytes. Servers that start on one folder at once agree on the key, and then any certificate of it will do.
func keepCertificate(certPath, keyPath string, now time.Time) error {
	key, err := keepKey(keyPath)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(certPath)
	if errors.Is(err, fs.ErrNotExist) {
		return makeCertificate(certPath, key, now)
	}
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s has no PEM block: put a copy of it back, or delete it to have a new one", certPath)
	}
	have, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return fmt.Errorf("%s: %w", certPath, err)
	}
	if pub, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !pub.Equal(have.PublicKey) {
		return fmt.Errorf("%s is of another key than %s: put a copy of the one that is wrong back, or delete %[1]s to have a new one", certPath, keyPath)
	}
	if have.NotAfter.Sub(now) < renewBefore {
		return makeCertificate(certPath, key, now)
	}
	return nil
}

// keepKey reads the key, which is made when it is missing. Of several that are made at once the first stays.
func keepKey(path string) (crypto.Signer, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, err
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no PEM block: put a copy of it back, or delete it and %s to have new ones", path, certificateFile)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("%s has a key of type %T, which cannot sign", path, key)
	}
	return signer, nil
}

func makeKey(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return store.WriteOwnFile(path, 0o600, true, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// makeCertificate signs a certificate for the names of this machine with its own key. A client that has a copy of the file can take it
// for the authority.
func makeCertificate(path string, key crypto.Signer, now time.Time) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = localhost
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: host, Organization: []string{"lakesql, made by itself"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateAge), // clocks differ
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
		DNSNames: []string{localhost, host}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	return store.WriteOwnFile(path, 0o644, false, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
}
