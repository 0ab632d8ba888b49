package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// fakeBrokers are brokers in this process (kfake), and a function that writes values to partition 0 of a topic.
func fakeBrokers(t *testing.T, opts ...kfake.Opt) (servers string, put func(topic string, values ...string)) {
	brokers, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(1, "orders")}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(brokers.Close)
	servers = strings.Join(brokers.ListenAddrs(), ",")
	return servers, func(topic string, values ...string) {
		cl, err := kgo.NewClient(kgo.SeedBrokers(brokers.ListenAddrs()...))
		require.NoError(t, err)
		defer cl.Close()
		for _, v := range values {
			require.NoError(t, cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(v)}).FirstErr())
		}
	}
}

func TestStreamKafka(t *testing.T) {
	servers, put := fakeBrokers(t)
	l := newLab(t)
	put("orders", `{"id":1,"name":"a"}`, `{"id":2,"name":"b"}`, `{"id":"x","name":"c"}`)
	l.exec("CREATE STREAM o INTO orders WITH CHECKPOINT './lake/_checkpoints/o' AS SELECT id, name, CAST(_kafka->>'$.offset' AS SIGNED) AS at FROM STREAM kafka('"+servers+
		"', topic => 'orders', startingOffsets => 'earliest', format => 'json', schema => 'id INT, name STRING') WHERE id IS NULL OR id > 0",
		"WAIT FOR STREAM o TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|a|0", "2|b|1", "NULL|c|2"}, l.rows("SELECT * FROM orders ORDER BY at"))
	require.Equal(t, []string{"kafka:orders/0|2|id"}, l.rows("SELECT FILE, LINE, `COLUMN` FROM information_schema.STREAM_ERRORS"))
	require.Equal(t, []string{"KafkaV2[Subscribe[orders]]|0"}, l.rows("SELECT SOURCE, BACKLOG_ROWS FROM information_schema.STREAMS"))
	put("orders", `{"id":3,"name":"d"}`)
	l.exec("WAIT FOR STREAM o TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM orders"))

	l.exec("CREATE STREAM raw INTO raw WITH CHECKPOINT './lake/_checkpoints/raw' TRIGGER AVAILABLE NOW OPTIONS (maxOffsetsPerTrigger = 1) AS SELECT CAST(`key` AS CHAR) AS k, CAST(value AS CHAR) AS v, topic, `partition`, `offset`, timestampType FROM STREAM kafka('"+
		servers+"', subscribe => 'orders', startingOffsets => 'earliest')", "WAIT FOR STREAM raw TIMEOUT 300 SECONDS")
	require.Equal(t, []string{`k|{"id":1,"name":"a"}|orders|0|0|0`}, l.rows("SELECT * FROM raw ORDER BY `offset` LIMIT 1"))
	require.Equal(t, []string{"4"}, l.rows("SELECT COUNT(*) FROM information_schema.STREAM_PROGRESS WHERE STREAM_NAME = 'raw'"), "a batch a record")
	plan := strings.Join(l.rows("EXPLAIN CREATE STREAM e INTO e WITH CHECKPOINT './lake/_checkpoints/e' AS SELECT * FROM STREAM kafka('"+servers+"', topic => 'orders', startingOffsets => 'earliest')"), "\n")
	require.Contains(t, plan, "Backlog: 0 files, 0 bytes, 4 rows")
}

