package clients

import (
	"path/filepath"
	"strings"
	"testing"
)

// jdbcDriver is what sets a driver of Jdbc.java apart from others.
type jdbcDriver struct {
	url        string   // what it begins with
	tls, plain string   // parameters of the URL; %[1]s is the trust store, %[2]s the certificate
	ways       []string // what Jdbc.java does in connections of their own, with which parameters
	columns    string   // of DatabaseMetaData
	types      string   // of ResultSetMetaData, and values
	words      []string // of jdbcSees
}

// jdbcDrivers are the drivers by their folder in the environment.
var jdbcDrivers = map[string]jdbcDriver{
	"mysql8":   connectorJ("1142 42000 SQLSyntaxErrorException"),
	"mysql9":   connectorJ("not"),
	"mariadb2": mariaDB("useSSL=true&serverSslCert=%[2]s", "useSSL=false", mariadb2Columns, mariadb2Types, "{n}", "21", "{null}", "SQLTransientConnectionException"),
	"mariadb3": mariaDB("sslMode=verify-full&serverSslCert=%[2]s", "sslMode=disable", strings.Replace(mariadb2Columns, "flag -7 BIT", "flag 16 BOOLEAN", 1), mariadb3Types,
		"{n}", "19", "{null}", "SQLException"),
}

// connectorJ is MySQL's own driver. grants is what comes of asking for the privileges on a table: newer ones ask information_schema, older ones mysql.tables_priv.
func connectorJ(grants string) jdbcDriver {
	return jdbcDriver{
		url:     "jdbc:mysql:",
		tls:     "connectionTimeZone=UTC&sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=file:%[1]s&trustCertificateKeyStorePassword=changeit&trustCertificateKeyStoreType=PKCS12",
		plain:   "sslMode=DISABLED",
		ways:    []string{"binary", "&useServerPrepStmts=true", "cursor", "&useCursorFetch=true", "stream", "", "zip", "&useCompression=true"},
		columns: mysqlColumns,
		types:   mysqlTypes,
		words:   []string{"{login}", "SQLException", "{null}", "SQLException", "{n}", "19", "{grants}", grants},
	}
}

// mariaDB is MariaDB's driver.
func mariaDB(tls, plain, columns, types string, words ...string) jdbcDriver {
	return jdbcDriver{
		url:     "jdbc:mariadb:",
		tls:     tls,
		plain:   plain,
		ways:    []string{"binary", "&useServerPrepStmts=true", "cursor", "&useServerPrepStmts=true", "stream", "", "zip", "&useCompression=true"},
		columns: columns,
		types:   types,
		words:   append([]string{"{login}", "SQLInvalidAuthorizationSpecException", "{grants}", "not"}, words...),
	}
}

func TestJDBCDrivers(t *testing.T) {
	dir := environment(t)
	classes := t.TempDir()
	run(t, nil, "javac", "-d", classes, "Jdbc.java")
	for name, d := range jdbcDrivers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			trust := filepath.Join(t.TempDir(), "trust.p12")
			run(t, nil, "keytool", "-importcert", "-noprompt", "-alias", "lakesql", "-file", s.ca, "-keystore", trust, "-storepass", "changeit", "-storetype", "PKCS12")
			url := d.url + "//localhost:" + s.port + "/shop?"
			tls := strings.NewReplacer("%[1]s", trust, "%[2]s", s.ca).Replace(d.tls)
			got := run(t, nil, "java", append([]string{"-cp", classes + ":" + filepath.Join(dir, name, "*"), "Jdbc", url + tls, url + d.plain}, d.ways...)...)
			words := append([]string{"{columns}", strings.Trim(d.columns, "\n"), "{types}", strings.Trim(d.types, "\n"),
				"{binary types}", strings.ReplaceAll(strings.Trim(d.types, "\n"), "type ", "binary ")}, d.words...)
			requireLines(t, strings.NewReplacer(words...).Replace(jdbcSees), got)
		})
	}
}

