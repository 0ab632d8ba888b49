package clients

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"lakesql/integration/harness"
	"lakesql/integration/shared"
)

// TestStatementsOfTools sends what tools are known to send, each statement in a connection of its own, and wants MySQL's names of columns, MySQL's values where they are
// known, or MySQL's error. testdata/statements.txt says which.
func TestStatementsOfTools(t *testing.T) {
	sent, err := os.ReadFile(shared.Path(t, "clients", "statements.txt"))
	require.NoError(t, err)
	known, err := os.ReadFile(filepath.Join("testdata", "statements.txt"))
	require.NoError(t, err)
	statements := strings.Split(strings.TrimSuffix(string(sent), "\n"), "\n")
	answers := knownAnswers(string(known))
	require.Len(t, answers, len(statements))

	p := harness.Start(t, t.TempDir())
	for _, s := range []string{
		"CREATE DATABASE mydb",
		"CREATE TABLE mydb.events (id INT NOT NULL, name VARCHAR(20) COMMENT 'who', ts DATETIME(6), amount DECIMAL(10,2)) COMMENT 'what happened'",
		"INSERT INTO mydb.events VALUES (1, 'ann', '2024-03-01 10:00:30', 1.5), (2, 'bob', '2024-03-05 11:00:00', 2.25), (3, 'ann', '2024-04-01 12:00:00', 10)",
	} {
		p.Exec(t, s)
	}
	for i, line := range statements {
		tool, statement, ok := strings.Cut(line, "|")
		require.True(t, ok, line)
		t.Run(fmt.Sprintf("%03d %s", i+1, tool), func(t *testing.T) {
			require.Equal(t, tool, answers[i].tool, "testdata/statements.txt is of other statements")
			db, err := sql.Open("mysql", "root@tcp("+p.Addr+")/mydb?multiStatements=true")
			require.NoError(t, err)
			defer db.Close()
			got := ask(t, db, statement)
			if answers[i].rows == nil {
				got.rows = nil
			}
			require.Equal(t, answers[i].text(), got.text(), statement)
		})
	}
}

// answer is what a statement gives: of each result, in one, the columns and the rows; or an error.
type answer struct {
	tool    string
	outcome string   // "columns a, b", "error 1064 42000", "ok"
	rows    []string // "a|b"; nil: not known
}

func (a answer) text() string {
	return strings.Join(append([]string{a.outcome}, a.rows...), "\n")
}

// knownAnswers reads testdata/statements.txt: a line "tool: outcome" a statement, and below it, indented, its rows where they are known.
func knownAnswers(text string) []answer {
	var all []answer
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if row, ok := strings.CutPrefix(line, "    "); ok {
			last := &all[len(all)-1]
			last.rows = append(last.rows, row)
		} else if tool, outcome, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			all = append(all, answer{tool: tool, outcome: outcome})
		}
	}
	return all
}

func ask(t *testing.T, db *sql.DB, statement string) answer {
	rows, err := db.QueryContext(context.Background(), statement)
	if err != nil {
		return answer{outcome: outcomeOf(t, err)}
	}
	defer rows.Close()
	var a answer
	for {
		columns, err := rows.Columns()
		require.NoError(t, err)
		if len(columns) == 0 {
			a.outcome += "; ok"
		} else {
			a.outcome += "; columns " + strings.Join(columns, ", ")
		}
		for rows.Next() {
			values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			require.NoError(t, rows.Scan(into...))
			a.rows = append(a.rows, rowText(values))
		}
		if !rows.NextResultSet() {
			break
		}
	}
	if err := rows.Err(); err != nil {
		return answer{outcome: outcomeOf(t, err)}
	}
	a.outcome = strings.TrimPrefix(a.outcome, "; ")
	return a
}

func rowText(values []sql.NullString) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = v.String
		if !v.Valid {
			texts[i] = "NULL"
		}
	}
	return strings.Join(texts, "|")
}

func outcomeOf(t *testing.T, err error) string {
	var e *mysql.MySQLError
	require.True(t, errors.As(err, &e), "%v", err)
	return fmt.Sprintf("error %d %s", e.Number, e.SQLState)
}
