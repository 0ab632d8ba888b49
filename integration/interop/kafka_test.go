package interop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lakesql/integration/harness"
)

// startKafka starts a real broker in KRaft mode, which is its own controller, with a topic of some partitions.
func startKafka(t *testing.T, topic string, partitions int32) (servers string, cl *kgo.Client) {
	jars := filepath.Join(environment(t), "kafka", "jars", "*")
	dir := t.TempDir()
	ports := freePorts(t, 2)
	broker, controller := ports[0], ports[1]
	servers = "127.0.0.1:" + broker
	properties := filepath.Join(dir, "server.properties")
	require.NoError(t, os.WriteFile(properties, []byte(strings.Join([]string{
		"process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:" + controller,
		"listeners=PLAINTEXT://" + servers + ",CONTROLLER://127.0.0.1:" + controller, "controller.listener.names=CONTROLLER",
		"listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT", "log.dirs=" + filepath.Join(dir, "data"),
		"offsets.topic.replication.factor=1", "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1",
	}, "\n")), 0o644))
	out, err := exec.Command("java", "-cp", jars, "kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", properties).CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd := exec.Command("java", "-Xmx512m", "-cp", jars, "kafka.Kafka", properties)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	cl, err = kgo.NewClient(kgo.SeedBrokers(servers), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.DefaultProduceTopic(topic))
	require.NoError(t, err)
	t.Cleanup(cl.Close)
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := kadm.NewClient(cl).CreateTopic(ctx, partitions, 1, nil, topic)
		return err == nil || errors.Is(err, kerr.TopicAlreadyExists) // by a request whose answer came too late
	}, 5*time.Minute, 200*time.Millisecond)
	return servers, cl
}

// freePorts are ports that nobody listens on. They lie below those that the system gives out, so that no connection gets one of them before it is listened on, not even that of
// a client which tries whether somebody is there.
func freePorts(t *testing.T, n int) (ports []string) {
	for port := 20_000 + rand.IntN(10_000); len(ports) < n; port++ {
		require.Less(t, port, 1<<16)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err == nil {
			defer l.Close()
			ports = append(ports, strconv.Itoa(port))
		}
	}
	return ports
}

// produce writes records from <= i < to, whose values are i, to the partitions of the client's topic in turn.
func produce(t *testing.T, cl *kgo.Client, from, to, partitions int) {
	t.Helper()
	produceTo(t, cl, "", from, to, partitions)
}

func produceTo(t *testing.T, cl *kgo.Client, topic string, from, to, partitions int) {
	t.Helper()
	var records []*kgo.Record
	for i := from; i < to; i++ {
		records = append(records, &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: []byte(strconv.Itoa(i))})
	}
	require.NoError(t, cl.ProduceSync(t.Context(), records...).FirstErr())
}

const fromOrders = "AS SELECT CAST(value AS CHAR) AS v, `partition`, `offset` FROM STREAM kafka('%s', topic => 'orders', startingOffsets => 'earliest'%s)"

