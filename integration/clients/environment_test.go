package clients

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// envDir names the folder that scripts/clients-env made.
const envDir = "LAKESQL_CLIENTS"

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

func environment(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skipf("%s is not set: run `make interop`", envDir)
	}
	return dir
}

// patience is how long a client's program may take, on a machine that is busy with other tests.
const patience = 3 * time.Minute

// shop is a server with the database shop and the account ann, password secret, who may do everything in shop and only gets in over TLS.
type shop struct {
	*harness.Process
	host, port string
	ca         string // the file of the server's certificate
}

// everyColumn declares one column of each type that a MySQL client can be shown.
const everyColumn = `id INT NOT NULL COMMENT 'the key', flag BOOLEAN, tiny TINYINT, small SMALLINT, number INT, big BIGINT, single FLOAT, twice DOUBLE,
	exact DECIMAL(10,2), wide DECIMAL(38,10), day DATE, moment TIMESTAMP(6), wall TIMESTAMP_NTZ, word VARCHAR(20), fixed CHAR(5), txt STRING,
	bytes VARBINARY(16), raw BINARY, list ARRAY<INT>, record STRUCT<a: INT, b: STRING>, dict MAP<STRING, INT>, anything VARIANT, part VARCHAR(10)`

// openShop starts a server and makes in it: every, with a column of each type, two rows of values and one of nulls; numbers, from 1 to 1000;
// changing, with one row; and lake.secrets, which ann may not read.
func openShop(t *testing.T, args ...string) *shop {
	t.Helper()
	dir := t.TempDir()
	s := &shop{Process: harness.Start(t, dir, args...), ca: filepath.Join(dir, "data", "server-cert.pem")}
	var err error
	s.host, s.port, err = net.SplitHostPort(s.Addr)
	require.NoError(t, err)
	for _, statement := range []string{
		"CREATE DATABASE shop",
		"CREATE TABLE shop.every (" + everyColumn + ") PARTITIONED BY (part) COMMENT 'one column of each type'",
		`INSERT INTO shop.every VALUES
		(1, TRUE, -128, -32768, -2147483648, -9223372036854775808, 1.5, -2.25, -1234567.89, 1234567890123456789012345678.0123456789,
			'2024-02-29', '2024-02-29 23:59:59.123456', '1999-12-31 00:00:00', 'Grüße ✓', 'abcde', 'a\nb\tc\'d"', x'00ff80', x'',
			'[1,2,null]', '{"a":7,"b":"x"}', '{"k":1}', '{"n":[1,2.5,null]}', 'north'),
		(2, FALSE, 127, 32767, 2147483647, 9223372036854775807, -0.1, 0.1, 0.10, 0, '9999-12-31', '1970-01-01 00:00:00',
			'2038-01-19 03:14:07.000001', '', 'ab', '😀', x'61', x'62', '[]', '{"a":null,"b":null}', '{}', '"text"', 'south')`,
		"INSERT INTO shop.every (id) VALUES (3)",
		"CREATE TABLE shop.numbers (n INT)",
		"INSERT INTO shop.numbers WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 1000) SELECT n FROM s",
		"CREATE TABLE shop.changing (n INT)",
		"INSERT INTO shop.changing VALUES (1)",
		"CREATE TABLE lake.secrets (n INT)",
		"CREATE USER ann IDENTIFIED BY 'secret' REQUIRE SSL",
		"GRANT ALL ON shop.* TO ann",
	} {
		s.Exec(t, statement)
	}
	return s
}

// run runs a client's program and returns what it prints.
func run(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), env...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(t, err, "%s %v\n%s%s", program, args, out, &complaints)
	return string(out)
}

// requireLines compares what a program printed, line by line. Empty lines at the ends of want count for nothing.
func requireLines(t *testing.T, want, got string) {
	t.Helper()
	wanted, printed := strings.Split(strings.Trim(want, "\n"), "\n"), strings.Split(strings.TrimRight(got, "\n"), "\n")
	for i, line := range printed {
		if i < len(wanted) && wanted[i] != line {
			t.Errorf("line %d\nwant %s\ngot  %s", i+1, wanted[i], line)
		}
	}
	require.Len(t, printed, len(wanted), got)
}
