package catalog

import (
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sparkOf is the program of a stream, whose paths begin below $DIR.
func (l *lab) sparkOf(name string) string {
	l.t.Helper()
	row := l.rows("SHOW CREATE STREAM " + name + " FOR SPARK")[0]
	_, program, _ := strings.Cut(row, "|")
	return strings.ReplaceAll(program, l.path(), "$DIR")
}

// TestSparkProgramOfFiles: the columns are in the order of the files, whatever order the schema names them in, and those that the SELECT does not know are among them.
func TestSparkProgramOfFiles(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "name;id;extra\nann;1;x\n")
	l.exec(`CREATE STREAM s INTO t (key_, label) WITH CHECKPOINT './cp' TRIGGER AVAILABLE NOW AS SELECT id, UPPER(name) AS n FROM STREAM read_files('./in',
		format => 'csv', header => true, sep => ';', schema => 'id INT, name STRING, gone DOUBLE') WHERE id > 0 AND name <> 'it''s'`, "WAIT FOR STREAM s TIMEOUT 300 SECONDS")
	require.Equal(t, `# Continues stream lake.s of lakesql by its checkpoint, each row once. One of the two may run at a time: ALTER STREAM lake.s PAUSE comes first,
# and ALTER STREAM lake.s RESUME takes the stream back. Needs Spark 3.5 or later with delta-spark.
# Spark takes up no columns that are new: hand the stream back for them.
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.appName("lake.s")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .getOrCreate()
)
spark.conf.set("spark.sql.session.timeZone", "UTC")
spark.conf.set("spark.sql.ansi.enabled", "true")
spark.conf.set("spark.sql.decimalOperations.allowPrecisionLoss", "false")
spark.conf.set("spark.sql.csv.parser.columnPruning.enabled", "false")

source_0 = (
    spark.readStream.format("csv")
    .schema("`+"`name` string, `id` integer, `extra` string"+`")
    .option("header", "true")
    .option("maxFilesPerTrigger", "1000")
    .option("sep", ";")
    .option("maxFileAge", "36500d")
    .option("enforceSchema", "false")
    .load("file://$DIR/in")
)
source_0.selectExpr("`+"`id`\", \"`name`\", \"CAST(NULL AS double) AS `gone`"+`").createOrReplaceTempView("source_0")

rows = spark.sql("SELECT `+"CAST(`id` AS integer) AS `key_`, CAST(`n` AS string) AS `label` FROM (SELECT `id` AS `id`, upper(`name`) AS `n` FROM `source_0` WHERE (`id` > 0) AND (`name` != 'it\\\\'s'))"+`")

query = (
    rows.writeStream.format("delta")
    .outputMode("append")
    .queryName("lake.s")
    .option("checkpointLocation", "file://$DIR/cp")
    .trigger(availableNow=True)
    .start("file://$DIR/lake/lake/t")
)
query.awaitTermination()
`, l.sparkOf("s"))
}

func TestSparkProgramIsRefused(t *testing.T) {
	l := newLab(t)
	l.write("in/a.csv", "id,name\n1,ann\n")
	l.write("in/b.csv", "name,id\nbob,2\n")
	l.write("one/a.csv", "id,name\n1,ann\n")
	l.exec("CREATE VIEW v AS SELECT 1 AS id")
	for i, c := range []struct{ clauses, sel, why string }{
		{"", "* FROM STREAM read_files('./in', format => 'csv', header => true)", "binds columns by their position"},
		{"ON ERROR DEAD LETTER INTO dead", "* FROM STREAM read_files('./one', format => 'csv', header => true)", "ON ERROR DEAD LETTER"},
		{"ON ERROR SKIP ROW MAX 3 ROWS", "* FROM STREAM read_files('./one', format => 'csv', header => true)", "MAX 3 ROWS"},
		{"ON ERROR SKIP ROW", "CAST(name AS SIGNED) AS n FROM STREAM read_files('./one', format => 'csv', header => true)", "SKIP ROW leaves out rows whose CAST fails"},
		{"", "id / 3 AS n FROM STREAM read_files('./one', format => 'csv', header => true)", "the operator /"},
		{"", "MD5(CONCAT(1.5, name)) AS n FROM STREAM read_files('./one', format => 'csv', header => true)", "concat of a value that is not known to be a text"},
		{"", "DATE '20240131' AS d FROM STREAM read_files('./one', format => 'csv', header => true)", "the literal DATE '20240131'"},
		{"", "SOUNDEX(name) AS n FROM STREAM read_files('./one', format => 'csv', header => true)", "the function soundex"},
		{"", "s.* FROM STREAM read_files('./one', format => 'csv', header => true) s JOIN v ON v.id = s.id", "lake.v is a view"},
		{"", "* FROM STREAM read_files('./one/**', format => 'csv', header => true)", "** in the path"},
	} {
		name := fmt.Sprintf("s%d", i)
		l.exec("CREATE STREAM "+name+" INTO t"+name+" WITH CHECKPOINT './cp/"+name+"' TRIGGER AVAILABLE NOW "+c.clauses+" AS SELECT "+c.sel, "WAIT FOR STREAM "+name+" TIMEOUT 300 SECONDS")
		l.refused("SHOW CREATE STREAM "+name+" FOR SPARK", c.why)
	}
	l.exec("CREATE STREAM empty INTO e WITH CHECKPOINT './cp/e' DISABLE AS SELECT * FROM STREAM read_files('./none', format => 'json')")
	l.refused("SHOW CREATE STREAM empty FOR SPARK", "before the first file is read")
}

