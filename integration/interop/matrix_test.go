package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// handOverPoint is where the one that has a stream is killed before the other one takes it over: a step of the batch protocol in some batch.
type handOverPoint struct {
	name          string
	lakesql       string // in lakesql's batch 1, for a source of files
	ofTable       string // for a Delta table as a source, when it differs
	spark         string // in Spark's batch 2
	files, behind int    // there are at first, and once Spark is done
}

// {s} is the stream, and the name of its table and its checkpoint's folder. Batch N is version N of the table.
var handOverPoints = []handOverPoint{
	{"p1", "after put-if-absent /{s}/sources/0/1", "before put-if-absent /{s}/offsets/1", "before /{s}/offsets/2", 5, 1},
	{"p2", "after put-if-absent /{s}/offsets/1", "", "after /{s}/offsets/2", 5, 1},
	{"p3", "before put-if-absent /{s}/_delta_log/00000000000000000001.json", "", "before /{s}/_delta_log/00000000000000000002.json", 5, 1},
	{"p4", "after put-if-absent /{s}/_delta_log/00000000000000000001.json", "", "before /{s}/commits/2", 5, 1},
	{"p5", "after put-if-absent /{s}/commits/1", "", "after /{s}/commits/2", 5, 1},
	{"25", "after put-if-absent /{s}/commits/24", "", "", 31, 10}, // compactions at 9, 19, 29 (Spark's), 39
}

// handOverStream is a cell of the matrix: a stream of one kind of source that is handed over at one point.
type handOverStream struct {
	kind, name string
	point      handOverPoint
	begins     bool // Spark begins
	files      int  // in the source so far: file n has the ids 2n-1 and 2n
	program    string
}

// matrix are the streams of one lake, which lakesql and one Spark take turns at.
type matrix struct {
	t       *testing.T
	dir     string
	spark   *engine
	streams []*handOverStream
}

// TestHandOver kills lakesql at each point of the batch protocol, lets Spark continue and die at the same point of a later batch, and lets lakesql
// continue again; and the same after 25 batches of either. Every row is in the table once, and each batch is one version of it.
func TestHandOver(t *testing.T) {
	environment(t)
	for _, spark := range []*engine{spark35, spark40} {
		t.Run(spark.name, func(t *testing.T) {
			m := newMatrix(t, spark)
			m.lakesqlBegins()
			m.sparkContinues()
			m.lakesqlContinues()
			m.sparkRunsTheProgram()
			m.sparkSeesEveryRow()
		})
	}
}

func newMatrix(t *testing.T, spark *engine) *matrix {
	m := &matrix{t: t, dir: t.TempDir(), spark: spark}
	for _, kind := range []string{"csv", "json", "parquet", "delta"} {
		for _, p := range handOverPoints {
			m.streams = append(m.streams, &handOverStream{kind: kind, name: kind + "_" + p.name, point: p})
		}
	}
	begun := handOverPoint{name: "begun", spark: "after /{s}/commits/24", files: 31, behind: 10}
	m.streams = append(m.streams, &handOverStream{kind: "csv", name: "csv_begun", point: begun, begins: true}) // files of all formats have one kind of log
	return m
}

func (m *matrix) table(s *handOverStream) string { return filepath.Join(m.dir, "lake", "lake", s.name) }
func (m *matrix) checkpoint(s *handOverStream) string {
	return filepath.Join(m.dir, "lake", "_checkpoints", s.name)
}
func (m *matrix) landing(s *handOverStream) string { return filepath.Join(m.dir, "landing", s.name) }

// lakesqlBegins makes the streams that lakesql begins, and kills it when each of them is dead at its point.
func (m *matrix) lakesqlBegins() {
	points := map[string]string{}
	for _, s := range m.streams {
		point := s.point.lakesql
		if s.kind == "delta" && s.point.ofTable != "" {
			point = s.point.ofTable
		}
		if !s.begins {
			points[s.name] = strings.ReplaceAll(point, "{s}", s.name)
		}
	}
	text, err := json.Marshal(points)
	require.NoError(m.t, err)
	p := harness.StartSelf(m.t, m.dir, crashEnv+"="+string(text))
	for _, s := range m.streams {
		m.begin(p, s)
	}
	require.Eventually(m.t, func() bool {
		return p.Rows(m.t, "SELECT COUNT(*) FROM information_schema.STREAMS WHERE LAST_ERROR LIKE '%dead at its point%'")[0][0] == fmt.Sprint(len(points))
	}, 5*time.Minute, 50*time.Millisecond, "%v", func() any {
		return p.Rows(m.t, "SELECT STREAM_NAME, STATE, STATE_REASON FROM information_schema.STREAMS")
	})
	p.Kill()
}

