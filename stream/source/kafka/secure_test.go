package kafka

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"

	"lakesql/checkpoint"
	"lakesql/store"
	"lakesql/stream/source"
)

// certificate makes a self-signed one for a name; "" is for 127.0.0.1.
func certificate(t *testing.T, name string) (tls.Certificate, string, string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if name == "" {
		template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	chain := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	private := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	pair, err := tls.X509KeyPair([]byte(chain), []byte(private))
	require.NoError(t, err)
	return pair, chain, private
}

// TestSecurity connects to brokers (kfake) with TLS, certificates of clients and SASL.
func TestSecurity(t *testing.T) {
	server, serverChain, _ := certificate(t, "")
	foreign, foreignChain, _ := certificate(t, "elsewhere")
	client, clientChain, clientKey := certificate(t, "client")
	clients := x509.NewCertPool()
	clients.AddCert(client.Leaf)
	secrets := map[string]string{"file:ca": serverChain, "file:key": clientKey, "env:LAKESQL_SECRET_P": "right", "env:LAKESQL_SECRET_W": "wrong",
		"file:jaas": `org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="right";`}
	asking := &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	for _, c := range []struct {
		name    string
		brokers []kfake.Opt
		props   string
		want    string // in the error; "": it works
	}{
		{"tls", []kfake.Opt{kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server}})}, "security.protocol=SSL;ssl.truststore.certificates=file:ca", ""},
		{"unknown authority", []kfake.Opt{kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server}})}, "security.protocol=SSL", "certificate"},
		{"other name", []kfake.Opt{kfake.TLS(&tls.Config{Certificates: []tls.Certificate{foreign}})}, "security.protocol=SSL;ssl.truststore.certificates=" + foreignChain, "certificate"},
		{"other name allowed", []kfake.Opt{kfake.TLS(&tls.Config{Certificates: []tls.Certificate{foreign}})},
			"security.protocol=SSL;ssl.endpoint.identification.algorithm=;ssl.truststore.certificates=" + foreignChain, ""},
		{"other name allowed, unknown authority", []kfake.Opt{kfake.TLS(&tls.Config{Certificates: []tls.Certificate{foreign}})},
			"security.protocol=SSL;ssl.endpoint.identification.algorithm=;ssl.truststore.certificates=file:ca", "certificate"},
		{"client", []kfake.Opt{kfake.TLS(asking)}, "security.protocol=SSL;ssl.truststore.certificates=file:ca;ssl.keystore.key=file:key;ssl.keystore.certificate.chain=" + clientChain, ""},
		{"no client", []kfake.Opt{kfake.TLS(asking)}, "security.protocol=SSL;ssl.truststore.certificates=file:ca", "certificate"},
		{"plain", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right")}, "security.protocol=SASL_PLAINTEXT;sasl.username=u;sasl.password=env:LAKESQL_SECRET_P", ""},
		{"scram", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "u", "right")}, "security.protocol=SASL_PLAINTEXT;sasl.mechanism=SCRAM-SHA-256;sasl.jaas.config=file:jaas", ""},
		{"scram 512 over tls", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-512", "u", "right"), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{server}})},
			"security.protocol=SASL_SSL;sasl.mechanism=SCRAM-SHA-512;sasl.jaas.config=file:jaas;ssl.truststore.certificates=file:ca", ""},
		{"wrong password", []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "right")}, "security.protocol=SASL_PLAINTEXT;sasl.username=u;sasl.password=env:LAKESQL_SECRET_W", "EOF"}, // kfake hangs up; a real broker says why
	} {
		t.Run(c.name, func(t *testing.T) {
			brokers, err := kfake.NewCluster(append(c.brokers, kfake.NumBrokers(1), kfake.SeedTopics(1, topic))...)
			require.NoError(t, err)
			defer brokers.Close()
			options := map[string]string{Brokers: strings.Join(brokers.ListenAddrs(), ","), "topic": topic}
			for pair := range strings.SplitSeq(c.props, ";") {
				name, value, _ := strings.Cut(pair, "=")
				options["kafka."+name] = value
			}
			cp, err := checkpoint.Create(t.Context(), store.NewMemory("mem://checkpoint"))
			require.NoError(t, err)
			src, err := Open(t.Context(), source.Spec{Options: options}, source.Env{Checkpoint: cp, Now: time.Now, Secret: func(ref string) (string, error) {
				if text, ok := secrets[ref]; ok {
					return text, nil
				}
				return "", errors.New("no such secret")
			}})
			require.NoError(t, err)
			defer src.Close()
			_, _, err = src.Latest(t.Context(), source.None, source.Limit{})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "wrong password")
			require.NotErrorIs(t, err, source.ErrChanged)
		})
	}
}