// TestRealKafkaAndKills reads a topic of a real broker while records arrive and the server is killed with -9 again and again: each
// record is there once.
func TestRealKafkaAndKills(t *testing.T) {
	servers, cl := startKafka(t, "orders", 3)
	dir := t.TempDir()
	p := harness.Start(t, dir)
	p.Exec(t, "CREATE STREAM o INTO orders WITH CHECKPOINT './lake/_checkpoints/o' "+fmt.Sprintf(fromOrders, servers, ", maxOffsetsPerTrigger => 500"))
	const kills, records = 8, 2000
	for i := range kills {
		produce(t, cl, i*records, (i+1)*records, 3)
		time.Sleep(time.Duration(100+i*70) * time.Millisecond)
		p.Kill()
		p.Wait(t)
		p = harness.Start(t, dir)
	}
	p.Exec(t, "WAIT FOR STREAM o UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	require.Equal(t, [][]string{{strconv.Itoa(kills * records), strconv.Itoa(kills * records), "0", strconv.Itoa(kills*records - 1)}},
		p.Rows(t, "SELECT COUNT(*), COUNT(DISTINCT v), MIN(CAST(v AS SIGNED)), MAX(CAST(v AS SIGNED)) FROM orders"))
	require.Equal(t, [][]string{{"0"}}, p.Rows(t, "SELECT BACKLOG_ROWS FROM information_schema.STREAMS"))

	transactions(t, servers)
	p.Exec(t, "CREATE STREAM c INTO committed WITH CHECKPOINT './lake/_checkpoints/c' "+fmt.Sprintf(fromOrders, servers, ", kafka.isolation.level => 'read_committed'"))
	p.Exec(t, "WAIT FOR STREAM c UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	p.Exec(t, "WAIT FOR STREAM o UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	require.Equal(t, [][]string{{"good"}}, p.Rows(t, "SELECT v FROM committed WHERE v LIKE '%d'"))
	require.Equal(t, [][]string{{"bad"}, {"good"}}, p.Rows(t, "SELECT v FROM orders WHERE v LIKE '%d' ORDER BY v"))
	p.Stop(t)
}

// transactions writes one that is aborted and one that is committed.
func transactions(t *testing.T, servers string) {
	t.Helper()
	tx, err := kgo.NewClient(kgo.SeedBrokers(servers), kgo.TransactionalID("tx"), kgo.DefaultProduceTopic("orders"))
	require.NoError(t, err)
	defer tx.Close()
	for _, value := range []string{"bad", "good"} {
		require.NoError(t, tx.BeginTransaction())
		require.NoError(t, tx.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr())
		require.NoError(t, tx.EndTransaction(t.Context(), kgo.TransactionEndTry(value == "good")))
	}
}

// TestSparkContinuesTheTopics hands a stream of two topics to real Spark and takes it back, from a beginning in lakesql and one in Spark, and by the program of
// SHOW CREATE STREAM ... FOR SPARK as it is printed.
func TestSparkContinuesTheTopics(t *testing.T) {
	servers, cl := startKafka(t, "orders", 3)
	_, err := kadm.NewClient(cl).CreateTopic(t.Context(), 3, 1, nil, "returns")
	require.NoError(t, err)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			dir, records := t.TempDir(), 0
			table := func(name string) string { return filepath.Join(dir, "lake", "lake", name) }
			checkpoint := func(name string) string { return filepath.Join(dir, "lake", "_checkpoints", name) }
			more := func() {
				for _, topic := range []string{"orders", "returns"} {
					produceTo(t, cl, topic, records, records+6, 3)
				}
				records += 6
			}
			bySpark := func(name string) {
				t.Helper()
				source := sparkSource{Format: "kafka", Select: []string{"CAST(value AS STRING) AS v", "topic", "partition", "offset"},
					Options: map[string]string{"kafka.bootstrap.servers": servers, "subscribe": "orders,returns", "startingOffsets": "earliest"}}
				var run sparkRun
				spark.must(t, &run, "carry_on", source, table(name), checkpoint(name))
				require.Equal(t, checkpointID(t, checkpoint(name)), run.ID)
			}
			const create = "CREATE STREAM %s INTO %[1]s WITH CHECKPOINT './lake/_checkpoints/%[1]s' AS SELECT CAST(value AS CHAR) AS v, topic, `partition`, `offset` " +
				"FROM STREAM kafka('%s', topic => 'orders,returns', startingOffsets => 'earliest')"
			complete := func(p *harness.Process, name string) {
				t.Helper()
				p.Exec(t, "WAIT FOR STREAM "+name+" UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
				var rows, each int
				require.NoError(t, p.DB.QueryRow("SELECT COUNT(*), COUNT(DISTINCT topic, `partition`, `offset`) FROM "+name).Scan(&rows, &each))
				var newest int64
				for _, end := range offsetsOf(t, checkpoint(name)) {
					newest += end
				}
				require.Equal(t, []int{int(newest), int(newest)}, []int{rows, each}, "every record once")
			}

			more()
			p := harness.Start(t, dir)
			p.Exec(t, fmt.Sprintf(create, "ours", servers))
			complete(p, "ours")
			p.Exec(t, strings.Replace(fmt.Sprintf(create, "printed", servers), " AS SELECT", " TRIGGER AVAILABLE NOW AS SELECT", 1))
			complete(p, "printed")
			program := p.Rows(t, "SHOW CREATE STREAM printed FOR SPARK")[0][1]
			p.Stop(t)
			before := tableVersion(t, spark, table("ours"))
			bySpark("ours")
			empty := tableVersion(t, spark, table("ours")) - before
			t.Logf("batches of %s with nothing new: %d", spark.name, empty)
			require.LessOrEqual(t, empty, int64(1), "topics and partitions in another order are one empty batch")
			more()
			before = tableVersion(t, spark, table("ours"))
			bySpark("ours")
			require.Equal(t, before+1, tableVersion(t, spark, table("ours")), "Spark added one version")
			before = tableVersion(t, spark, table("printed"))
			spark.must(t, new(any), "program", program)
			require.Equal(t, before+1, tableVersion(t, spark, table("printed")), "the program as it is printed")
			bySpark("theirs")

			before = tableVersion(t, spark, table("theirs"))
			p = harness.Start(t, dir)
			p.Exec(t, fmt.Sprintf(create, "theirs", servers))
			complete(p, "theirs")
			require.Equal(t, before, tableVersion(t, spark, table("theirs")), "lakesql looks at the numbers, not at their order")
			more()
			p.Exec(t, "START STREAM printed")
			complete(p, "ours")
			complete(p, "theirs")
			complete(p, "printed")
			p.Stop(t)
		})
	}
}

// offsetsOf are the ends of a checkpoint's last range by topic and partition.
func offsetsOf(t *testing.T, checkpoint string) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(checkpoint, "offsets", strconv.Itoa(newestOf(t, checkpoint, "offsets"))))
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	var ends map[string]map[string]int64
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &ends))
	out := map[string]int64{}
	for topic, partitions := range ends {
		for partition, end := range partitions {
			out[topic+"/"+partition] = end
		}
	}
	return out
}

func tableVersion(t *testing.T, spark *engine, table string) int64 {
	t.Helper()
	var history []sparkCommit
	spark.must(t, &history, "history", table)
	return history[0].Version
}
