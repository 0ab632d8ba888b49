package integration

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

// client is a way to run a statement: each plays the whole lesson.
type client interface {
	// run returns the rows as text, NULL as "NULL", or an error that begins with MySQL's number.
	run(p *harness.Process, statement string) ([][]string, error)
}

// textClient is go-sql-driver's text protocol.
type textClient struct{}

func (textClient) run(p *harness.Process, statement string) ([][]string, error) {
	return answer(p.DB.Query(statement))
}

// preparedClient is go-sql-driver's binary protocol: every statement is prepared, executed and closed.
type preparedClient struct{}

func (preparedClient) run(p *harness.Process, statement string) ([][]string, error) {
	s, err := p.DB.Prepare(statement)
	if err != nil {
		return nil, numbered(err)
	}
	defer s.Close()
	return answer(s.Query())
}

func answer(r *sql.Rows, err error) ([][]string, error) {
	if err != nil {
		return nil, numbered(err)
	}
	rows, err := harness.TextRows(r)
	return rows, numbered(err)
}

// numbered gives an error the form that the command-line client prints.
func numbered(err error) error {
	var m *mysql.MySQLError
	if errors.As(err, &m) {
		return fmt.Errorf("ERROR %d (%s): %s", m.Number, m.SQLState[:], m.Message)
	}
	return err
}

// commandLine is the mysql or mariadb program.
type commandLine struct{ program string }

func (c commandLine) run(p *harness.Process, statement string) ([][]string, error) {
	return c.as(p, statement, "-u", "root")
}

// as runs a statement with options of the program that say as whom.
func (c commandLine) as(p *harness.Process, statement string, who ...string) ([][]string, error) {
	host, port, err := net.SplitHostPort(p.Addr)
	if err != nil {
		return nil, err
	}
	args := append([]string{"--no-defaults", "-h", host, "-P", port}, who...)
	cmd := exec.Command(c.program, append(args, "--batch", "--skip-column-names", "lake", "-e", statement)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, errors.New(strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return nil, err
	}
	rows := [][]string{}
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows, nil
}

// clients are those of this machine; a missing command-line client is said, not passed over.
func clients(t *testing.T) map[string]client {
	t.Helper()
	all := map[string]client{"text": textClient{}, "prepared": preparedClient{}}
	for _, program := range []string{"mariadb", "mysql"} {
		if path, err := exec.LookPath(program); err == nil {
			all["command line"] = commandLine{path}
			return all
		}
	}
	t.Log("no mysql or mariadb program on this machine: its part of this test is not run")
	return all
}

// must runs a statement that has to succeed.
func must(t *testing.T, c client, p *harness.Process, statement string) [][]string {
	t.Helper()
	rows, err := c.run(p, statement)
	require.NoError(t, err, "%s\n%s", statement, p.Log)
	return rows
}

// refused runs a statement that has to fail, and returns its message.
func refused(t *testing.T, c client, p *harness.Process, statement string) string {
	t.Helper()
	rows, err := c.run(p, statement)
	require.Error(t, err, "%s gave %v", statement, rows)
	return err.Error()
}
