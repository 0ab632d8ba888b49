package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The columns that a client finds are those of the list of MySQL's: names, order, types and nullability.
func TestInformationSchemaHasMySQLsColumns(t *testing.T) {
	l := newLab(t)
	found := make(map[string][]string)
	for _, row := range l.rows("SELECT TABLE_NAME, CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, IF(IS_NULLABLE = 'NO', ' NOT NULL', '')) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' ORDER BY TABLE_NAME, ORDINAL_POSITION") {
		table, column, _ := strings.Cut(row, "|")
		found[table] = append(found[table], column)
	}
	wanted, table := make(map[string][]string), ""
	for line := range strings.Lines(informationSchemaTables) {
		line = strings.TrimRight(line, "\n")
		switch column, indented := strings.CutPrefix(line, "  "); {
		case strings.HasPrefix(line, "#"):
		case indented:
			wanted[table] = append(wanted[table], column)
		default:
			table = line
		}
	}
	require.Len(t, wanted, 79)
	for table, columns := range wanted {
		require.Equal(t, columns, found[table], table)
		delete(found, table)
	}
	for table := range found { // what MySQL does not have is about streams
		require.Regexp(t, "^STREAM", table)
	}
}

// Every row of every table has values that the columns' types take, as a client reads them.
func TestInformationSchemaCanBeRead(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, v VARCHAR(9) UNIQUE, CONSTRAINT positive CHECK (id > 0))", "CREATE VIEW v AS SELECT id FROM t", "SET profiling = 1")
	for _, table := range l.rows("SHOW TABLES FROM information_schema") {
		_, err := l.tryRows("SELECT * FROM information_schema." + table)
		require.NoError(t, err, table)
	}
	for _, table := range []string{
		"CHARACTER_SETS", "CHECK_CONSTRAINTS", "COLLATIONS", "COLUMNS", "ENGINES", "KEYWORDS", "KEY_COLUMN_USAGE", "PARTITIONS", "PLUGINS", "SCHEMATA", "STATISTICS", "TABLES", "TABLE_CONSTRAINTS",
		"USER_PRIVILEGES", "VIEWS", "VIEW_TABLE_USAGE",
	} {
		require.NotEqual(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM information_schema."+table), table)
	}
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM information_schema.COLLATIONS c LEFT JOIN information_schema.CHARACTER_SETS s ON s.CHARACTER_SET_NAME = c.CHARACTER_SET_NAME WHERE s.MAXLEN IS NULL"))
	require.Equal(t, []string{"t|BASE TABLE|BASE TABLE!|Dynamic", "v|VIEW|VIEW!|NULL"}, l.rows("SELECT TABLE_NAME, CASE WHEN TABLE_TYPE = 'x' THEN 'y' ELSE TABLE_TYPE END, CONCAT(TABLE_TYPE, '!'), ROW_FORMAT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lake' AND TABLE_TYPE IN ('BASE TABLE', 'VIEW')"))
	require.Equal(t, []string{"0"}, l.rows("SELECT COUNT(*) FROM information_schema.TABLES WHERE ENGINE NOT IN (SELECT ENGINE FROM information_schema.ENGINES)"))
}

func TestKeysAndChecksInMetadata(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT, v VARCHAR(9) UNIQUE, a INT, b INT, PRIMARY KEY (id), UNIQUE KEY (a, b), CONSTRAINT positive CHECK (id > 0))")
	require.Equal(t, []string{"a|UNIQUE|NO", "positive|CHECK|YES", "PRIMARY|PRIMARY KEY|NO", "v|UNIQUE|NO"},
		l.rows("SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE, ENFORCED FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME = 't' ORDER BY 1"))
	require.Equal(t, []string{"a|a|1", "a|b|2", "PRIMARY|id|1", "v|v|1"},
		l.rows("SELECT CONSTRAINT_NAME, COLUMN_NAME, ORDINAL_POSITION FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_NAME = 't' ORDER BY 1, 3"))
	require.Equal(t, []string{"id|PRI", "v|UNI", "a|MUL", "b|"}, l.rows("SELECT COLUMN_NAME, COLUMN_KEY FROM information_schema.COLUMNS WHERE TABLE_NAME = 't' ORDER BY ORDINAL_POSITION"))
	require.Len(t, l.rows("SHOW INDEX FROM t"), 4)
	require.Len(t, l.rows("SHOW KEYS FROM t FROM lake WHERE Key_name = 'PRIMARY'"), 1)
	l.refused("SHOW INDEX FROM nosuch", "nosuch")
}

