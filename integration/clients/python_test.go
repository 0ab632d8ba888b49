package clients

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// dbapiSees is what dbapi.py prints.
const dbapiSees = `
login ann@%
fails plain 1045 28000
fails password 1045 28000
fails database 1044 42000
browse changing BASE TABLE
browse every BASE TABLE
browse numbers BASE TABLE
type id 3 required 1 2 3
type flag 1 nullable 1 0 None
type tiny 1 nullable -128 127 None
type small 2 nullable -32768 32767 None
type number 3 nullable -2147483648 2147483647 None
type big 8 nullable -9223372036854775808 9223372036854775807 None
type single 4 nullable 1.5 -0.1 None
type twice 5 nullable -2.25 0.1 None
type exact 246 nullable Decimal('-1234567.89') Decimal('0.10') None
type wide 246 nullable Decimal('1234567890123456789012345678.0123456789') Decimal('0E-10') None
type day 10 nullable datetime.date(2024, 2, 29) datetime.date(9999, 12, 31) None
type moment 12 nullable datetime.datetime(2024, 2, 29, 23, 59, 59, 123456) datetime.datetime(1970, 1, 1, 0, 0) None
type wall 12 nullable datetime.datetime(1999, 12, 31, 0, 0) datetime.datetime(2038, 1, 19, 3, 14, 7, 1) None
type word 253 nullable 'Grüße ✓' '' None
type fixed 254 nullable 'abcde' 'ab   ' None
type txt 253 nullable 'a\nb\tc\'d"' '😀' None
type bytes 252 nullable b'\x00\xff\x80' b'a' None
type raw 252 nullable b'' b'b' None
type list 245 nullable '[1,2,null]' '[]' None
type record 245 nullable '{"a":7,"b":"x"}' '{"a":null,"b":null}' None
type dict 245 nullable '{"k":1}' '{}' None
type anything 245 nullable '{"n":[1,2.5,null]}' '"text"' None
type part 253 nullable 'north' 'south' None
bound [(1,)]
fails syntax 1064 42000
fails table 1146 42S02
fails column 1054 42S22
fails function 1305 42000
fails privilege 1142 42000
fails null 1364 HY000
fails timeout 3024 HY000
fails killed 1317 70100
after [(3,)]
fresh [(1,), (2,)]
`

// pythons are the drivers of dbapi.py, and whether its Python is Debian's own.
var pythons = map[string]bool{"pymysql": false, "mysql.connector": false, "MySQLdb": true}

func TestPythonDrivers(t *testing.T) {
	for driver, debian := range pythons {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			python := filepath.Join(environment(t), "python", "venv", "bin", "python")
			want := dbapiSees
			if debian {
				python = "/usr/bin/python3"
				require.NoError(t, exec.Command(python, "-c", "import "+driver).Run(), "Debian: python3-mysqldb")
				want = regexp.MustCompile(`(?m)^(fails .*) \w+$`).ReplaceAllString(want, "$1 -") // it shows no SQLSTATE
			}
			s := openShop(t)
			requireLines(t, want, run(t, nil, python, "dbapi.py", driver, s.host, s.port, s.ca))
		})
	}
}

func TestSQLAlchemy(t *testing.T) {
	for _, driver := range []string{"pymysql", "mysqlconnector"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			python := filepath.Join(environment(t), "python", "venv", "bin", "python")
			s := openShop(t)
			s.Exec(t, "CREATE VIEW shop.small AS SELECT id, word FROM shop.every WHERE id < 3")
			requireLines(t, alchemySees, run(t, nil, python, "alchemy.py", driver, s.host, s.port, s.ca))
		})
	}
}

// alchemySees is what alchemy.py prints.
const alchemySees = `
schemas True shop
tables ['changing', 'every', 'numbers'] ['small']
column id INTEGER False None the key
column flag TINYINT True None None
column tiny TINYINT True None None
column small SMALLINT True None None
column number INTEGER True None None
column big BIGINT True None None
column single FLOAT True None None
column twice DOUBLE True None None
column exact DECIMAL(10, 2) True None None
column wide DECIMAL(38, 10) True None None
column day DATE True None None
column moment DATETIME True None None
column wall DATETIME True None None
column word VARCHAR(20) True None None
column fixed CHAR(5) True None None
column txt VARCHAR(16383) True None None
column bytes LONGBLOB True None None
column raw LONGBLOB True None None
column list JSON True None None
column record JSON True None None
column dict JSON True None None
column anything JSON True None None
column part VARCHAR(10) True None None
key [] [] []
unique [] []
comment {'text': 'one column of each type'}
has True False
nosuch ` + "`" + `nosuch` + "`" + `
view CREATE VIEW ` + "`" + `small` + "`" + ` AS SELECT id, word FROM shop.every WHERE id < 3
reflected ['changing', 'every', 'numbers'] 23
row 1 1 -128 -32768 -2147483648 -9223372036854775808 1.5 Decimal('-2.2500000000') Decimal('-1234567.89') Decimal('1234567890123456789012345678.0123456789') datetime.date(2024, 2, 29) datetime.datetime(2024, 2, 29, 23, 59, 59, 123456) datetime.datetime(1999, 12, 31, 0, 0) 'Grüße ✓' 'abcde' 'a\nb\tc\'d"' b'\x00\xff\x80' b'' [1, 2, None] {'a': 7, 'b': 'x'} {'k': 1} {'n': [1, 2.5, None]} 'north'
row 2 0 127 32767 2147483647 9223372036854775807 -0.1 Decimal('0.1000000000') Decimal('0.10') Decimal('0E-10') datetime.date(9999, 12, 31) datetime.datetime(1970, 1, 1, 0, 0) datetime.datetime(2038, 1, 19, 3, 14, 7, 1) '' 'ab   ' '😀' b'a' b'b' [] {'a': None, 'b': None} {} 'text' 'south'
row 3 None None None None None None None None None None None None None None None None None None None None None None
grouped [(None, 1, None), ('north', 1, Decimal('-1234567.89')), ('south', 1, Decimal('0.10'))]
bound [(1,)]
made [('id', 'INTEGER', False), ('name', 'VARCHAR(20)', False), ('price', 'DECIMAL(10, 2)', False), ('more', 'JSON', True)] ['id']
things [(1, 'thing 1', Decimal('0.25'), {'n': [1]}), (2, 'renamed', Decimal('0.50'), {'n': [2]})]
fails syntax 1064 False
fails table 1146 False
fails privilege 1142 False
sane True False
dropped False
`
