package sqlext

import (
	"fmt"
	"strings"
	"time"
)

// Statement is a parsed statement of ours: one of the pointer types of this package that end in a statement method.
type Statement interface{ statement() }

// Name is a possibly qualified name. The path table delta.`/lake/t` is {Database: "delta", Name: "/lake/t"}.
type Name struct {
	Database string // "" when the name was not qualified
	Name     string
}

// String returns the name as SQL, quoted where it must be.
func (n Name) String() string {
	if n.Database == "" {
		return QuoteName(n.Name)
	}
	return QuoteName(n.Database) + "." + QuoteName(n.Name)
}

// ParseName reads a name as it stands in SQL: t, db.t or delta.`/path`.
func ParseName(text string) (Name, error) {
	p := newParser(text)
	n := p.name("the name of a table")
	if p.err == nil {
		p.end()
	}
	return n, p.err
}

// ValueKind is how a value was written.
type ValueKind uint8

// The ways to write a value.
const (
	StringValue ValueKind = iota // 'text' or "text", decoded
	NumberValue                  // 10, -1.5, as written
	WordValue                    // true, NULL, latest: a bare word, as written
	ParamValue                   // ?
)

// Value is a literal, or a parameter whose text is not known yet.
type Value struct {
	Kind  ValueKind
	Text  string // empty for a parameter
	Param int    // the parameter's index in the statement, from 0; -1 for a literal
}

// String returns the value as SQL.
func (v Value) String() string {
	switch v.Kind {
	case StringValue:
		return QuoteString(v.Text)
	case ParamValue:
		return "?"
	default:
		return v.Text
	}
}

// Option is one `key = value` or `key => value`. Keys keep their case; dotted words are joined by dots.
type Option struct {
	Key   string
	Value Value
}

// TriggerKind says when a batch starts.
type TriggerKind uint8

// The kinds of trigger. Default is a statement without TRIGGER.
const (
	TriggerDefault TriggerKind = iota
	TriggerEvery
	TriggerAvailableNow
	TriggerOnce
)

// Trigger is the TRIGGER clause.
type Trigger struct {
	Kind  TriggerKind
	Every time.Duration // TriggerEvery, unless Param is set
	Param *Param        // EVERY ? [unit]
}

// Param is a parameter with the unit that its number counts.
type Param struct {
	Index int
	Unit  time.Duration // 0: the parameter is a text with its own unit, such as '10 seconds'
}

// ErrorMode is the mode of ON ERROR.
type ErrorMode uint8

// The modes of ON ERROR. ErrorDefault is a statement without the clause.
const (
	ErrorDefault ErrorMode = iota
	ErrorPermissive
	ErrorFail
	ErrorSkipRow
	ErrorSkipFile
	ErrorDeadLetter
)

// OnError is the ON ERROR clause.
type OnError struct {
	Mode       ErrorMode
	DeadLetter *Name // ErrorDeadLetter
	Max        *Value
}

// SchemaChange is the mode of ON SCHEMA CHANGE.
type SchemaChange uint8

// The modes of ON SCHEMA CHANGE. SchemaChangeDefault is a statement without the clause.
const (
	SchemaChangeDefault SchemaChange = iota
	SchemaChangeFail
	SchemaChangeAddColumns
	SchemaChangeRescue
	SchemaChangeIgnore
)

// CreateStream is CREATE [OR REPLACE] STREAM.
type CreateStream struct {
	Name           Name
	OrReplace      bool
	IfNotExists    bool
	Target         Name
	Columns        []string // INTO t (a, b)
	PartitionedBy  []string
	Checkpoint     Value // from WITH CHECKPOINT or the option checkpointLocation
	Trigger        Trigger
	OnError        OnError
	OnSchemaChange SchemaChange
	Options        []Option // without checkpointLocation
	Comment        *Value
	Disabled       bool   // DISABLE
	Select         string // the text after AS as written, without a trailing ';'; see ParseStreamSelect
	Params         int    // how many ? the whole statement has; see Bind
	SQL            string // the whole statement as written, without a trailing ';'
}

// ExplainCreateStream is EXPLAIN CREATE STREAM ...
type ExplainCreateStream struct{ Create *CreateStream }

// ExplainChange is EXPLAIN MERGE INTO ... or EXPLAIN INSERT OVERWRITE ...
type ExplainChange struct{ SQL string } // the statement behind EXPLAIN

// ExplainFormat is EXPLAIN FORMAT = TRADITIONAL | JSON statement.
type ExplainFormat struct {
	Format string // in capitals
	SQL    string // the statement behind it
}

func (*ExplainFormat) statement() {}

// DropStream is DROP STREAM.
type DropStream struct {
	Name            Name
	IfExists        bool
	PurgeCheckpoint bool
}

// AlterAction is what an ALTER STREAM does.
type AlterAction uint8

// The actions of ALTER STREAM. PAUSE and RESUME are the actions AlterStop and AlterStart.
const (
	AlterStop AlterAction = iota + 1
	AlterStart
	AlterSetOptions // Options
	AlterSetTrigger // Trigger
	AlterRename     // NewName
	AlterSkipFile   // File
	AlterRetryFile  // File
	AlterRetryAll
	AlterReset  // Reset
	AlterSelect // Select
)

// ResetTo is where a stream begins again.
type ResetTo uint8

