package likemysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"
)

// database is where the tables of testdata/tables.sql are.
const database = "likemysql"

// most is how many rows and warnings of an answer are kept.
const most = 1000

// dial connects to a server at host:port as root, in the database of this name.
func dial(ctx context.Context, address, database string) (*mysql.Conn, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(number)
	if err != nil {
		return nil, err
	}
	return mysql.Connect(ctx, &mysql.ConnParams{Host: host, Port: port, Uname: "root", DbName: database, Charset: "utf8mb4", Flags: mysql.CapabilityClientFoundRows})
}

// answer is what a statement gives, a line each: columns, rows and warnings, or an error.
type answer []string

// ask sends one statement, on a connection of its own: none sees what another one set or left behind. The error is of the connection.
func ask(address, statement string) (answer, error) {
	c, err := dial(context.Background(), address, database)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, warnings, err := c.ExecuteFetchWithWarningCount(statement, most, true)
	if refused := (*mysql.SQLError)(nil); errors.As(err, &refused) && refused.Num/1000 != 2 { // 2xxx are the client's own
		return answer{fmt.Sprintf("error %d %s %s", refused.Num, refused.State, quoted(refused.Message))}, nil
	} else if err != nil {
		return nil, err
	}
	var a answer
	for _, f := range r.Fields {
		a = append(a, columnText(f))
	}
	for _, row := range r.Rows {
		a = append(a, "row "+rowText(row))
	}
	if len(r.Fields) == 0 {
		a = append(a, fmt.Sprintf("done %d rows", r.RowsAffected))
	}
	if warnings == 0 {
		return a, nil
	}
	shown, err := c.ExecuteFetch("SHOW WARNINGS", most, false)
	if err != nil {
		return nil, err
	}
	for _, w := range shown.Rows {
		a = append(a, "warning "+rowText(w))
	}
	return a, nil
}

// The kinds of what may differ in an answer, in the order in which they are named.
const (
	outcome    = "outcome" // an error in place of rows, or the reverse
	number     = "error number"
	message    = "error message"
	names      = "names"
	types      = "types"
	lengths    = "lengths"
	decimals   = "decimals"
	charsets   = "character sets"
	flags      = "flags"
	rows       = "rows"
	effect     = "effect" // how many rows were changed
	warnings   = "warnings"
	incomplete = "columns" // another number of columns
)

var allKinds = []string{outcome, number, message, names, types, lengths, decimals, charsets, flags, rows, effect, warnings, incomplete}

// columnText is one column's metadata: quoted name, type, length, decimals, number of the character set, flags.
func columnText(f *query.Field) string {
	return fmt.Sprintf("column %s %s length %d decimals %d charset %d flags %d", quoted(f.Name), f.Type, f.ColumnLength, f.Decimals, f.Charset, f.Flags&kept)
}

// kept are the flags that tell of the column: not those that tell of keys, which a Delta table has none of.
const kept = uint32(query.MySqlFlag_NOT_NULL_FLAG | query.MySqlFlag_BLOB_FLAG | query.MySqlFlag_UNSIGNED_FLAG | query.MySqlFlag_ZEROFILL_FLAG | query.MySqlFlag_BINARY_FLAG |
	query.MySqlFlag_ENUM_FLAG | query.MySqlFlag_TIMESTAMP_FLAG | query.MySqlFlag_SET_FLAG)

func rowText(row []sqltypes.Value) string {
	texts := make([]string, len(row))
	for i, v := range row {
		if texts[i] = quoted(v.ToString()); v.IsNull() {
			texts[i] = "NULL"
		}
	}
	return strings.Join(texts, " ")
}

func quoted(text string) string { return strconv.Quote(text) }