// TestStreamOfAvro reads values of Avro behind the header of a schema registry; those that are none are dead letters.
func TestStreamOfAvro(t *testing.T) {
	servers, put := fakeBrokers(t)
	l := newLab(t)
	const schema = `{"type":"record","name":"order","fields":[{"name":"id","type":"long"},{"name":"price","type":{"type":"bytes","logicalType":"decimal","precision":8,"scale":2}},
		{"name":"to","type":["null",{"type":"record","name":"to","fields":[{"name":"city","type":"string"}]}]}]}`
	const header = "\x00\x00\x00\x00\x07"
	put("orders", header+"\x02\x02\x64\x02\x08Oslo", header+"\x04\x02\xff\x00", "no Avro \xff", header+"\x06")
	l.exec("CREATE STREAM o INTO orders WITH CHECKPOINT './lake/_checkpoints/o' ON ERROR DEAD LETTER INTO dead AS SELECT id, price, `to`->>'$.city' AS city FROM STREAM kafka('"+servers+
		"', topic => 'orders', startingOffsets => 'earliest', format => 'avro-confluent', avroSchema => '"+schema+"')", "WAIT FOR STREAM o TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|1.00|Oslo", "2|-0.01|NULL"}, l.rows("SELECT * FROM orders ORDER BY id"))
	dead := l.rows("SELECT * FROM dead")
	require.Len(t, dead, 2)
	require.Contains(t, strings.Join(dead, "\n"), "read by format => 'avro'")
	require.Contains(t, strings.Join(dead, "\n"), "no Avro ")
	require.Equal(t, []string{"2|", "3|price"}, l.rows("SELECT LINE, IFNULL(`COLUMN`, '') FROM information_schema.STREAM_ERRORS ORDER BY LINE"))
	require.Contains(t, l.rows("SHOW CREATE STREAM o")[0], "avroSchema => ")

	newer := strings.Replace(schema, `{"name":"to"`, `{"name":"more","type":"boolean"},{"name":"to"`, 1)
	l.exec("CREATE OR REPLACE STREAM o INTO orders WITH CHECKPOINT './lake/_checkpoints/o' ON ERROR DEAD LETTER INTO dead ON SCHEMA CHANGE ADD COLUMNS AS SELECT id, price, `to`->>'$.city' AS city, more FROM STREAM kafka('" +
		servers + "', topic => 'orders', startingOffsets => 'earliest', format => 'avro-confluent', avroSchemaId => 8, avroSchema => '" + newer + "')")
	put("orders", "\x00\x00\x00\x00\x08\x06\x02\x64\x01\x00", header+"\x02\x02\x64\x02\x08Oslo")
	l.exec("WAIT FOR STREAM o TIMEOUT 300 SECONDS")
	require.Equal(t, []string{"1|1.00|Oslo|NULL", "2|-0.01|NULL|NULL", "3|1.00|NULL|1"}, l.rows("SELECT * FROM orders ORDER BY id"))
	require.Contains(t, strings.Join(l.rows("SELECT * FROM dead"), "\n"), "avroSchemaId is 8")
}

func TestKafkaArguments(t *testing.T) {
	l := newLab(t)
	for call, want := range map[string]string{
		"kafka()": "brokers are missing", "kafka('h:1', 'i:1', topic => 't')": "in one text", "kafka('h', topic => 't')": "host:port",
		"kafka('h:1', topic => 't', `kafka.bootstrap.servers` => 'i:1')": "twice", "kafka('h:1', topik => 't')": "topik",
	} {
		_, err := l.try("CREATE STREAM s INTO t WITH CHECKPOINT './lake/_checkpoints/s' AS SELECT * FROM STREAM %s", call)
		require.ErrorContains(t, err, want, call)
	}
}

// TestSecretsAreNotShown gives a password in all ways: none but the last two is taken, and nothing shows it.
func TestSecretsAreNotShown(t *testing.T) {
	const password = "aVerySecretWord"
	servers, _ := fakeBrokers(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "lake", password))
	t.Setenv("LAKESQL_SECRET_KAFKA", password)
	t.Setenv("OTHER_SECRET", password)
	l := newLab(t)
	folder := filepath.Join(l.dir, "data", "secrets")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "kafka"), []byte(password+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(l.dir, "outside"), []byte(password), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(l.dir, "outside"), filepath.Join(folder, "link")))
	create := func(name, reference string) error {
		_, err := l.try("%s", "CREATE STREAM "+name+" INTO "+name+" WITH CHECKPOINT './lake/_checkpoints/"+name+"' AS SELECT * FROM STREAM kafka('"+servers+
			"', topic => 'orders', kafka.security.protocol => 'SASL_PLAINTEXT', kafka.sasl.username => 'lake', kafka.sasl.password => '"+reference+"')")
		return err
	}
	for reference, want := range map[string]string{
		password: "not written into a statement", "env:OTHER_SECRET": "LAKESQL_SECRET_", "env:LAKESQL_SECRET_NONE": "no such variable", "file:../../outside": "without a path",
		"file:link": "links are not followed", "file:none": "no such file", "file:": "without a path", "file:.hidden": "without a path",
	} {
		err := create("s", reference)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), password)
	}
	require.NoError(t, create("s", "env:LAKESQL_SECRET_KAFKA"))
	require.NoError(t, create("f", "file:kafka"))
	l.exec("WAIT FOR STREAM s TIMEOUT 300 SECONDS", "WAIT FOR STREAM f TIMEOUT 300 SECONDS")
	shown := strings.Join(append(l.rows("SHOW CREATE STREAM s"), l.rows("SHOW STREAM STATUS")...), "\n") + strings.Join(l.rows("SHOW PROCESSLIST"), "\n")
	require.Contains(t, shown, "env:LAKESQL_SECRET_KAFKA")
	require.NotContains(t, shown, password)
}
