package server

import (
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"lakesql/sqlext"
)

// maxAuditedText bounds what an audit line has of a statement, in bytes.
const maxAuditedText = 4 << 10

// audited are the first words of the statements that leave a line: who may do what, and what there is.
var audited = map[string]string{
	"GRANT": "grant", "REVOKE": "grant", "FLUSH": "grant", "CREATE": "ddl", "ALTER": "ddl", "DROP": "ddl", "RENAME": "ddl", "TRUNCATE": "ddl",
	"CONVERT": "ddl", "RESTORE": "ddl", "VACUUM": "ddl", "START": "ddl", "STOP": "ddl", "PAUSE": "ddl", "RESUME": "ddl", "KILL": "kill", "SET": "grant",
}

// auditKind is the kind of a statement's audit line; "": it leaves none.
func auditKind(text string) string {
	first, second := firstWords(text)
	kind := audited[first]
	switch {
	case first == "SET" && second != "PASSWORD", first == "START" && second != "STREAM":
		return ""
	case kind == "ddl" && (second == "USER" || second == "ROLE"):
		return "grant"
	}
	return kind
}

// firstWords are a statement's first two words, in capitals, behind comments.
func firstWords(text string) (first, second string) {
	words := strings.FieldsFunc(sqlext.WithoutComments(text, 2), func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	if len(words) > 0 {
		first = strings.ToUpper(words[0])
	}
	if len(words) > 1 {
		second = strings.ToUpper(words[1])
	}
	return first, second
}

// auditedText is a statement as an audit line has it: without secrets, and not too long.
func auditedText(text string) string {
	text = sqlext.Redact(text)
	if len(text) > maxAuditedText {
		text = strings.ToValidUTF8(text[:maxAuditedText], "") + "..."
	}
	return text
}

// audit writes a line for a statement that changes what there is or who may do what, also by EXECUTE. It has no secret.
func (h *handler) audit(c *mysql.Conn, r request, took time.Duration, e *mysql.SQLError) {
	does := r.text
	if r.executed != "" {
		does = r.executed
	}
	kind := auditKind(does)
	if kind == "" {
		return
	}
	attributes := []any{"audit", kind, "connection", c.ConnectionID, "statement", auditedText(r.text), "took", took}
	if r.executed != "" {
		attributes = append(attributes, "executed", auditedText(r.executed))
	}
	if who, ok := c.UserData.(sql.MysqlConnectionUser); ok {
		attributes = append(attributes, "account", who.User+"@"+who.Host)
	}
	level := slog.LevelInfo
	if e != nil {
		level = slog.LevelWarn
		attributes = append(attributes, "errno", e.Num)
	}
	h.log.Log(h.base, level, "statement", attributes...)
}

// shownError is an error as the log may have it: where the statement holds a password, the words of an error may repeat it.
func shownError(text string, err error) string {
	if sqlext.Redact(text) != text {
		return "not kept: the statement holds a password"
	}
	return err.Error()
}
