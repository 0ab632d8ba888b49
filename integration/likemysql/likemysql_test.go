package likemysql

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
)

var (
	peer   = flag.String("mysql", "", "`host:port` of a MySQL server that is asked anew; its database likemysql is dropped")
	other  = flag.String("against", "", "`host:port` of another server of MySQL's protocol, whose differences are counted; its database likemysql is dropped")
	update = flag.Bool("update", false, "writes testdata/differences.txt")
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(harness.Main(m))
}

const differencesFile = "testdata/differences.txt"

func TestAnswersAreMySQLs(t *testing.T) {
	files, err := filepath.Glob("testdata/*.sql")
	require.NoError(t, err)
	require.Greater(t, len(files), 1)
	if *peer != "" {
		record(t, files)
	}
	found := differences(t, harness.Start(t, t.TempDir()).Addr, files)
	if *update {
		require.NoError(t, os.WriteFile(differencesFile, []byte(found), 0o644))
	}
	known, err := os.ReadFile(differencesFile)
	require.NoError(t, err)
	for _, line := range onlyIn(found, string(known)) {
		t.Errorf("differs now from MySQL: %s", line)
	}
	for _, line := range onlyIn(string(known), found) {
		t.Errorf("does not differ so any more: go test ./integration/likemysql -update: %s", line)
	}
}

// TestAnotherServer counts in how many statements another server's answer is not MySQL's, by kind, and lakesql's beside it.
func TestAnotherServer(t *testing.T) {
	if *other == "" {
		t.Skip("give -against host:port of a server")
	}
	files, err := filepath.Glob("testdata/*.sql")
	require.NoError(t, err)
	ours, err := os.ReadFile(differencesFile)
	require.NoError(t, err)
	theirs := differences(t, *other, files)
	for _, kind := range slices.Concat([]string{"any"}, allKinds) {
		t.Logf("%-14s lakesql %5d   the other server %5d", kind, countOf(kind, string(ours)), countOf(kind, theirs))
	}
}

// countOf is how many lines of differences name the kind.
func countOf(kind, differences string) (n int) {
	for line := range strings.Lines(differences) {
		named, _, _ := strings.Cut(line, ":")
		if kind == "any" || slices.Contains(strings.Split(named, ", "), kind) {
			n++
		}
	}
	return n
}

// differences are a line for each statement to which the server answers otherwise than MySQL: the kinds, and the statement.
func differences(t *testing.T, address string, files []string) string {
	prepare(t, address)
	var found strings.Builder
	for _, file := range statementFiles(files) {
		theirs, err := os.ReadFile(answersOf(file))
		require.NoError(t, err)
		known := parseAnswers(string(theirs))
		for _, s := range lines(t, file) {
			want, ok := known[s]
			require.True(t, ok, "%s has no answer of MySQL: %s", file, s)
			got, err := ask(address, s)
			require.NoError(t, err, s)
			if kinds := differs(got, want); len(kinds) > 0 {
				fmt.Fprintf(&found, "%s: %s\n", strings.Join(kinds, ", "), s)
			}
		}
	}
	return found.String()
}

// onlyIn are the lines of a that b has not.
func onlyIn(a, b string) (only []string) {
	has := map[string]bool{}
	for line := range strings.Lines(b) {
		has[line] = true
	}
	for line := range strings.Lines(a) {
		if !has[line] {
			only = append(only, strings.TrimSuffix(line, "\n"))
		}
	}
	return only
}

const tablesFile = "testdata/tables.sql"

func statementFiles(all []string) (files []string) {
	for _, f := range all {
		if f != tablesFile {
			files = append(files, f)
		}
	}
	return files
}

func answersOf(file string) string { return strings.TrimSuffix(file, ".sql") + ".mysql" }

// prepare makes the database and its tables.
func prepare(t *testing.T, address string) {
	c, err := dial(context.Background(), address, "")
	require.NoError(t, err)
	defer c.Close()
	for _, s := range append([]string{"DROP DATABASE IF EXISTS " + database, "CREATE DATABASE " + database, "USE " + database}, lines(t, tablesFile)...) {
		_, err := c.ExecuteFetch(s, most, false)
		require.NoError(t, err, s)
	}
}

// lines are the statements of a file: one a line, none for a comment.
func lines(t *testing.T, file string) (statements []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if s := strings.TrimSpace(line); s != "" && !strings.HasPrefix(s, "#") {
			statements = append(statements, s)
		}
	}
	return statements
}

// record asks MySQL and writes its answers.
func record(t *testing.T, files []string) {
	prepare(t, *peer)
	c, err := dial(context.Background(), *peer, database)
	require.NoError(t, err)
	defer c.Close()
	for _, file := range statementFiles(files) {
		var b bytes.Buffer
		fmt.Fprintf(&b, "# Answers of MySQL %s.\n", c.ServerVersion)
		for _, s := range lines(t, file) {
			a, err := ask(*peer, s)
			require.NoError(t, err, s)
			fmt.Fprintf(&b, "%s\n", s)
			for _, line := range a {
				fmt.Fprintf(&b, "\t%s\n", line)
			}
		}
		require.NoError(t, os.WriteFile(answersOf(file), b.Bytes(), 0o644))
	}
}

// parseAnswers reads what record wrote.
func parseAnswers(text string) map[string]answer {
	answers := map[string]answer{}
	statement := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if of, ok := strings.CutPrefix(line, "\t"); ok {
			answers[statement] = append(answers[statement], of)
		} else if !strings.HasPrefix(line, "#") {
			statement = line
			answers[statement] = nil
		}
	}
	return answers
}
