package clients

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// suite is the programs for the command line of one maker.
type suite struct {
	name    string
	dir     string   // where they are; empty: on the path
	sure    []string // options to be sure of the server by its certificate, besides --ssl-ca
	plain   string   // option to log in without TLS
	own     []string // so that mysql takes commands of its own from a file and -e
	clients map[string]string
}

// suites are MariaDB's programs, which are Debian's mariadb-client, and Oracle's.
var suites = []suite{
	{
		name: "MariaDB", sure: []string{"--ssl-verify-server-cert"}, plain: "--skip-ssl",
		clients: map[string]string{"mysql": "mariadb", "mysqldump": "mariadb-dump", "mysqlimport": "mariadb-import"},
	},
	{name: "MySQL", dir: os.Getenv("LAKESQL_MYSQL"), sure: []string{"--ssl-mode=VERIFY_CA"}, plain: "--ssl-mode=DISABLED", own: []string{"--commands"}},
}

// eachSuite runs a test with the programs of each maker. scripts/mysql-env unpacks Oracle's.
func eachSuite(t *testing.T, test func(t *testing.T, of suite)) {
	environment(t)
	for _, of := range suites {
		t.Run(of.name, func(t *testing.T) { test(t, of) })
	}
}

// program is the path of one, by MySQL's name.
func (of suite) program(t *testing.T, name string) string {
	t.Helper()
	if of.name == "MySQL" {
		if of.dir == "" {
			t.Skip("Oracle's programs are not there: LAKESQL_MYSQL=$(scripts/mysql-env), which takes them from Debian unstable")
		}
		return filepath.Join(of.dir, "bin", name)
	}
	path, err := exec.LookPath(cmp.Or(of.clients[name], name))
	require.NoError(t, err, "Debian: mariadb-client")
	return path
}

// options are how a program logs in as ann, sure of the server by its certificate.
func (of suite) options(s *shop, more ...string) []string {
	login := append([]string{"--no-defaults", "-h", s.host, "-P", s.port, "-u", "ann", "-psecret", "--ssl-ca=" + s.ca}, of.sure...)
	return append(login, more...)
}

// fails runs a program that has to fail, and returns what it complains of.
func fails(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.Error(t, err, "%s", out)
	return string(out)
}

func TestCommandLine(t *testing.T) { eachSuite(t, testCommandLine) }

func testCommandLine(t *testing.T, of suite) {
	mysql := of.program(t, "mysql")
	s := openShop(t)
	status := run(t, nil, mysql, of.options(s, append(of.own, "shop", "-e", `\s`)...)...)
	for _, line := range []string{`Current database:\tshop`, `Current user:\t\tann@%`, `SSL:\t\t\tCipher in use is TLS_`, `Server version:\t\t8.0.`, "MySQL on Delta Lake", "Uptime:", "Threads: "} {
		require.Contains(t, status, strings.ReplaceAll(line, `\t`, "\t"))
	}
	require.Equal(t, "a\n1\nb\n2\n", run(t, nil, mysql, of.options(s, "shop", "-e", "SELECT 1 AS a; SELECT 2 AS b")...))
	require.Contains(t, fails(t, mysql, of.options(s, "shop", "-e", "SELECT 1; SELECT nosuch; SELECT 2")...), "ERROR 1054 (42S22)")
	require.Contains(t, fails(t, mysql, of.options(s, "shop", "-e", "SELEC 1")...), "ERROR 1064 (42000) at line 1")
	require.Contains(t, fails(t, mysql, of.options(s, "shop", "-e", "SET max_execution_time = 100; SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d")...), "ERROR 3024 (HY000)")
	require.Contains(t, fails(t, mysql, "--no-defaults", "-h", s.host, "-P", s.port, "-u", "ann", "-psecret", of.plain, "-e", "SELECT 1"), "ERROR 1045 (28000)")

	told := run(t, nil, mysql, of.options(s, "shop", "-vv", "-e", `CREATE TABLE told (n INT); INSERT INTO told VALUES (1); INSERT INTO told VALUES (2), (3);
		INSERT INTO told SELECT n + 3 FROM told; UPDATE told SET n = 9 WHERE n > 3; MERGE INTO told t USING numbers s ON t.n = s.n WHEN MATCHED AND t.n < 3 THEN UPDATE SET n = 0; DROP TABLE told`)...)
	require.Equal(t, []string{
		"Records: 2  Duplicates: 0  Warnings: 0", "Records: 3  Duplicates: 0  Warnings: 0", "Rows matched: 3  Changed: 3  Warnings: 0", "Rows inserted: 0  Updated: 2  Deleted: 0",
	}, regexp.MustCompile(`(?m)^(Records|Rows matched|Rows inserted): .*`).FindAllString(told, -1))

	// What is completed comes of SHOW DATABASES, SHOW TABLES and COM_FIELD_LIST of each; a table that could not be listed would be named.
	completing := exec.CommandContext(t.Context(), mysql, of.options(s, append(of.own, "shop", "--auto-rehash")...)...)
	completing.Stdin = strings.NewReader("rehash\nSELECT 'done';\n")
	var complaints strings.Builder
	completing.Stderr = &complaints
	out, err := completing.Output()
	require.NoError(t, err, &complaints)
	require.NotContains(t, complaints.String(), "Didn't find")
	require.Equal(t, "done\ndone\n", string(out))

	types := run(t, nil, mysql, of.options(s, "shop", "--batch", "--skip-column-names", "-e", "SELECT * FROM every WHERE id = 2")...)
	require.Equal(t, strings.Join([]string{"2", "0", "127", "32767", "2147483647", "9223372036854775807", "-0.1", "0.1", "0.10", "0.0000000000", "9999-12-31", "1970-01-01 00:00:00.000000",
		"2038-01-19 03:14:07.000001", "", "ab   ", "😀", "a", "b", "[]", `{"a":null,"b":null}`, "{}", `"text"`, "south"}, "\t")+"\n", types)
}

