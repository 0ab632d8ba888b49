package clients

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestODBC(t *testing.T) {
	dir := environment(t)
	files, err := exec.CommandContext(t.Context(), "dpkg", "-L", "odbc-mariadb").Output()
	require.NoError(t, err, "Debian: odbc-mariadb, unixodbc")
	driver := regexp.MustCompile(`(?m)^.*libmaodbc\.so$`).FindString(string(files))
	s := openShop(t)
	requireLines(t, odbcSees, run(t, nil, filepath.Join(dir, "python", "venv", "bin", "python"), "odbc.py", driver, s.host, s.port, s.ca))
}

// odbcSees is what odbc.py prints. The driver knows no JSON, MySQL's neither, so the program asks for text.
const odbcSees = `
login ann@%
fails plain 28000 1045
fails password 28000 1045
table shop changing TABLE 
table shop every TABLE one column of each type
table shop numbers TABLE 
column id 4 INT 10 4 0 0 the key 4 2 1
column flag -6 TINYINT 3 1 0 1  -6 1 2
column tiny -6 TINYINT 3 1 0 1  -6 1 3
column small 5 SMALLINT 5 2 0 1  5 2 4
column number 4 INT 10 4 0 1  4 2 5
column big -5 BIGINT 19 20 0 1  -5 3 6
column single 7 FLOAT 7 4 None 1  7 2 7
column twice 8 DOUBLE 15 8 None 1  8 4 8
column exact 3 DECIMAL 10 12 2 1  3 2 9
column wide 3 DECIMAL 38 40 10 1  3 6 10
column day 91 DATE 10 6 None 1  9 None 11
column moment 93 DATETIME 19 16 None 1  9 None 12
column wall 93 DATETIME 19 16 None 1  9 None 13
column word -9 VARCHAR 20 80 None 1  -9 80 14
column fixed -8 CHAR 5 20 None 1  -8 20 15
column txt -9 VARCHAR 16383 65532 None 1  -9 65532 16
column bytes -4 LONGBLOB -1 -1 None 1  -4 -1 17
column raw -4 LONGBLOB -1 -1 None 1  -4 -1 18
column list -4 JSON None None None 1  -4 None 19
column record -4 JSON None None None 1  -4 None 20
column dict -4 JSON None None None 1  -4 None 21
column anything -4 JSON None None None 1  -4 None 22
column part -9 VARCHAR 10 40 None 1  -9 40 23
keys
statistics
type id int 1 2 3
type flag int 1 0 None
type tiny int -128 127 None
type small int -32768 32767 None
type number int -2147483648 2147483647 None
type big int -9223372036854775808 9223372036854775807 None
type single float 1.5 -0.10000000149011612 None
type twice float -2.25 0.1 None
type exact Decimal Decimal('-1234567.89') Decimal('0.10') None
type wide Decimal Decimal('1234567890123456789012345678.0123456789') Decimal('0E-10') None
type day date datetime.date(2024, 2, 29) datetime.date(9999, 12, 31) None
type moment datetime datetime.datetime(2024, 2, 29, 23, 59, 59, 123456) datetime.datetime(1970, 1, 1, 0, 0) None
type wall datetime datetime.datetime(1999, 12, 31, 0, 0) datetime.datetime(2038, 1, 19, 3, 14, 7, 1) None
type word str 'Grüße ✓' '' None
type fixed str 'abcde' 'ab   ' None
type txt str 'a\nb\tc\'d"' '😀' None
type bytes bytearray b'\x00\xff\x80' b'a' None
type raw bytearray b'' b'b' None
type list str '[1, 2, null]' '[]' None
type part str 'north' 'south' None
bound [(1,)]
rolled back (1,)
fails syntax 42000 1064
fails table 42S02 1146
fails column 42S22 1054
fails privilege 42000 1142
fails timeout HY000 3024
after (3,)
`
