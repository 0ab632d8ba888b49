package clients

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// program is one of Debian's mariadb-client.
func program(t *testing.T, name string) string {
	t.Helper()
	environment(t)
	path, err := exec.LookPath(name)
	require.NoError(t, err, "Debian: mariadb-client")
	return path
}

// options are how a program of mariadb-client logs in as ann, sure of the server by its certificate.
func (s *shop) options(more ...string) []string {
	return append([]string{"--no-defaults", "-h", s.host, "-P", s.port, "-u", "ann", "-psecret", "--ssl-ca=" + s.ca, "--ssl-verify-server-cert"}, more...)
}

// fails runs a program that has to fail, and returns what it complains of.
func fails(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.Error(t, err, "%s", out)
	return string(out)
}

func TestCommandLine(t *testing.T) {
	mariadb := program(t, "mariadb")
	s := openShop(t)
	status := run(t, nil, mariadb, s.options("shop", "-e", `\s`)...)
	for _, line := range []string{`Current database:\tshop`, `Current user:\t\tann@%`, `SSL:\t\t\tCipher in use is TLS_`, `Server version:\t\t8.0.`, "MySQL on Delta Lake", "Uptime:", "Threads: "} {
		require.Contains(t, status, strings.ReplaceAll(line, `\t`, "\t"))
	}
	require.Equal(t, "a\n1\nb\n2\n", run(t, nil, mariadb, s.options("shop", "-e", "SELECT 1 AS a; SELECT 2 AS b")...))
	require.Contains(t, fails(t, mariadb, s.options("shop", "-e", "SELECT 1; SELECT nosuch; SELECT 2")...), "ERROR 1054 (42S22)")
	require.Contains(t, fails(t, mariadb, s.options("shop", "-e", "SELEC 1")...), "ERROR 1064 (42000) at line 1")
	require.Contains(t, fails(t, mariadb, s.options("shop", "-e", "SET max_execution_time = 100; SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d")...), "ERROR 3024 (HY000)")
	require.Contains(t, fails(t, mariadb, "--no-defaults", "-h", s.host, "-P", s.port, "-u", "ann", "-psecret", "--skip-ssl", "-e", "SELECT 1"), "ERROR 1045 (28000)")

	// What is completed comes of SHOW DATABASES, SHOW TABLES and COM_FIELD_LIST of each; a table that could not be listed would be named.
	completing := exec.CommandContext(t.Context(), mariadb, s.options("shop", "--auto-rehash")...)
	completing.Stdin = strings.NewReader("rehash\nSELECT 'done';\n")
	out, err := completing.CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "done\ndone\n", string(out))

	types := run(t, nil, mariadb, s.options("shop", "--batch", "--skip-column-names", "-e", "SELECT * FROM every WHERE id = 2")...)
	require.Equal(t, strings.Join([]string{"2", "0", "127", "32767", "2147483647", "9223372036854775807", "-0.1", "0.1", "0.10", "0.0000000000", "9999-12-31", "1970-01-01 00:00:00.000000",
		"2038-01-19 03:14:07.000001", "", "ab   ", "😀", "a", "b", "[]", `{"a":null,"b":null}`, "{}", `"text"`, "south"}, "\t")+"\n", types)
}

func TestAdministration(t *testing.T) {
	admin, show := program(t, "mysqladmin"), program(t, "mysqlshow")
	s := openShop(t)
	require.Equal(t, "mysqld is alive\n", run(t, nil, admin, s.options("ping")...))
	require.Regexp(t, `^Uptime: \d+  Threads: \d+  Questions: \d+`, run(t, nil, admin, s.options("status")...))
	require.Contains(t, run(t, nil, admin, s.options("processlist")...), "show processlist")
	require.Contains(t, run(t, nil, admin, s.options("variables")...), "lower_case_table_names")
	require.Contains(t, run(t, nil, admin, s.options("extended-status")...), "Threads_connected")
	require.Contains(t, run(t, nil, show, s.options()...), "shop")
	require.Regexp(t, `(?s)changing.*every.*numbers`, run(t, nil, show, s.options("shop")...))
	columns := run(t, nil, show, s.options("shop", "every")...)
	for _, column := range []string{"| id ", "| moment ", "datetime(6)", "| anything ", "the key"} {
		require.Contains(t, columns, column)
	}
}

// A dump of mariadb-dump, read by mariadb into another lakesql, is the same tables.
func TestDumpAndLoad(t *testing.T) {
	dump, mariadb := program(t, "mariadb-dump"), program(t, "mariadb")
	s := openShop(t)
	text := run(t, nil, dump, s.options("--single-transaction", "--routines", "--events", "--triggers", "shop", "every", "changing")...)
	other := harness.Start(t, t.TempDir())
	host, port, _ := strings.Cut(other.Addr, ":")
	load := exec.CommandContext(t.Context(), mariadb, "--no-defaults", "-h", host, "-P", port, "-u", "root", "lake")
	load.Stdin = strings.NewReader(text)
	out, err := load.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, s.Rows(t, "SELECT * FROM shop.every ORDER BY id"), other.Rows(t, "SELECT * FROM lake.every ORDER BY id"))
	require.Equal(t, s.Rows(t, "SHOW CREATE TABLE shop.every"), other.Rows(t, "SHOW CREATE TABLE lake.every"))
	require.Equal(t, [][]string{{"1"}}, other.Rows(t, "SELECT n FROM lake.changing"))
}
