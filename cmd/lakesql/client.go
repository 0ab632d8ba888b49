package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// client is one session on a server, and a second connection to stop what it runs.
type client struct {
	db   *sql.DB
	conn *sql.Conn
	id   uint32 // the session's connection
}

// login says where a client connects, and as whom.
type login struct {
	address, user, password string
	database                string // "": the server's own choice
	ca                      string // PEM file of who vouches for the server; "": whoever answers is believed
}

// connect opens a session, over TLS where the server has it.
func connect(ctx context.Context, l login) (_ *client, err error) {
	address := l.address
	config := mysql.NewConfig()
	config.User, config.Passwd, config.Net, config.Addr, config.DBName = l.user, l.password, "tcp", l.address, l.database
	config.AllowNativePasswords, config.TLSConfig = true, "preferred"
	if l.ca != "" {
		if config.TLS, err = verifying(l); err != nil {
			return nil, err
		}
		config.TLSConfig = ""
	}
	config.Logger = driverLog{}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	c := &client{db: sql.OpenDB(connector)}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	if c.conn, err = c.db.Conn(ctx); err != nil {
		return nil, fmt.Errorf("connect to %s: %w; lakesql serve runs a server, --host and --port name another", address, err)
	}
	if err := c.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&c.id); err != nil {
		return nil, fmt.Errorf("ask for the connection's number: %w", err)
	}
	return c, nil
}

// verifying is TLS with a server for which the file of authorities vouches.
func verifying(l login) (*tls.Config, error) {
	text, err := os.ReadFile(l.ca)
	if err != nil {
		return nil, fmt.Errorf("--ssl-ca: %w", err)
	}
	host, _, err := net.SplitHostPort(l.address)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("--ssl-ca %s has no certificate in PEM form", l.ca)
	}
	return config, nil
}

func (c *client) close() error {
	var err error
	if c.conn != nil {
		err = c.conn.Close()
	}
	return errors.Join(err, c.db.Close())
}

// stop ends the statement that runs; the session goes on.
func (c *client) stop(ctx context.Context) error {
	if _, err := c.db.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", c.id)); err != nil {
		return fmt.Errorf("stop the statement: %w", err)
	}
	return nil
}

// run runs one statement and reads its whole result.
func (c *client) run(ctx context.Context, statement string) (*result, error) {
	started := time.Now()
	rows, err := c.conn.QueryContext(ctx, statement)
	if err != nil && strings.HasPrefix(err.Error(), "local file ") {
		return nil, fmt.Errorf("lakesql sql sends no files: %w; write INSERT INTO t SELECT * FROM read_files('path', format => 'csv'), or take the client mysql with --local-infile=1", err)
	}
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &result{}
	if err := r.read(rows); err != nil {
		return nil, err
	}
	r.took = time.Since(started)
	if r.hasRows() {
		return r, nil
	}
	if err := c.conn.QueryRowContext(ctx, "SELECT ROW_COUNT()").Scan(&r.affected); err != nil {
		return nil, fmt.Errorf("ask for the count of rows: %w", err)
	}
	r.affected = max(r.affected, 0)
	return r, c.warnings(ctx, r)
}

func (c *client) warnings(ctx context.Context, r *result) error {
	rows, err := c.conn.QueryContext(ctx, "SHOW WARNINGS")
	if err != nil {
		return fmt.Errorf("ask for the warnings: %w", err)
	}
	defer rows.Close()
	var list result
	if err := list.read(rows); err != nil {
		return fmt.Errorf("read the warnings: %w", err)
	}
	for _, row := range list.rows {
		words := make([]string, len(row))
		for i, value := range row {
			words[i] = plain(value)
		}
		r.warnings = append(r.warnings, words)
	}
	return nil
}

func (r *result) read(rows *sql.Rows) error {
	columns, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	for _, column := range columns {
		r.columns = append(r.columns, column.Name())
		r.numeric = append(r.numeric, isNumber(column.DatabaseTypeName()))
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		row := make([]cell, len(values))
		for i, v := range values {
			if v.Valid {
				text := v.String
				row[i] = &text
			}
		}
		r.rows = append(r.rows, row)
	}
	return rows.Err()
}

func isNumber(mysqlType string) bool {
	switch strings.TrimPrefix(mysqlType, "UNSIGNED ") {
	case "TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL":
		return true
	}
	return false
}

// describeError words an error as MySQL's client does.
func describeError(err error, line int) string {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return fmt.Sprintf("ERROR at line %d: %v", line, err)
	}
	return fmt.Sprintf("ERROR %d (%s) at line %d: %s", e.Number, e.SQLState[:], line, e.Message)
}

// driverLog takes what go-sql-driver logs: each is an error that a call returns as well.
type driverLog struct{}

// Print logs.
func (driverLog) Print(v ...any) { slog.Debug("mysql driver", "message", fmt.Sprint(v...)) }
