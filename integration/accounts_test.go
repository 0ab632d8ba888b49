package integration

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// The real command-line client logs in over TLS with a password, is sure of the server by its certificate, and is refused without TLS; all of
// it again after the server was killed.
func TestTheCommandLineClientLogsInOverTLS(t *testing.T) {
	program, err := exec.LookPath("mariadb")
	if err != nil {
		t.Skip("no mariadb program on this machine")
	}
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	p := harness.Start(t, dir, "--data-dir", data)
	for _, s := range []string{"CREATE TABLE t (a INT)", "INSERT INTO t VALUES (5)", "CREATE USER ann IDENTIFIED BY 'pw' REQUIRE SSL", "GRANT SELECT ON lake.* TO ann"} {
		p.Exec(t, s)
	}
	for range 2 {
		ann := func(password string, more ...string) login { return login{program, "ann", password, more} }
		sure := []string{"--ssl-ca=" + filepath.Join(data, "server-cert.pem"), "--ssl-verify-server-cert"}
		require.Equal(t, [][]string{{"ann@%", "5"}}, must(t, ann("pw", sure...), p, "SELECT CURRENT_USER(), a FROM t"))
		require.Contains(t, refused(t, ann("pw", sure...), p, "DELETE FROM t"), "ERROR 1142 (42000)")
		require.Contains(t, refused(t, ann("pw", "--skip-ssl"), p, "SELECT 1"), "ERROR 1045 (28000)")
		require.Contains(t, refused(t, ann("wrong", "--ssl"), p, "SELECT 1"), "ERROR 1045 (28000)")
		p.Kill()
		p = harness.Start(t, dir, "--data-dir", data)
	}
}

// login is the command-line client of an account.
type login struct {
	program, user, password string
	more                    []string
}

func (l login) run(p *harness.Process, statement string) ([][]string, error) {
	return commandLine{l.program}.as(p, statement, append([]string{"-u", l.user, "-p" + l.password}, l.more...)...)
}