// How much is in a table, and since when, is what its log says.
func TestSizesInMetadata(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE t (id BIGINT)", "INSERT INTO t VALUES (1), (2), (3)", "CREATE VIEW v AS SELECT 1 AS one")
	size := "SELECT TABLE_ROWS, DATA_LENGTH > 0, AVG_ROW_LENGTH = DATA_LENGTH DIV 3, CREATE_TIME > NOW() - INTERVAL 1 DAY, UPDATE_TIME >= CREATE_TIME FROM information_schema."
	for _, table := range []string{"TABLES", "PARTITIONS"} {
		require.Equal(t, []string{"3|1|1|1|1"}, l.rows(size+table+" WHERE TABLE_NAME = 't'"), table)
	}
	require.Equal(t, []string{"t|InnoDB|3", "v|NULL|NULL"}, l.rows("SELECT TABLE_NAME, ENGINE, TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()"))
	require.Regexp(t, `^t\|InnoDB\|10\|Dynamic\|3\|`, l.rows("SHOW TABLE STATUS LIKE 't'")[0])
	require.Len(t, l.rows("SHOW TABLE STATUS FROM lake WHERE `Rows` = 3 AND Comment = ''"), 1)
	l.refused("SHOW TABLE STATUS FROM nosuch", "nosuch")
	l.exec("DELETE FROM t WHERE id = 1")
	require.Equal(t, []string{"2"}, l.rows("SELECT TABLE_ROWS FROM information_schema.TABLES WHERE TABLE_NAME = 't'"))
}

// A WHERE about the names of databases and tables is the same whether the table keeps to them or the rows are filtered.
func TestMetadataIsNarrowedToWhatIsAsked(t *testing.T) {
	l := newLab(t)
	l.exec("CREATE TABLE Orders (a INT)", "CREATE TABLE sales (a INT, b INT)", "CREATE DATABASE other", "CREATE TABLE other.sales (c INT)", "CREATE VIEW seen AS SELECT a AS x FROM sales")
	for _, where := range []string{
		"TABLE_SCHEMA = 'lake'", "'LAKE' = TABLE_SCHEMA", "TABLE_NAME = 'orders'", "TABLE_NAME = 'SALES' AND TABLE_SCHEMA = 'other'", "TABLE_SCHEMA IN ('lake', 'other') AND TABLE_NAME LIKE 'sales'",
		"TABLE_SCHEMA = DATABASE() AND COLUMN_NAME <> 'b'", "TABLE_NAME LIKE 's%' AND TABLE_SCHEMA = 'lake'", "TABLE_NAME = 'seen'", "TABLE_SCHEMA = 'lake' AND TABLE_SCHEMA = 'other'",
		"TABLE_SCHEMA = 'lake' OR TABLE_NAME = 'sales'", "TABLE_NAME = TABLE_SCHEMA", "TABLE_NAME = NULL", "TABLE_NAME = 'sales' COLLATE utf8mb4_0900_bin",
	} {
		query := "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS c WHERE " + where
		all := l.rows(strings.Replace(query, "c WHERE "+where, "c HAVING "+strings.ReplaceAll(where, "DATABASE()", "'lake'"), 1))
		require.Equal(t, all, l.rows(query), where)
		require.Equal(t, all, l.rows("SELECT c.TABLE_SCHEMA, c.TABLE_NAME, c.COLUMN_NAME FROM information_schema.COLUMNS c LEFT JOIN information_schema.KEY_COLUMN_USAGE k ON k.TABLE_NAME = c.TABLE_NAME WHERE "+
			strings.NewReplacer("TABLE_", "c.TABLE_", "COLUMN_NAME", "c.COLUMN_NAME").Replace(where)), where)
	}
	l.openUsers()
	l.exec("CREATE USER ann", "GRANT SELECT ON lake.sales TO ann", "CREATE TABLE keyed (id INT PRIMARY KEY, CONSTRAINT c CHECK (id > 0))")
	for _, table := range l.rows("SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND COLUMN_NAME IN ('TABLE_SCHEMA', 'TABLE_NAME') GROUP BY 1 HAVING COUNT(*) = 2") {
		for _, where := range []string{"TABLE_SCHEMA = 'lake'", "TABLE_NAME = 'sales'", "TABLE_NAME = 'keyed' AND TABLE_SCHEMA = 'lake'"} {
			query := "SELECT * FROM information_schema." + table + " "
			require.Equal(t, l.rows(query+"HAVING "+where), l.rows(query+"WHERE "+where), table+" "+where)
		}
	}
	require.Equal(t, []string{"lake|seen|lake|sales"}, l.rows("SELECT VIEW_SCHEMA, VIEW_NAME, TABLE_SCHEMA, TABLE_NAME FROM information_schema.VIEW_TABLE_USAGE WHERE TABLE_NAME = 'sales'"))
}

