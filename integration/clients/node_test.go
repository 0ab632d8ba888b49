package clients

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestNode(t *testing.T) {
	dir := environment(t)
	s := openShop(t)
	got := run(t, []string{"NODE_PATH=" + filepath.Join(dir, "node", "node_modules")}, filepath.Join(dir, "python", "venv", "bin", "node"), "node.mjs", s.host, s.port, s.ca)
	binary := strings.NewReplacer("text ", "binary ", "number:-0.1 ", "number:-0.10000000149011612 ").Replace(nodeTypes) // it makes a double of a float's bits
	requireLines(t, strings.NewReplacer("{text}\n", nodeTypes, "{binary}\n", binary).Replace(nodeSees), got)
}

// nodeTypes is what mysql2 makes of the table with every type.
const nodeTypes = `text id LONG number:1 number:2 number:3
text flag TINY number:1 number:0 null
text tiny TINY number:-128 number:127 null
text small SHORT number:-32768 number:32767 null
text number LONG number:-2147483648 number:2147483647 null
text big LONGLONG string:"-9223372036854775808" string:"9223372036854775807" null
text single FLOAT number:1.5 number:-0.1 null
text twice DOUBLE number:-2.25 number:0.1 null
text exact NEWDECIMAL string:"-1234567.89" string:"0.10" null
text wide NEWDECIMAL string:"1234567890123456789012345678.0123456789" string:"0.0000000000" null
text day DATE Date:2024-02-29T00:00:00.000Z Date:9999-12-31T00:00:00.000Z null
text moment DATETIME Date:2024-02-29T23:59:59.123Z Date:1970-01-01T00:00:00.000Z null
text wall DATETIME Date:1999-12-31T00:00:00.000Z Date:2038-01-19T03:14:07.000Z null
text word VAR_STRING string:"Grüße ✓" string:"" null
text fixed STRING string:"abcde" string:"ab   " null
text txt VAR_STRING string:"a\nb\tc'd\"" string:"😀" null
text bytes BLOB Buffer:0x00ff80 Buffer:0x61 null
text raw BLOB Buffer:0x Buffer:0x62 null
text list JSON object:[1,2,null] object:[] null
text record JSON object:{"a":7,"b":"x"} object:{"a":null,"b":null} null
text dict JSON object:{"k":1} object:{} null
text anything JSON object:{"n":[1,2.5,null]} string:"text" null
text part VAR_STRING string:"north" string:"south" null
`

// nodeSees is what node.mjs prints.
const nodeSees = `
login ann@%
fails plain 1045 28000 ER_ACCESS_DENIED_ERROR
fails password 1045 28000 ER_ACCESS_DENIED_ERROR
fails database 1044 42000 ER_DBACCESS_DENIED_ERROR
{text}
{binary}
sum exact NEWDECIMAL string:"-1234567.79"
sum mean NEWDECIMAL string:"-617283.895000"
sum number NEWDECIMAL string:"-1"
sum n LONGLONG number:3
bound [{"id":1,"text":"Grüße ✓"}]
changed 2 [{"n":3}]
fails syntax 1064 42000 ER_PARSE_ERROR
fails prepare 1064 42000 ER_PARSE_ERROR
fails table 1146 42S02 ER_NO_SUCH_TABLE
fails column 1054 42S22 ER_BAD_FIELD_ERROR
fails privilege 1142 42000 ER_TABLEACCESS_DENIED_ERROR
fails null 1364 HY000 ER_NO_DEFAULT_FOR_FIELD
fails timeout 3024 HY000 ER_QUERY_TIMEOUT
fails killed 1317 70100 ER_QUERY_INTERRUPTED
after 3
many [[{"a":1}],[{"b":2}],[{"c":3}]]
fails middle 1054 42S22 ER_BAD_FIELD_ERROR
middle [{"d":4}]
pool 1 2 3 4 5 6
sequelize tables changing every numbers
sequelize column id INT false false the key
sequelize column flag TINYINT(1) true false null
sequelize column tiny TINYINT true false null
sequelize column small SMALLINT true false null
sequelize column number INT true false null
sequelize column big BIGINT true false null
sequelize column single FLOAT true false null
sequelize column twice DOUBLE true false null
sequelize column exact DECIMAL(10,2) true false null
sequelize column wide DECIMAL(38,10) true false null
sequelize column day DATE true false null
sequelize column moment DATETIME(6) true false null
sequelize column wall DATETIME(6) true false null
sequelize column word VARCHAR(20) true false null
sequelize column fixed CHAR(5) true false null
sequelize column txt VARCHAR(16383) true false null
sequelize column bytes LONGBLOB true false null
sequelize column raw LONGBLOB true false null
sequelize column list JSON true false null
sequelize column record JSON true false null
sequelize column dict JSON true false null
sequelize column anything JSON true false null
sequelize column part VARCHAR(10) true false null
sequelize rows 1 21 23
sequelize bound [{"id":1,"word":"Grüße ✓"}]
fails sequelize 1146 42S02 ER_NO_SUCH_TABLE
sequelize rolled back
sequelize sum 69
knex rows [{"id":1,"word":"Grüße ✓","exact":"-1234567.89"},{"id":2,"word":"","exact":"0.10"}]
knex columns 23
knex joined [{"n":1}]
fails knex 1146 42S02 ER_NO_SUCH_TABLE
knex left [{"n":1}]
`