// begin makes a stream and its source. A table has two commits before its stream begins, which are the first snapshot, and the others behind it.
func (m *matrix) begin(p *harness.Process, s *handOverStream) {
	if s.kind != "delta" {
		require.NoError(m.t, os.MkdirAll(m.landing(s), 0o755))
		m.add(p, s, s.point.files)
		if !s.begins {
			p.Exec(m.t, m.create(s))
		}
		return
	}
	p.Exec(m.t, "CREATE TABLE of_"+s.name+" (id INT, name VARCHAR(20)) TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'false')")
	m.add(p, s, 2)
	if !s.begins {
		p.Exec(m.t, m.create(s))
		p.Exec(m.t, "WAIT FOR STREAM "+s.name+" UNTIL BATCH 0 TIMEOUT 300 SECONDS")
	}
	m.add(p, s, s.point.files-2)
}

func (m *matrix) create(s *handOverStream) string {
	from := fmt.Sprintf("read_files('./landing/%s', format => '%s', schema => 'id INT, name STRING', maxFilesPerTrigger => 1%s)", s.name, s.kind,
		map[string]string{"csv": ", header => true"}[s.kind])
	if s.kind == "delta" {
		from = fmt.Sprintf("(of_%s, maxFilesPerTrigger => 1)", s.name)
	}
	return fmt.Sprintf("CREATE STREAM %s INTO %[1]s WITH CHECKPOINT './lake/_checkpoints/%[1]s' AS SELECT * FROM STREAM %s", s.name, from)
}

// add puts n more files of two rows each into a source. Those of Parquet are files of tables that lakesql has written.
func (m *matrix) add(p *harness.Process, s *handOverStream, n int) {
	for range n {
		s.files++
		a, b := 2*s.files-1, 2*s.files
		path := filepath.Join(m.landing(s), fmt.Sprintf("file %03d.%s", s.files, s.kind))
		switch s.kind {
		case "csv":
			m.put(path, fmt.Appendf(nil, "id,name\n%d,n%d\n%d,n%d\n", a, a, b, b))
		case "json":
			m.put(path, fmt.Appendf(nil, "{\"id\":%d,\"name\":\"n%d\"}\n{\"id\":%d,\"name\":\"n%d\"}\n", a, a, b, b))
		case "parquet":
			m.put(path, m.parquet(p, s.files))
		case "delta":
			p.Exec(m.t, fmt.Sprintf("INSERT INTO of_%s VALUES (%d, 'n%d'), (%d, 'n%d')", s.name, a, a, b, b))
		}
	}
}

// put renames a file in.
func (m *matrix) put(path string, content []byte) {
	m.t.Helper()
	tmp := filepath.Join(m.dir, "file.tmp")
	require.NoError(m.t, os.WriteFile(tmp, content, 0o644))
	require.NoError(m.t, os.Rename(tmp, path))
}

// parquet is file n in Parquet.
func (m *matrix) parquet(p *harness.Process, n int) []byte {
	m.t.Helper()
	table := fmt.Sprintf("parquet_file_%d", n)
	pattern := filepath.Join(m.dir, "lake", "lake", table, "*.parquet")
	found, err := filepath.Glob(pattern)
	require.NoError(m.t, err)
	if len(found) == 0 {
		p.Exec(m.t, "CREATE TABLE "+table+" (id INT, name VARCHAR(20))")
		p.Exec(m.t, fmt.Sprintf("INSERT INTO %s VALUES (%d, 'n%[2]d'), (%[3]d, 'n%[3]d')", table, 2*n-1, 2*n))
		found, err = filepath.Glob(pattern)
		require.NoError(m.t, err)
	}
	require.Len(m.t, found, 1)
	content, err := os.ReadFile(found[0])
	require.NoError(m.t, err)
	return content
}

// sparkContinues gives each stream to Spark, which dies at the stream's point, or reads all that is there.
func (m *matrix) sparkContinues() {
	for _, s := range m.streams {
		crash := strings.ReplaceAll(s.point.spark, "{s}", s.name)
		run := m.bySpark(s, crash)
		require.Equal(m.t, crash != "", run.Crashed, "%s: %v", s.name, run)
	}
}

func (m *matrix) bySpark(s *handOverStream, crash string) (run sparkRun) {
	m.t.Helper()
	source := sparkSource{Format: s.kind, Path: m.landing(s), Schema: "id INT, name STRING", Options: map[string]string{"header": "true", "maxFilesPerTrigger": "1"}}
	if s.kind == "delta" {
		source = sparkSource{Format: s.kind, Path: filepath.Join(m.dir, "lake", "lake", "of_"+s.name), Options: map[string]string{"maxFilesPerTrigger": "1"}}
	}
	m.spark.must(m.t, &run, "carry_on", source, m.table(s), m.checkpoint(s), crash)
	require.Equal(m.t, checkpointID(m.t, m.checkpoint(s)), run.ID, s.name)
	return run
}