// TestSparkProgramOfFilesThatAreCleaned: Spark's cleanSource keeps a file for no time, so that one that is to stay is not handed to it.
func TestSparkProgramOfFilesThatAreCleaned(t *testing.T) {
	l := newLab(t)
	for i, c := range []struct{ options, contains, refused string }{
		{"cleanSource => 'delete'", "", "its files stay for 720h0m0s"},
		{"cleanSource => 'delete', cleanSource.retentionDuration => '0 seconds'", `.option("cleanSource", "delete")`, ""},
		{"cleanSource => 'Archive', sourceArchiveDir => './put away'", `.option("sourceArchiveDir", "file://$DIR/put away")`, ""},
		{"cleanSource => 'archive', sourceArchiveDir => './gone', cleanSource.retentionDuration => '7 days'", "", "its files stay for 168h0m0s"},
		{"cleanSource => 'move', cleanSource.moveDestination => './gone', cleanSource.retentionDuration => '0 seconds'", "", "nothing like cleanSource => 'move'"},
		{"maxBytesPerTrigger => '10m'", `.option("maxBytesPerTrigger", "10485760")`, ""},
		{"cleanSource => 'off'", `.option("cleanSource", "off")`, ""},
		{"readerCaseSensitive => 'true'", `spark.readStream.format("json")`, ""},
		{"readerCaseSensitive => 'false'", "", "nothing like the option readercasesensitive => 'false'"},
	} {
		name := fmt.Sprintf("s%d", i)
		l.exec("CREATE STREAM " + name + " INTO t" + name + " WITH CHECKPOINT './cp/" + name + "' DISABLE AS SELECT * FROM STREAM read_files('./in', format => 'json', schema => 'id INT', " + c.options + ")")
		if c.refused != "" {
			l.refused("SHOW CREATE STREAM "+name+" FOR SPARK", c.refused)
			continue
		}
		require.Contains(t, l.sparkOf(name), c.contains, c.options)
	}
}

func TestSparkProgramOfOtherSources(t *testing.T) {
	t.Setenv("LAKESQL_SECRET_P", "secret")
	l := newLab(t)
	l.exec("CREATE TABLE a (id INT, price DECIMAL(10,2))", "INSERT INTO a VALUES (1, 2.5)", "CREATE TABLE dim (id INT, label VARCHAR(10))",
		`CREATE STREAM d INTO b WITH CHECKPOINT './cp/d' ON ERROR FAIL AS SELECT x.id, CAST(price AS DECIMAL(8,1)) AS price, COALESCE(label, 'none') AS label
			FROM STREAM(a, startingVersion => 'latest') x LEFT JOIN dim ON dim.id = x.id`,
		`CREATE STREAM k INTO c WITH CHECKPOINT './cp/k' DISABLE OPTIONS (maxOffsetsPerTrigger = 5) AS SELECT CAST(value AS CHAR) AS v, `+"`partition`"+` FROM STREAM kafka('localhost:9',
			topic => 't', startingOffsets => 'earliest', kafka.security.protocol => 'SASL_SSL', kafka.sasl.mechanism => 'PLAIN', kafka.sasl.username => 'u', kafka.sasl.password => 'env:LAKESQL_SECRET_P')`,
		`CREATE STREAM u INTO e WITH CHECKPOINT './cp/u' DISABLE TRIGGER EVERY 5 SECONDS AS SELECT value AS v FROM STREAM rate(rowsPerSecond => 3) UNION ALL SELECT value + 1 FROM STREAM rate()`,
		`CREATE STREAM w INTO f WITH CHECKPOINT './cp/w' DISABLE AS SELECT DATE '2024-01-31' AS day, timestamp '2024-01-31 10:00:00' AS at FROM STREAM rate() WHERE timestamp > DATE '2024-01-01'`)
	l.exec("WAIT FOR STREAM d TIMEOUT 300 SECONDS")
	text := l.sparkOf("d")
	require.Contains(t, text, "    spark.readStream.format(\"delta\")\n    .option(\"startingVersion\", \"2\")\n    .load(\"file://$DIR/lake/lake/a\")\n")
	require.Contains(t, text, "CAST(`price` AS DECIMAL(8,1)) AS `price`, coalesce(`label`, 'none') AS `label` FROM `source_0` AS `x` LEFT JOIN delta.`file://$DIR/lake/lake/dim` AS `dim` ON `dim`.`id` = `x`.`id`")
	text = l.sparkOf("k")
	require.Contains(t, text, "import os\n")
	require.Contains(t, text, `.option("kafka.sasl.mechanism", "PLAIN")`)
	require.Contains(t, text, `.option("kafka.sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"" + `+
		`os.environ["LAKESQL_SECRET_P"].replace("\\", "\\\\").replace('"', '\\"') + "\";")`)
	require.NotContains(t, text, "kafka.sasl.password", "a property that Kafka's Java client does not have")
	require.Contains(t, text, "    .option(\"maxOffsetsPerTrigger\", \"5\")\n    .option(\"startingOffsets\", \"earliest\")\n    .option(\"subscribe\", \"t\")\n")
	require.Contains(t, text, "TRY_CAST(`value` AS STRING) AS `v`, `partition` AS `partition`")
	text = l.sparkOf("u")
	require.Contains(t, text, "(SELECT `value` AS `v` FROM `source_0` UNION ALL SELECT (`value` + 1) AS `value + 1` FROM `source_1`)")
	require.Contains(t, text, `.trigger(processingTime="5000 milliseconds")`)
	require.Contains(t, l.sparkOf("w"), "SELECT DATE '2024-01-31' AS `day`, TIMESTAMP '2024-01-31 10:00:00' AS `at` FROM `source_0` WHERE `timestamp` > DATE '2024-01-01'")
}

