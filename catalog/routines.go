package catalog

import (
	"time"

	"github.com/dolthub/go-mysql-server/sql"
)

// errRoutines is the answer to what a lake has no place for.
var errRoutines = refuse(KindUnsupported, "triggers, procedures and events are not supported: the lake keeps tables, views and streams")

// noRoutines is the part of a database that GMS asks for on every statement once grants are on, and that is empty here.
type noRoutines struct{}

// GetTriggers lists none.
func (noRoutines) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger is refused.
func (noRoutines) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return errRoutines }

// DropTrigger finds none.
func (noRoutines) DropTrigger(_ *sql.Context, name string) error {
	return sql.ErrTriggerDoesNotExist.New(name)
}

// GetStoredProcedure finds none.
func (noRoutines) GetStoredProcedure(*sql.Context, string) (sql.StoredProcedureDetails, bool, error) {
	return sql.StoredProcedureDetails{}, false, nil
}

// GetStoredProcedures lists none.
func (noRoutines) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure is refused.
func (noRoutines) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error {
	return errRoutines
}

// DropStoredProcedure finds none.
func (noRoutines) DropStoredProcedure(_ *sql.Context, name string) error {
	return sql.ErrStoredProcedureDoesNotExist.New(name)
}

// GetEvent finds none.
func (noRoutines) GetEvent(*sql.Context, string) (sql.EventDefinition, bool, error) {
	return sql.EventDefinition{}, false, nil
}

// GetEvents lists none.
func (noRoutines) GetEvents(*sql.Context) ([]sql.EventDefinition, any, error) { return nil, nil, nil }

// SaveEvent is refused.
func (noRoutines) SaveEvent(*sql.Context, sql.EventDefinition) (bool, error) {
	return false, errRoutines
}

// DropEvent finds none.
func (noRoutines) DropEvent(_ *sql.Context, name string) error {
	return sql.ErrEventDoesNotExist.New(name)
}

// UpdateEvent is refused.
func (noRoutines) UpdateEvent(*sql.Context, string, sql.EventDefinition) (bool, error) {
	return false, errRoutines
}

// UpdateLastExecuted is refused.
func (noRoutines) UpdateLastExecuted(*sql.Context, string, time.Time) error { return errRoutines }

// NeedsToReloadEvents is false.
func (noRoutines) NeedsToReloadEvents(*sql.Context, any) (bool, error) { return false, nil }