// The rows of COLUMNS are kept from one query to the next, and never longer than they are true.
func TestColumnsFollowTheTable(t *testing.T) {
	l := newLab(t)
	columns := func() string {
		return strings.Join(l.rows("SELECT CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, ' ', IFNULL(COLUMN_DEFAULT, ''), EXTRA) FROM information_schema.COLUMNS WHERE TABLE_NAME IN ('t', 'u') ORDER BY ORDINAL_POSITION"), ", ")
	}
	l.exec("CREATE TABLE t (a INT DEFAULT 7, s VARCHAR(9) DEFAULT 'x', d INT AS (a + 1) STORED)")
	require.Equal(t, "a int 7, s varchar(9) x, d int STORED GENERATED", columns())
	l.exec("INSERT INTO t (a) VALUES (1)", "ALTER TABLE t ADD COLUMN b BIGINT")
	require.Equal(t, "a int 7, s varchar(9) x, d int STORED GENERATED, b bigint ", columns())
	l.exec("DROP TABLE t", "CREATE TABLE t (z DATETIME)")
	require.Equal(t, "z datetime(6) ", columns())
	l.exec("RENAME TABLE t TO u")
	require.Equal(t, "z datetime(6) ", columns())
	require.Equal(t, []string{"u"}, l.rows("SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE COLUMN_NAME = 'z'"))
}

func BenchmarkMetadata(b *testing.B) {
	l := newLab(b)
	columns := make([]string, 100)
	for i := range columns {
		columns[i] = fmt.Sprintf("column_%d VARCHAR(20)", i)
	}
	for i := range 1000 {
		l.exec(fmt.Sprintf("CREATE TABLE table_%d (%s)", i, strings.Join(columns, ", ")))
	}
	for name, query := range map[string]string{
		"OneTable": "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'lake' AND TABLE_NAME = 'table_7' ORDER BY ORDINAL_POSITION",
		"Columns":  "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, IS_NULLABLE, COLUMN_COMMENT FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'lake' ORDER BY TABLE_NAME, ORDINAL_POSITION",
		"FastSync": "SELECT c.table_name, c.column_name, c.data_type, k.constraint_name FROM information_schema.columns c LEFT JOIN information_schema.key_column_usage k ON k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name WHERE c.table_schema = 'lake'",
		"Tables":   "SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'lake'",
		"Full":     "SHOW FULL TABLES",
		"Status":   "SHOW TABLE STATUS",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				l.exec(query)
			}
		})
	}
}
