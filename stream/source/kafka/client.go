package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// properties are the Kafka properties that are honoured, without "kafka." in front.
var properties = map[string]bool{
	"bootstrap.servers": true, "client.id": true, "client.rack": true, "isolation.level": true, "request.timeout.ms": true,
	"fetch.max.bytes": true, "max.partition.fetch.bytes": true, "check.crcs": true,
	"security.protocol": true, "sasl.mechanism": true, "sasl.jaas.config": true, "sasl.username": true, "sasl.password": true,
	"ssl.truststore.type": true, "ssl.truststore.certificates": true, "ssl.keystore.type": true, "ssl.keystore.certificate.chain": true,
	"ssl.keystore.key": true, "ssl.endpoint.identification.algorithm": true,
}

// Kafka's own defaults, but for fetchBytes, which is 50 MB there: the answers of several brokers, and the ones after them, are in
// memory together.
const (
	fetchBytes          = 16 << 20
	partitionFetchBytes = 1 << 20
	requestTimeout      = 30 * time.Second
)

// How long the client tries by itself: a stream that cannot reach its brokers has to say so soon, and tries again for ever.
const (
	dialTimeout    = 5 * time.Second
	requestRetries = 2
	retryPause     = 50 * time.Millisecond
)

// fetchVersion is the last version of a fetch that names topics and not their ids.
const fetchVersion = 12

const fetchKey = 1 // Kafka's number of the request

// connection is what the properties say of how to reach and ask the brokers.
type connection struct {
	client         []kgo.Opt
	committed      bool // isolation.level is read_committed
	timeout        time.Duration
	fetchBytes     int32
	partitionBytes int32
	rack           string
	skipCRC        bool
}

// secretReader reads what env:NAME or file:NAME stands for.
type secretReader func(reference string) (string, error)