// jdbcSees is what Jdbc.java prints.
const jdbcSees = `
login ann@%
fails plain 1045 28000 {login}
fails password 1045 28000 {login}
server MySQL 8
catalogs true
table shop changing TABLE 
table shop every TABLE one column of each type
table shop numbers TABLE 
one shop every TABLE
{columns}
kinds true true true
{types}
sum exact DECIMAL 32 2 nullable BigDecimal -1234567.79
sum mean DECIMAL 14 6 nullable BigDecimal -617283.895000
sum number DECIMAL 32 0 nullable BigDecimal -1
sum n BIGINT {n} 0 required Long 3
sum day DATE 10 0 nullable Date 9999-12-31
bound 1 Grüße ✓
bound changed 1
bound stored 4 33
fails syntax 1064 42000 SQLSyntaxErrorException
fails table 1146 42S02 SQLSyntaxErrorException
fails column 1054 42S22 SQLSyntaxErrorException
fails privilege 1142 42000 SQLSyntaxErrorException
fails grants {grants}
fails null 1364 HY000 {null}
stopped timeout yes
stopped cancelled yes
after 3
valid true true
binary 1 Grüße ✓
binary changed 1
binary stored 4 33
{binary types}
cursor 10010000
stream 10010000
zip 10010000
`

const mysqlColumns = `
column id 4 INT 10 null NO 1 the key
column flag -7 BIT 1 null YES 2 
column tiny -6 TINYINT 3 null YES 3 
column small 5 SMALLINT 5 null YES 4 
column number 4 INT 10 null YES 5 
column big -5 BIGINT 19 null YES 6 
column single 7 FLOAT 12 0 YES 7 
column twice 8 DOUBLE 22 0 YES 8 
column exact 3 DECIMAL 10 2 YES 9 
column wide 3 DECIMAL 38 10 YES 10 
column day 91 DATE 10 null YES 11 
column moment 93 DATETIME 26 null YES 12 
column wall 93 DATETIME 26 null YES 13 
column word 12 VARCHAR 20 null YES 14 
column fixed 1 CHAR 5 null YES 15 
column txt 12 VARCHAR 16383 null YES 16 
column bytes -4 LONGBLOB 2147483647 null YES 17 
column raw -4 LONGBLOB 2147483647 null YES 18 
column list -1 JSON 1073741824 null YES 19 
column record -1 JSON 1073741824 null YES 20 
column dict -1 JSON 1073741824 null YES 21 
column anything -1 JSON 1073741824 null YES 22 
column part 12 VARCHAR 10 null YES 23 
`

const mysqlTypes = `
type id INT 10 0 required Integer 1 2 3
type flag BIT 1 0 nullable Boolean true false null
type tiny TINYINT 3 0 nullable Integer -128 127 null
type small SMALLINT 5 0 nullable Integer -32768 32767 null
type number INT 10 0 nullable Integer -2147483648 2147483647 null
type big BIGINT 19 0 nullable Long -9223372036854775808 9223372036854775807 null
type single FLOAT 12 0 nullable Float 1.5 -0.1 null
type twice DOUBLE 22 0 nullable Double -2.25 0.1 null
type exact DECIMAL 10 2 nullable BigDecimal -1234567.89 0.10 null
type wide DECIMAL 38 10 nullable BigDecimal 1234567890123456789012345678.0123456789 0E-10 null
type day DATE 10 0 nullable Date 2024-02-29 9999-12-31 null
type moment DATETIME 26 0 nullable LocalDateTime 2024-02-29T23:59:59.123456 1970-01-01T00:00 null
type wall DATETIME 26 0 nullable LocalDateTime 1999-12-31T00:00 2038-01-19T03:14:07.000001 null
type word VARCHAR 20 0 nullable String Grüße ✓  null
type fixed CHAR 5 0 nullable String abcde ab    null
type txt VARCHAR 16383 0 nullable String a\nb\tc'd" 😀 null
type bytes LONGBLOB 2147483647 0 nullable byte[] 0x00ff80 0x61 null
type raw LONGBLOB 2147483647 0 nullable byte[] 0x 0x62 null
type list JSON 2147483647 0 nullable String [1,2,null] [] null
type record JSON 2147483647 0 nullable String {"a":7,"b":"x"} {"a":null,"b":null} null
type dict JSON 2147483647 0 nullable String {"k":1} {} null
type anything JSON 2147483647 0 nullable String {"n":[1,2.5,null]} "text" null
type part VARCHAR 10 0 nullable String north south null
`

const mariadb2Columns = `
column id 4 INT 10 0 NO 1 the key
column flag -7 BIT 3 0 YES 2 
column tiny -6 TINYINT 3 0 YES 3 
column small 5 SMALLINT 5 0 YES 4 
column number 4 INT 10 0 YES 5 
column big -5 BIGINT 19 0 YES 6 
column single 7 FLOAT 12 null YES 7 
column twice 8 DOUBLE 22 null YES 8 
column exact 3 DECIMAL 10 2 YES 9 
column wide 3 DECIMAL 38 10 YES 10 
column day 91 DATE 10 null YES 11 
column moment 93 DATETIME 26 null YES 12 
column wall 93 DATETIME 26 null YES 13 
column word 12 VARCHAR 20 null YES 14 
column fixed 1 CHAR 5 null YES 15 
column txt 12 VARCHAR 16383 null YES 16 
column bytes -4 LONGBLOB 2147483647 null YES 17 
column raw -4 LONGBLOB 2147483647 null YES 18 
column list 1111 JSON null null YES 19 
column record 1111 JSON null null YES 20 
column dict 1111 JSON null null YES 21 
column anything 1111 JSON null null YES 22 
column part 12 VARCHAR 10 null YES 23 
`

