package stream

import (
	"strings"
	"time"
)

// Definition is one CREATE STREAM statement, as it is kept in the catalog.
type Definition struct {
	Database       string            `json:"database"`
	Name           string            `json:"name"`
	ID             string            `json:"id"` // the checkpoint's id; set by Manager.Create and Manager.Reset
	Target         TargetRef         `json:"target"`
	Columns        []string          `json:"columns,omitempty"` // INTO t (c1, c2): new names of the SELECT's columns, by position
	PartitionedBy  []string          `json:"partitionedBy,omitempty"`
	Checkpoint     string            `json:"checkpoint"` // canonical absolute URI
	Trigger        Trigger           `json:"trigger"`
	OutputMode     string            `json:"outputMode,omitempty"` // "" and APPEND are append
	OnError        OnError           `json:"onError"`
	OnSchemaChange SchemaChange      `json:"onSchemaChange,omitempty"`
	Options        map[string]string `json:"options,omitempty"` // OPTIONS (...), names in any case
	Comment        string            `json:"comment,omitempty"`
	Definer        string            `json:"definer,omitempty"`     // user@host
	Paused         bool              `json:"paused,omitempty"`      // STOP, PAUSE or DISABLE: not started with the server
	Finished       bool              `json:"finished,omitempty"`    // AVAILABLE NOW or ONCE is done: not started with the server
	Resetting      bool              `json:"resetting,omitempty"`   // a RESET began: whatever id the checkpoint has is the stream's
	RenamedFrom    string            `json:"renamedFrom,omitempty"` // a RENAME began: the definition of that name is out of date
	Begin          Begin             `json:"begin,omitzero"`        // where the sources begin since the last RESET
	SelectSQL      string            `json:"select"`                // the text behind AS
	SQL            string            `json:"sql"`                   // the whole statement
	Created        time.Time         `json:"created"`

	copying bool // it is a COPY INTO: one batch, and nothing of it is kept
}

// FullName is database.name.
func (d *Definition) FullName() string { return d.Database + "." + d.Name }

func (d *Definition) key() streamKey { return keyOf(d.Database, d.Name) }

// subject is what errors are about.
func (d *Definition) subject() string {
	if d.copying {
		return "COPY INTO " + d.Target.String()
	}
	return "stream " + d.FullName()
}

// otherSelect is how another SELECT is given, behind what it is to do.
func (d *Definition) otherSelect() string {
	if d.copying {
		return "with COPY INTO ... FROM (SELECT ... FROM 'path')"
	}
	if d.ID == "" {
		return "of this statement"
	}
	return "with CREATE OR REPLACE STREAM, which keeps the checkpoint"
}

// streamKey is a stream's name as it is compared: without case.
type streamKey struct{ database, name string }

func keyOf(database, name string) streamKey {
	return streamKey{strings.ToLower(database), strings.ToLower(name)}
}

// TargetRef names the table that a stream writes: by database and table, or by path.
type TargetRef struct {
	Database string `json:"database,omitempty"`
	Table    string `json:"table,omitempty"`
	Path     string `json:"path,omitempty"` // absolute URI, where the statement says delta.`path`
}

func (r TargetRef) String() string {
	if r.Path != "" {
		return "delta.`" + r.Path + "`"
	}
	return r.Database + "." + r.Table
}

// TriggerKind says when batches start.
type TriggerKind string

// The kinds of triggers.
const (
	Adaptive     TriggerKind = ""              // as soon as something is new
	Every        TriggerKind = "EVERY"         // at multiples of an interval since 1970, as Spark does
	AvailableNow TriggerKind = "AVAILABLE NOW" // what is there now, in as many batches as the limits want, then finished
	Once         TriggerKind = "ONCE"          // what is there now, in one batch, then finished
)

// Trigger says when batches start.
type Trigger struct {
	Kind  TriggerKind   `json:"kind,omitempty"`
	Every time.Duration `json:"every,omitempty"` // Every only
}

func (t Trigger) String() string {
	switch t.Kind {
	case Every:
		return "EVERY " + t.Every.String()
	case Adaptive:
		return "ADAPTIVE"
	default:
		return string(t.Kind)
	}
}

func (t Trigger) ends() bool { return t.Kind == AvailableNow || t.Kind == Once }

// OnError is the ON ERROR clause.
type OnError struct {
	Mode       ErrorMode  `json:"mode,omitempty"`
	DeadLetter *TargetRef `json:"deadLetter,omitempty"` // DeadLetter only
	Max        int64      `json:"max,omitempty"`        // malformed rows in one batch that are still borne; 0: any number
}

// ErrorMode says what becomes of malformed rows and unreadable files.
type ErrorMode string

// The modes of ON ERROR.
const (
	Permissive ErrorMode = "" // the bad field is NULL, the row stays, the error is recorded
	Fail       ErrorMode = "FAIL"
	SkipRow    ErrorMode = "SKIP ROW"
	SkipFile   ErrorMode = "SKIP FILE"   // as Permissive, and a file that cannot be read is left out
	DeadLetter ErrorMode = "DEAD LETTER" // as SkipRow, and the row goes into a table of its own
)

// LeavesOut says that malformed rows do not come into the target.
func (m ErrorMode) LeavesOut() bool { return m == SkipRow || m == DeadLetter }

// SchemaChange is the ON SCHEMA CHANGE clause: what becomes of columns that the target or the inferred schema lacks.
type SchemaChange string

// The values of ON SCHEMA CHANGE.
const (
	SchemaDefault    SchemaChange = "" // ADD COLUMNS where the schema was inferred, IGNORE where it was given
	SchemaFail       SchemaChange = "FAIL"
	SchemaAddColumns SchemaChange = "ADD COLUMNS"
	SchemaIgnore     SchemaChange = "IGNORE"
	SchemaRescue     SchemaChange = "RESCUE"
)
