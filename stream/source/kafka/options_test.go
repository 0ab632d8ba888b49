package kafka

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/files"
)

func TestOptionsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, value, want string
	}{
		{"endingOffsets", "latest", "AVAILABLE NOW"}, {"kafka.group.id", "g", "the checkpoint has the offsets"}, {"groupIdPrefix", "g", "checkpoint"},
		{"minPartitions", "3", "clusters"}, {"kafka.max.poll.records", "3", "not known"}, {"maxOffsetPerTrigger", "3", "unknown option maxOffsetPerTrigger"},
		{"maxOffsetsPerTrigger", "0", "whole number"}, {"failOnDataLoss", "perhaps", "true or false"}, {"startingOffsets", "now", "earliest"},
		{"startingOffsets", `{"t":{"0":-3}}`, "-2 is the least"}, {"subscribePattern", "(", "regular expression"}, {"assign", `{"t":[0]}`, "one of"},
		{"schema", "id INT", "say format"}, {"format", "xml", "json, csv, text, avro and avro-confluent"}, {"kafka.auto.offset.reset", "latest", "startingOffsets"},
		{"startingTimestamp", "yesterday", "milliseconds"}, {"maxTriggerDelay", "soon", "'30s'"}, {"TOPIC", "x", "given twice"}, {"mode", "FAILFAST", "say format"},
		{"startingOffsetsByTimestampStrategy", "none", "error or latest"}, {"minOffsetsPerTrigger", "2000000", "is more than"},
		{"schemaRegistry", "http://x", "no registry is asked"}, {"kafka.key.deserializer", "x", "BINARY"}, {"format", "avro", "avroSchema => "},
	} {
		args := map[string]string{Brokers: "h:1", "topic": "t", c.name: c.value}
		_, err := parseOptions(args)
		require.ErrorContains(t, err, c.want, c.name)
		var argument *files.ArgumentError
		require.ErrorAs(t, err, &argument)
	}
	for _, args := range []map[string]string{{"topic": "t"}, {Brokers: "h:1"}, {Brokers: "h:1", "topic": " , "}} {
		_, err := parseOptions(args)
		require.Error(t, err)
	}
	_, err := parseOptions(map[string]string{Brokers: "h:1", "topic": "t", "format": "json", "sep": ";"})
	require.ErrorContains(t, err, "format => 'csv'")
	_, err = parseOptions(map[string]string{Brokers: "h:1", "topic": "t", "format": "json", "multiLine": "true"})
	require.ErrorContains(t, err, "unknown option multiLine")
}

func TestPropertiesAreRefused(t *testing.T) {
	secret := func(string) (string, error) { return "hidden", nil }
	for _, c := range []struct {
		props map[string]string
		want  string
	}{
		{map[string]string{"bootstrap.servers": "h"}, "host:port"}, {map[string]string{"bootstrap.servers": "PLAINTEXT://h:1"}, "host:port"},
		{map[string]string{"security.protocol": "TLS"}, "SASL_SSL"}, {map[string]string{"sasl.mechanism": "PLAIN"}, "does nothing"},
		{map[string]string{"security.protocol": "SASL_PLAINTEXT"}, "give a name"},
		{map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.username": "u", "sasl.password": "env:X", "sasl.mechanism": "GSSAPI"}, "SCRAM-SHA-512"},
		{map[string]string{"ssl.keystore.key": "file:x"}, "does nothing"},
		{map[string]string{"security.protocol": "SSL", "ssl.keystore.key": "file:x"}, "belong together"},
		{map[string]string{"security.protocol": "SSL", "ssl.truststore.type": "JKS"}, "PEM"},
		{map[string]string{"security.protocol": "SSL", "ssl.truststore.certificates": "no"}, "no certificate"},
		{map[string]string{"security.protocol": "SSL", "ssl.keystore.key": "file:x", "ssl.keystore.certificate.chain": "no"}, "do not fit"},
		{map[string]string{"isolation.level": "none"}, "read_committed"}, {map[string]string{"fetch.max.bytes": "-1"}, "whole number"},
	} {
		if c.props["bootstrap.servers"] == "" {
			c.props["bootstrap.servers"] = "h:1"
		}
		_, err := connect(c.props, secret)
		require.ErrorContains(t, err, c.want)
		require.NotContains(t, err.Error(), "hidden")
	}
}

func TestJAAS(t *testing.T) {
	for _, c := range []struct{ text, user, password string }{
		{`org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p\"q";`, "u", `p"q`},
		{"x required\n username=u\n password=p;", "u", "p"},
		{`x required password = "username=no" username = "u" ;`, "u", "username=no"},
		{`x required`, "", ""},
	} {
		require.Equal(t, c.user, jaasOption(c.text, "username"), c.text)
		require.Equal(t, c.password, jaasOption(c.text, "password"), c.text)
	}
}