func TestAdministration(t *testing.T) { eachSuite(t, testAdministration) }

func testAdministration(t *testing.T, of suite) {
	admin, show := of.program(t, "mysqladmin"), of.program(t, "mysqlshow")
	s := openShop(t)
	require.Equal(t, "mysqld is alive\n", run(t, nil, admin, of.options(s, "ping")...))
	require.Regexp(t, `^Uptime: \d+  Threads: \d+  Questions: \d+`, run(t, nil, admin, of.options(s, "status")...))
	require.Contains(t, run(t, nil, admin, of.options(s, "processlist")...), "show processlist")
	require.Contains(t, run(t, nil, admin, of.options(s, "variables")...), "lower_case_table_names")
	require.Contains(t, run(t, nil, admin, of.options(s, "extended-status")...), "Threads_connected")
	require.Contains(t, run(t, nil, show, of.options(s)...), "shop")
	require.Regexp(t, `(?s)changing.*every.*numbers`, run(t, nil, show, of.options(s, "shop")...))
	columns := run(t, nil, show, of.options(s, "shop", "every")...)
	for _, column := range []string{"| id ", "| moment ", "datetime(6)", "| anything ", "the key"} {
		require.Contains(t, columns, column)
	}
}

// A dump, read by mysql into another lakesql, is the same tables.
func TestDumpAndLoad(t *testing.T) { eachSuite(t, testDumpAndLoad) }

func testDumpAndLoad(t *testing.T, of suite) {
	dump, mysql := of.program(t, "mysqldump"), of.program(t, "mysql")
	s := openShop(t)
	text := run(t, nil, dump, of.options(s, "--single-transaction", "--routines", "--events", "--triggers", "--no-tablespaces", "shop", "every", "changing")...)
	other := harness.Start(t, t.TempDir())
	host, port, _ := strings.Cut(other.Addr, ":")
	load := exec.CommandContext(t.Context(), mysql, "--no-defaults", "-h", host, "-P", port, "-u", "root", "lake")
	load.Stdin = strings.NewReader(text)
	out, err := load.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, s.Rows(t, "SELECT * FROM shop.every ORDER BY id"), other.Rows(t, "SELECT * FROM lake.every ORDER BY id"))
	require.Equal(t, s.Rows(t, "SHOW CREATE TABLE shop.every"), other.Rows(t, "SHOW CREATE TABLE lake.every"))
	require.Equal(t, [][]string{{"1"}}, other.Rows(t, "SELECT n FROM lake.changing"))

	all := run(t, nil, dump, "--no-defaults", "-h", s.host, "-P", s.port, "-u", "root", of.plain, "--all-databases")
	for _, part := range []string{"USE `mysql`;", "USE `shop`;", "CREATE TABLE `user` (", "CREATE TABLE `every` ("} {
		require.Contains(t, all, part)
	}
}

func TestImport(t *testing.T) { eachSuite(t, testImport) }

func testImport(t *testing.T, of suite) {
	s := openShop(t)
	file := filepath.Join(t.TempDir(), "changing.txt")
	require.NoError(t, os.WriteFile(file, []byte("7;\n8;\n"), 0o600))
	run(t, nil, of.program(t, "mysqlimport"), of.options(s, "--local", "--delete", "--lock-tables", "--fields-terminated-by=;", "--columns=n", "shop", file)...)
	require.Equal(t, [][]string{{"7"}, {"8"}}, s.Rows(t, "SELECT n FROM shop.changing ORDER BY n"))
}

// Ctrl-C has mysql kill its statement by another connection.
func TestInterrupt(t *testing.T) { eachSuite(t, testInterrupt) }

func testInterrupt(t *testing.T, of suite) {
	s := openShop(t)
	cmd := exec.CommandContext(t.Context(), of.program(t, "mysql"), of.options(s, "shop", "-e", "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d")...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		return len(s.Rows(t, "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT%'")) == 1
	}, patience, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	require.Error(t, cmd.Wait())
	require.Contains(t, complaints.String(), "ERROR 1317 (70100)")
}
