package catalog

import (
	"encoding/json"
	"fmt"
	"strings"

	"lakesql/batch"
)

// entryKind says what a row of the catalog table is about.
type entryKind string

// The kinds of rows.
const (
	databaseEntry  entryKind = "database"  // name: db
	tableEntry     entryKind = "table"     // name: db/table; definition: tableDefinition. Only tables whose folder is not <db>/<table>
	viewEntry      entryKind = "view"      // name: db/view; definition: viewDefinition
	streamEntry    entryKind = "stream"    // name: db/stream; definition: stream.Definition
	tombstoneEntry entryKind = "tombstone" // name: folder#id, of a table that was dropped; definition: tombstone
)

// The desired states of a stream.
const (
	desiredRunning = "RUNNING"
	desiredPaused  = "PAUSED"
)

// entry is one row of the catalog table. The newest row of a kind and name is in force; names are compared without case.
// Rows are never changed: a DDL statement appends.
type entry struct {
	Seq        int64 // ascending over all rows
	Kind       entryKind
	Name       string
	Definition string // JSON
	Desired    string // streams: RUNNING or PAUSED
	Deleted    bool
}

// entrySchema is the schema of the catalog table, in the order of entry's fields.
var entrySchema = &batch.Schema{Fields: []batch.Field{
	{Name: "seq", Type: batch.Type{Kind: batch.Int64}, Nullable: true},
	{Name: "kind", Type: batch.Type{Kind: batch.String}, Nullable: true},
	{Name: "name", Type: batch.Type{Kind: batch.String}, Nullable: true},
	{Name: "definition", Type: batch.Type{Kind: batch.String}, Nullable: true},
	{Name: "desired_state", Type: batch.Type{Kind: batch.String}, Nullable: true},
	{Name: "deleted", Type: batch.Type{Kind: batch.Bool}, Nullable: true},
}}

// tableDefinition is a table whose folder is not the one that its name says.
type tableDefinition struct {
	Location string `json:"location"` // absolute URI
	External bool   `json:"external"` // LOCATION was given: DROP only unregisters it
	ID       string `json:"id"`       // metaData.id
}

// viewDefinition is a view as text.
type viewDefinition struct {
	Select  string `json:"select"`
	Create  string `json:"create"`
	SQLMode string `json:"sqlMode"`
}

// tombstone hides the table with that metaData.id in that folder.
type tombstone struct {
	Folder string `json:"folder"` // below the warehouse: db/table
	ID     string `json:"id"`
}

// entryKey is what the newest entry wins for.
type entryKey struct {
	kind entryKind
	name string // lower case
}

func (e entry) key() entryKey { return entryKey{e.Kind, strings.ToLower(e.Name)} }

func newEntry(kind entryKind, name string, definition any) (entry, error) {
	text, err := json.Marshal(definition)
	if err != nil {
		return entry{}, fmt.Errorf("write %s %s: %w", kind, name, err)
	}
	return entry{Kind: kind, Name: name, Definition: string(text)}, nil
}

// decode reads the definition into a value of the type that the entry's kind has.
func (e entry) decode(into any) error {
	if err := json.Unmarshal([]byte(e.Definition), into); err != nil {
		return fmt.Errorf("catalog table: %s %s: damaged definition: %w", e.Kind, e.Name, err)
	}
	return nil
}

// qualified is the name of an entry in a database.
func qualified(database, name string) string { return database + "/" + name }

// unqualified splits what qualified joined.
func unqualified(name string) (database, local string) {
	database, local, _ = strings.Cut(name, "/")
	return database, local
}