// TestSparkProgramOfTopics: properties are those of Kafka's Java client, and values that a source takes apart are refused, whatever the format.
func TestSparkProgramOfTopics(t *testing.T) {
	t.Setenv("LAKESQL_SECRET_P", "secret")
	t.Setenv("LAKESQL_SECRET_JAAS", `org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";`)
	tls := httptest.NewTLSServer(nil)
	defer tls.Close()
	t.Setenv("LAKESQL_SECRET_CA", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})))
	const avro = `avroSchema => '{"type":"record","name":"r","fields":[{"name":"id","type":"long"}]}'`
	l := newLab(t)
	for i, c := range []struct {
		options, refused string
		contains         []string
	}{
		{"format => 'json', schema => 'id INT'", "takes the values of records apart, by format => 'json'", nil},
		{"value_format => 'csv', schema => 'id INT'", "by value_format => 'csv'", nil},
		{"format => 'text'", "by format => 'text'", nil},
		{"format => 'avro', " + avro, "by format => 'avro', and Spark's gives them as they are. Only a stream without that option", nil},
		{"format => 'avro-confluent', avroSchemaId => 3, " + avro, "by format => 'avro-confluent'", nil},
		{"kafka.security.protocol => 'SASL_PLAINTEXT', kafka.sasl.username => 'a\"b', kafka.sasl.password => 'env:LAKESQL_SECRET_P'", "",
			[]string{`.option("kafka.sasl.mechanism", "PLAIN")`, `username=\"a\\\"b\"`}},
		{"kafka.security.protocol => 'SASL_PLAINTEXT', KAFKA.SASL.MECHANISM => 'SCRAM-SHA-512', kafka.sasl.username => 'u', kafka.sasl.password => 'env:LAKESQL_SECRET_P'", "",
			[]string{`.option("kafka.sasl.mechanism", "SCRAM-SHA-512")`, "security.scram.ScramLoginModule required"}},
		{"kafka.security.protocol => 'SASL_PLAINTEXT', kafka.sasl.jaas.config => 'env:LAKESQL_SECRET_JAAS'", "",
			[]string{`.option("kafka.sasl.mechanism", "PLAIN")`, `.option("kafka.sasl.jaas.config", os.environ["LAKESQL_SECRET_JAAS"])`}},
		{"kafka.security.protocol => 'SSL', kafka.ssl.truststore.certificates => 'env:LAKESQL_SECRET_CA'", "",
			[]string{`.option("kafka.ssl.truststore.type", "PEM")`, `.option("kafka.ssl.truststore.certificates", os.environ["LAKESQL_SECRET_CA"])`}},
		{"failOnDataLoss => 0", "", []string{`.option("failOnDataLoss", "false")`}},
		{"includeHeaders => true, kafka.isolation.level => 'read_committed'", "", []string{`.option("includeHeaders", "true")`, `.option("kafka.isolation.level", "read_committed")`}},
	} {
		name := fmt.Sprintf("s%d", i)
		l.exec("CREATE STREAM " + name + " INTO t" + name + " WITH CHECKPOINT './cp/" + name + "' DISABLE AS SELECT * FROM STREAM kafka('localhost:9', topic => 't', " + c.options + ")")
		if c.refused != "" {
			l.refused("SHOW CREATE STREAM "+name+" FOR SPARK", c.refused)
			continue
		}
		for _, part := range c.contains {
			require.Contains(t, l.sparkOf(name), part, c.options)
		}
	}
}