// The places to RESET to.
const (
	ResetAsDefined ResetTo = iota // where the sources' options say
	ResetBeginning
	ResetLatest
	ResetVersion   // Value
	ResetTimestamp // Value
)

// AlterStream is ALTER STREAM, and PAUSE, RESUME, START and STOP STREAM of one stream. Only the fields that Action names are set.
type AlterStream struct {
	Name    Name
	Action  AlterAction
	Options []Option
	Trigger Trigger
	NewName Name
	File    Value
	Reset   ResetTo
	Value   Value
	Select  string
	SQL     string // the whole statement as written, without a trailing ';'
}

// StopAllStreams is STOP STREAM ALL (or PAUSE STREAM ALL).
type StopAllStreams struct{}

// ShowStreams is SHOW STREAMS.
type ShowStreams struct {
	Database string // FROM db; "" when it was not given
	Like     *Value // LIKE 'pattern'
	Where    string // WHERE expression as written; "" when it was not given
}

// ShowStreamStatus is SHOW STREAM STATUS.
type ShowStreamStatus struct{ Name *Name }

// ShowStreamProgress is SHOW STREAM PROGRESS FOR name.
type ShowStreamProgress struct {
	Name  Name
	Limit *Value
}

// ShowStreamFiles is SHOW STREAM FILES FOR name.
type ShowStreamFiles struct {
	Name  Name
	Limit *Value
}

// ShowStreamErrors is SHOW STREAM ERRORS.
type ShowStreamErrors struct {
	Name  *Name
	Limit *Value
}

// ShowCreateStream is SHOW CREATE STREAM name [FOR SPARK].
type ShowCreateStream struct {
	Name  Name
	Spark bool
}

// DescribeStream is DESCRIBE STREAM name.
type DescribeStream struct{ Name Name }

// WaitForStream is WAIT FOR STREAM.
type WaitForStream struct {
	Name    Name
	Batch   *Value // UNTIL BATCH n; nil: UNTIL CAUGHT UP, which is also what a statement without UNTIL means
	Timeout *Value // in seconds
}

// DescribeHistory is DESCRIBE HISTORY t.
type DescribeHistory struct {
	Table Name
	Limit *Value
}

// DescribeDetail is DESCRIBE DETAIL t.
type DescribeDetail struct{ Table Name }

func (*CreateStream) statement()        {}
func (*ExplainCreateStream) statement() {}
func (*ExplainChange) statement()       {}
func (*DropStream) statement()          {}
func (*AlterStream) statement()         {}
func (*StopAllStreams) statement()      {}
func (*ShowStreams) statement()         {}
func (*ShowStreamStatus) statement()    {}
func (*ShowStreamProgress) statement()  {}
func (*ShowStreamFiles) statement()     {}
func (*ShowStreamErrors) statement()    {}
func (*ShowCreateStream) statement()    {}
func (*DescribeStream) statement()      {}
func (*WaitForStream) statement()       {}
func (*DescribeHistory) statement()     {}
func (*DescribeDetail) statement()      {}

// StreamSource is one `STREAM ...` of a stream's SELECT.
type StreamSource struct {
	Function string   // in lower case, such as "read_files"; "" where a table is read
	Table    Name     // where Function is ""
	Args     []Value  // positional arguments, such as the path of read_files; parameters count within the SELECT
	Options  []Option // named arguments, in order
}

// SourceFunction is the table function that stands for source i in a SELECT rewritten by ParseStreamSelect: __stream_source(i).
const SourceFunction = "__stream_source"

// The functions that Rewrite puts around a parameter of AS OF: their value is the text that a literal there is rewritten to,
// AsOfVersionPrefix or AsOfTimestampPrefix and the parameter.
const (
	AsOfFunction          = "__as_of" // a number is a version, a text a timestamp
	AsOfVersionFunction   = "__as_of_version"
	AsOfTimestampFunction = "__as_of_timestamp"
	AsOfVersionPrefix     = "v:"
	AsOfTimestampPrefix   = "t:"
)

// QuoteName returns an identifier as SQL, in backquotes unless it is a plain word that no keyword takes.
func QuoteName(name string) string {
	if isPlainName(name) {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// QuoteString returns a text as a SQL string literal.
func QuoteString(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`).Replace(text) + "'"
}

// SyntaxError is a statement that does not follow the grammar: MySQL's error 1064.
type SyntaxError struct {
	Near     string // the text from the first token that does not fit, at most 80 bytes
	Line     int    // the line of that token, from 1
	Expected string // what would have fitted; may be empty
}

// Error returns MySQL's words, and what was expected.
func (e *SyntaxError) Error() string {
	msg := fmt.Sprintf("You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version "+
		"for the right syntax to use near '%s' at line %d", e.Near, e.Line)
	if e.Expected != "" {
		msg += ": expected " + e.Expected
	}
	return msg
}

// RefusalKind says why a statement that was understood is refused.
type RefusalKind uint8

// The reasons for a refusal.
const (
	NotSupported      RefusalKind = iota + 1 // planned, not built yet
	MissingCheckpoint                        // CREATE STREAM without a checkpoint
	WrongForm                                // another system's form, or clauses that contradict each other
	StreamOutside                            // STREAM fn(...) outside of a stream statement
)

// RefusedError is a statement that is understood and refused. The message says what to type instead.
type RefusedError struct {
	Kind    RefusalKind
	Message string
}

func (e *RefusedError) Error() string { return e.Message }