// connect reads the properties. No error holds a secret.
func connect(props map[string]string, secret secretReader) (*connection, error) {
	c := &connection{timeout: requestTimeout, fetchBytes: fetchBytes, partitionBytes: partitionFetchBytes, rack: props["client.rack"]}
	p := &propertyReader{props: props, secret: secret}
	versions := kversion.Stable()
	versions.SetMaxKeyVersion(fetchKey, fetchVersion)
	c.client = append(c.client, kgo.SeedBrokers(p.brokers()...), kgo.MaxVersions(versions), kgo.DialTimeout(dialTimeout), kgo.RequestRetries(requestRetries),
		kgo.RetryBackoffFn(func(int) time.Duration { return retryPause }), kgo.MetadataMinAge(retryPause), kgo.DisableClientMetrics(), kgo.ClientID("lakesql"))
	if id := props["client.id"]; id != "" {
		c.client = append(c.client, kgo.ClientID(id))
	}
	switch level := p.oneOf("isolation.level", "read_uncommitted", "read_committed"); level {
	case "read_committed":
		c.committed = true
	}
	c.skipCRC = p.oneOf("check.crcs", "true", "false") == "false"
	c.fetchBytes = p.size("fetch.max.bytes", c.fetchBytes)
	c.partitionBytes = p.size("max.partition.fetch.bytes", c.partitionBytes)
	c.timeout = time.Duration(p.size("request.timeout.ms", int32(c.timeout/time.Millisecond))) * time.Millisecond
	protocol := p.oneOf("security.protocol", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
	if strings.HasSuffix(protocol, "SSL") {
		c.client = append(c.client, kgo.DialTLSConfig(p.tls()))
	} else {
		p.only("ssl.", "security.protocol => 'SSL' or 'SASL_SSL'")
	}
	if strings.HasPrefix(protocol, "SASL") {
		c.client = append(c.client, kgo.SASL(p.sasl()))
	} else {
		p.only("sasl.", "security.protocol => 'SASL_SSL' or 'SASL_PLAINTEXT'")
	}
	return c, p.err
}

// propertyReader reads properties and keeps the first error.
type propertyReader struct {
	props  map[string]string
	secret secretReader
	err    error
}

func (p *propertyReader) fail(name, format string, args ...any) {
	if p.err == nil {
		p.err = argumentError("option kafka."+name+": "+format, args...)
	}
}

func (p *propertyReader) brokers() []string {
	var out []string
	for b := range strings.SplitSeq(p.props["bootstrap.servers"], ",") {
		if b = strings.TrimSpace(b); b == "" {
			continue
		}
		at := strings.LastIndexByte(b, ':')
		if port, err := strconv.ParseUint(b[at+1:], 10, 16); at <= 0 || err != nil || port == 0 || strings.Contains(b, "/") {
			p.fail("bootstrap.servers", "%q is no broker: give host:port, and several with commas", b)
		}
		out = append(out, b)
	}
	if len(out) == 0 {
		p.fail("bootstrap.servers", "give host:port, and several with commas")
	}
	return out
}

// oneOf is the value of a property that has only these; the first is the default.
func (p *propertyReader) oneOf(name string, values ...string) string {
	given, ok := p.props[name]
	if !ok {
		return values[0]
	}
	for _, v := range values {
		if strings.EqualFold(given, v) {
			return v
		}
	}
	p.fail(name, "there are %s, and not %q", strings.Join(values, ", "), given)
	return values[0]
}

func (p *propertyReader) size(name string, or int32) int32 {
	given, ok := p.props[name]
	if !ok {
		return or
	}
	n, err := strconv.ParseInt(given, 10, 32)
	if err != nil || n <= 0 {
		p.fail(name, "%q is no whole number from 1 on", given)
		return or
	}
	return int32(n)
}

// only refuses properties that do nothing without another one.
func (p *propertyReader) only(prefix, needs string) {
	for name := range p.props {
		if strings.HasPrefix(name, prefix) {
			p.fail(name, "it does nothing without kafka.%s", needs)
		}
	}
}

// secretOf reads a property that may only name its secret; "" where it is not given.
func (p *propertyReader) secretOf(name string) string {
	given, ok := p.props[name]
	if !ok {
		return ""
	}
	if p.secret == nil {
		p.fail(name, "this server reads no secrets")
		return ""
	}
	text, err := p.secret(given)
	if err != nil {
		p.fail(name, "%w", err)
	}
	return text
}

// certificates reads PEM that is no secret: as it is written, or from a file of secrets.
func (p *propertyReader) certificates(name string) string {
	if text := p.props[name]; !strings.HasPrefix(text, "file:") && !strings.HasPrefix(text, "env:") {
		return text
	}
	return p.secretOf(name)
}

func (p *propertyReader) tls() *tls.Config {
	p.oneOf("ssl.truststore.type", "PEM")
	p.oneOf("ssl.keystore.type", "PEM")
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if text := p.certificates("ssl.truststore.certificates"); text != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(text)) {
			p.fail("ssl.truststore.certificates", "it holds no certificate as PEM")
		}
	}
	if algorithm, ok := p.props["ssl.endpoint.identification.algorithm"]; ok && !strings.EqualFold(algorithm, "https") {
		if algorithm != "" {
			p.fail("ssl.endpoint.identification.algorithm", "there are https, and '' for none")
		}
		config.InsecureSkipVerify = true // of the name alone: the chain is verified below
		roots := config.RootCAs
		config.VerifyConnection = func(s tls.ConnectionState) error { return verifyChain(s, roots) }
	}
	chain, key := p.certificates("ssl.keystore.certificate.chain"), p.secretOf("ssl.keystore.key")
	if (chain == "") != (key == "") {
		p.fail("ssl.keystore.key", "a certificate (kafka.ssl.keystore.certificate.chain) and its key belong together")
	}
	if chain != "" && key != "" {
		pair, err := tls.X509KeyPair([]byte(chain), []byte(key))
		if err != nil {
			p.fail("ssl.keystore.key", "certificate and key, as PEM, do not fit: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config
}

// verifyChain verifies a broker's certificate but for its name.
func verifyChain(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the broker has no certificate")
	}
	options := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
	for _, c := range s.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(options)
	return err
}

func (p *propertyReader) sasl() sasl.Mechanism {
	user, password := p.props["sasl.username"], p.secretOf("sasl.password")
	if jaas := p.secretOf("sasl.jaas.config"); jaas != "" {
		if user != "" || password != "" {
			p.fail("sasl.jaas.config", "it has name and password: leave kafka.sasl.username and kafka.sasl.password out")
		}
		user, password = jaasOption(jaas, "username"), jaasOption(jaas, "password")
	}
	if user == "" || password == "" {
		p.fail("sasl.username", "give a name, and kafka.sasl.password => 'env:LAKESQL_SECRET_NAME'; or kafka.sasl.jaas.config with both")
	}
	switch p.oneOf("sasl.mechanism", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512") {
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	return plain.Auth{User: user, Pass: password}.AsMechanism()
}

// jaasOption is an option of a login module, such as username of
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
func jaasOption(jaas, name string) string {
	for rest := jaas; ; {
		at := strings.Index(rest, name)
		if at < 0 {
			return ""
		}
		before, after := rest[:at], strings.TrimLeft(rest[at+len(name):], " \t\n")
		rest = rest[at+len(name):]
		if before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n") || !strings.HasPrefix(after, "=") {
			continue
		}
		return jaasValue(strings.TrimLeft(after[1:], " \t\n"))
	}
}

// jaasValue is a value with quotes, in which a backslash stands before a quote or another one; or a word.
func jaasValue(text string) string {
	if text == "" || text[0] != '"' {
		end := strings.IndexAny(text, " \t\n;")
		if end < 0 {
			end = len(text)
		}
		return text[:end]
	}
	var b strings.Builder
	for i := 1; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unreachable says which brokers could not be asked.
func unreachable(props map[string]string, what string, err error) error {
	return fmt.Errorf("%s of the Kafka brokers %s: %w", what, props["bootstrap.servers"], err)
}
