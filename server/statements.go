package server

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// Prepared statements are the connections' (vitess has them by their ids) and the sessions' (GMS has them by their texts). Neither gives up what
// was prepared in vain or closed; it is done here.

// takeStatement counts a statement that is prepared, of all connections.
func (h *handler) takeStatement() error {
	if most := h.globalVariable("max_prepared_stmt_count"); h.prepared.Add(1) > most {
		h.prepared.Add(-1)
		return mysql.NewSQLError(1461, mysql.SSClientError, "Can't create more than max_prepared_stmt_count statements (current value: %d)", most)
	}
	return nil
}

// dropStatement forgets a statement: there is no other by its id, and where there is none of its text, none by that.
func (h *handler) dropStatement(c *mysql.Conn, id uint32) error {
	p, ok := c.PrepareData[id]
	if !ok {
		return nil
	}
	delete(c.PrepareData, id)
	h.prepared.Add(-1)
	key := statementKey(p.PrepareStmt)
	for _, other := range c.PrepareData {
		if statementKey(other.PrepareStmt) == key {
			return nil
		}
	}
	ctx, err := h.sessions.NewContextWithQuery(h.base, c, "")
	if err != nil {
		return err
	}
	ctx.Session.UnprepareQuery(key)
	return nil
}

// dropStatements forgets those of a connection whose session ends.
func (h *handler) dropStatements(c *mysql.Conn) {
	h.prepared.Add(-int64(len(c.PrepareData)))
	c.PrepareData = make(map[uint32]*mysql.PrepareData)
}

// statementKey is a statement's text as sessions have it.
func statementKey(text string) string { return sql.RemoveSpaceAndDelimiter(text, ';') }