// lakesqlContinues gives all streams to lakesql, those that Spark has begun, too, with more files.
func (m *matrix) lakesqlContinues() {
	p := harness.Start(m.t, m.dir)
	for _, s := range m.streams {
		if s.begins {
			p.Exec(m.t, m.create(s))
		}
		m.add(p, s, s.point.behind)
	}
	for _, s := range m.streams {
		p.Exec(m.t, "WAIT FOR STREAM "+s.name+" UNTIL CAUGHT UP TIMEOUT 300 SECONDS")
	}
	for _, s := range m.streams {
		n := fmt.Sprint(2 * s.files)
		require.Equal(m.t, [][]string{{n, n, "1", n, n}}, p.Rows(m.t, "SELECT COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id), SUM(name = CONCAT('n', id)) FROM "+s.name), s.name)
	}
	for _, s := range m.after25() {
		p.Exec(m.t, "STOP STREAM "+s.name)
		p.Exec(m.t, "ALTER STREAM "+s.name+" SET TRIGGER AVAILABLE NOW")
		s.program = p.Rows(m.t, "SHOW CREATE STREAM "+s.name+" FOR SPARK")[0][1]
	}
	p.Stop(m.t)
	for _, s := range m.streams {
		m.oneVersionABatch(s)
	}
}

// after25 are the streams that were handed over after 25 batches of lakesql's, one of each kind.
func (m *matrix) after25() (out []*handOverStream) {
	for _, s := range m.streams {
		if s.point.name == "25" {
			out = append(out, s)
		}
	}
	return out
}

// oneVersionABatch wants each batch of the checkpoint to be in the table's log once, in order, and the others not.
func (m *matrix) oneVersionABatch(s *handOverStream) {
	m.t.Helper()
	id, batch := checkpointID(m.t, m.checkpoint(s)), 0
	for line := range strings.Lines(logOf(m.t, m.table(s))) {
		var action struct {
			Txn struct {
				AppID   string `json:"appId"`
				Version int    `json:"version"`
			} `json:"txn"`
		}
		require.NoError(m.t, json.Unmarshal([]byte(line), &action))
		if action.Txn.AppID == id {
			require.Equal(m.t, batch, action.Txn.Version, s.name)
			batch++
		}
	}
	newest := newestOf(m.t, m.checkpoint(s), "commits")
	require.Equal(m.t, newest+1, batch, "%s: one version a batch", s.name)
	require.Equal(m.t, newest, newestOf(m.t, m.checkpoint(s), "offsets"), s.name)
}

// sparkRunsTheProgram continues streams by the programs that lakesql prints: first with nothing new, which is no batch, then with one file more.
func (m *matrix) sparkRunsTheProgram() {
	for _, s := range m.after25() {
		newest := newestOf(m.t, m.checkpoint(s), "commits")
		m.spark.must(m.t, new(any), "program", s.program)
		require.Equal(m.t, newest, newestOf(m.t, m.checkpoint(s), "offsets"), "%s: no empty batch", s.name)
		m.addBySpark(s)
		m.spark.must(m.t, new(any), "program", s.program)
		require.Equal(m.t, newest+1, newestOf(m.t, m.checkpoint(s), "commits"), "%s: one batch", s.name)
		m.oneVersionABatch(s)
	}
}

// addBySpark puts one more file into a source while no server runs.
func (m *matrix) addBySpark(s *handOverStream) {
	s.files++
	rows := fmt.Sprintf("SELECT /*+ COALESCE(1) */ * FROM VALUES (%d, 'n%[1]d'), (%[2]d, 'n%[2]d') AS t (id, name)", 2*s.files-1, 2*s.files)
	if s.kind == "delta" {
		m.spark.sql(m.t, "INSERT INTO "+quoted(filepath.Join(m.dir, "lake", "lake", "of_"+s.name))+" "+rows)
		return
	}
	more := filepath.Join(m.dir, "more "+s.name)
	m.spark.sql(m.t, fmt.Sprintf("INSERT OVERWRITE DIRECTORY '%s' USING %s OPTIONS (header 'true') %s", more, s.kind, rows))
	written, err := filepath.Glob(filepath.Join(more, "part-*"))
	require.NoError(m.t, err)
	require.Len(m.t, written, 1)
	require.NoError(m.t, os.Rename(written[0], filepath.Join(m.landing(s), "more."+s.kind)))
}

// sparkSeesEveryRow reads all tables by Spark.
func (m *matrix) sparkSeesEveryRow() {
	var queries []string
	var want [][]string
	for _, s := range m.streams {
		queries = append(queries, fmt.Sprintf("SELECT '%s', COUNT(*), COUNT(DISTINCT id), MIN(id), MAX(id) FROM %s", s.name, quoted(m.table(s))))
		n := fmt.Sprint(2 * s.files)
		want = append(want, []string{s.name, n, n, "1", n})
	}
	require.Equal(m.t, sortRows(want), m.spark.sql(m.t, strings.Join(queries, " UNION ALL ")))
}