const mariadb2Types = `
type id INTEGER 11 0 required Integer 1 2 3
type flag TINYINT 1 0 nullable Boolean true false null
type tiny TINYINT 4 0 nullable Integer -128 127 null
type small SMALLINT 6 0 nullable Integer -32768 32767 null
type number INTEGER 11 0 nullable Integer -2147483648 2147483647 null
type big BIGINT 20 0 nullable Long -9223372036854775808 9223372036854775807 null
type single FLOAT 12 31 nullable Float 1.5 -0.1 null
type twice DOUBLE 22 31 nullable Double -2.25 0.1 null
type exact DECIMAL 10 2 nullable BigDecimal -1234567.89 0.10 null
type wide DECIMAL 38 10 nullable BigDecimal 1234567890123456789012345678.0123456789 0E-10 null
type day DATE 10 0 nullable Date 2024-02-29 9999-12-31 null
type moment DATETIME 26 6 nullable Timestamp 2024-02-29 23:59:59.123456 1970-01-01 00:00:00.0 null
type wall DATETIME 26 6 nullable Timestamp 1999-12-31 00:00:00.0 2038-01-19 03:14:07.000001 null
type word VARCHAR 80 0 nullable String Grüße ✓  null
type fixed CHAR 20 0 nullable String abcde ab    null
type txt VARCHAR 65532 0 nullable String a\nb\tc'd" 😀 null
type bytes LONGBLOB -1 0 nullable byte[] 0x00ff80 0x61 null
type raw LONGBLOB -1 0 nullable byte[] 0x 0x62 null
type list JSON -1 0 nullable String [1,2,null] [] null
type record JSON -1 0 nullable String {"a":7,"b":"x"} {"a":null,"b":null} null
type dict JSON -1 0 nullable String {"k":1} {} null
type anything JSON -1 0 nullable String {"n":[1,2.5,null]} "text" null
type part VARCHAR 40 0 nullable String north south null
`

const mariadb3Types = `
type id INTEGER 10 0 required Integer 1 2 3
type flag BOOLEAN 1 0 nullable Boolean true false null
type tiny TINYINT 3 0 nullable Integer -128 127 null
type small SMALLINT 5 0 nullable Short -32768 32767 null
type number INTEGER 10 0 nullable Integer -2147483648 2147483647 null
type big BIGINT 19 0 nullable Long -9223372036854775808 9223372036854775807 null
type single FLOAT 12 31 nullable Float 1.5 -0.1 null
type twice DOUBLE 22 31 nullable Double -2.25 0.1 null
type exact DECIMAL 10 2 nullable BigDecimal -1234567.89 0.10 null
type wide DECIMAL 38 10 nullable BigDecimal 1234567890123456789012345678.0123456789 0E-10 null
type day DATE 10 0 nullable Date 2024-02-29 9999-12-31 null
type moment DATETIME 26 6 nullable Timestamp 2024-02-29 23:59:59.123456 1970-01-01 00:00:00.0 null
type wall DATETIME 26 6 nullable Timestamp 1999-12-31 00:00:00.0 2038-01-19 03:14:07.000001 null
type word VARCHAR 20 0 nullable String Grüße ✓  null
type fixed CHAR 5 0 nullable String abcde ab    null
type txt VARCHAR 16383 0 nullable String a\nb\tc'd" 😀 null
type bytes LONGBLOB -1 0 nullable byte[] 0x00ff80 0x61 null
type raw LONGBLOB -1 0 nullable byte[] 0x 0x62 null
type list JSON -1 0 nullable byte[] 0x5b312c322c6e756c6c5d 0x5b5d null
type record JSON -1 0 nullable byte[] 0x7b2261223a372c2262223a2278227d 0x7b2261223a6e756c6c2c2262223a6e756c6c7d null
type dict JSON -1 0 nullable byte[] 0x7b226b223a317d 0x7b7d null
type anything JSON -1 0 nullable byte[] 0x7b226e223a5b312c322e352c6e756c6c5d7d 0x227465787422 null
type part VARCHAR 10 0 nullable String north south null
`
