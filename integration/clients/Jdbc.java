import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * What a Java program sees of lakesql by a JDBC driver. Arguments: an URL with TLS and one without; then ways to connect, each with what the URL has more:
 * "stream" reads row by row, "cursor" by a cursor, "zip" compressed, "binary" by statements that the server prepares.
 * Each line of the output is one fact, whose first word says what of.
 */
public class Jdbc {
    interface Work { void run() throws Exception; }

    static void print(Object... words) {
        StringBuilder line = new StringBuilder();
        for (Object w : words) line.append(line.length() == 0 ? "" : " ").append(w == null ? "null" : w.toString().replace("\n", "\\n").replace("\t", "\\t"));
        System.out.println(line);
    }

    static void fails(String what, Work work) throws Exception {
        try {
            work.run();
            print("fails", what, "not");
        } catch (SQLException e) {
            print("fails", what, e.getErrorCode(), e.getSQLState(), e.getClass().getSimpleName());
        }
    }

    /** Whether the driver says that a query was stopped. Of MySQL's it is chance whether it says so in its own words or in the server's. */
    static void stopped(String what, Work work) throws Exception {
        try {
            work.run();
            print("stopped", what, "not");
        } catch (SQLException e) {
            boolean own = e instanceof SQLTimeoutException || e.getClass().getSimpleName().equals("MySQLStatementCancelledException");
            print("stopped", what, own || e.getErrorCode() == 1317 && e.getSQLState().equals("70100") ? "yes" : e);
        }
    }

    static String text(Object value) {
        if (value instanceof byte[]) {
            StringBuilder hex = new StringBuilder("0x");
            for (byte b : (byte[]) value) hex.append(String.format("%02x", b));
            return hex.toString();
        }
        return String.valueOf(value);
    }

    /** Prints the columns of a catalog's result, by name, of each row. */
    static void rows(String what, ResultSet r, String... columns) throws SQLException {
        try (r) {
            while (r.next()) {
                List<Object> words = new ArrayList<>();
                words.add(what);
                for (String c : columns) words.add(r.getString(c));
                print(words.toArray());
            }
        }
    }

    static void types(String what, ResultSet r) throws SQLException {
        try (r) {
            ResultSetMetaData m = r.getMetaData();
            List<List<Object>> columns = new ArrayList<>();
            for (int i = 1; i <= m.getColumnCount(); i++) {
                List<Object> c = new ArrayList<>(List.of(what, m.getColumnName(i), m.getColumnTypeName(i).replace(' ', '_'), m.getPrecision(i), m.getScale(i),
                    m.isNullable(i) == ResultSetMetaData.columnNoNulls ? "required" : "nullable"));
                columns.add(c);
            }
            while (r.next())
                for (int i = 1; i <= columns.size(); i++) {
                    Object v = r.getObject(i);
                    if (columns.get(i - 1).size() == 6) columns.get(i - 1).add(v == null ? "null" : v.getClass().getSimpleName());
                    columns.get(i - 1).add(text(v));
                }
            for (List<Object> c : columns) print(c.toArray());
        }
    }

    static void browse(Connection db) throws SQLException {
        DatabaseMetaData m = db.getMetaData();
        print("server", m.getDatabaseProductName(), m.getDatabaseMajorVersion());
        List<String> catalogs = new ArrayList<>();
        try (ResultSet r = m.getCatalogs()) { while (r.next()) catalogs.add(r.getString(1)); }
        print("catalogs", catalogs.contains("shop"));
        rows("table", m.getTables("shop", null, "%", new String[] {"TABLE", "VIEW"}), "TABLE_CAT", "TABLE_NAME", "TABLE_TYPE", "REMARKS");
        rows("one", m.getTables("shop", null, "ev%", null), "TABLE_CAT", "TABLE_NAME", "TABLE_TYPE");
        rows("column", m.getColumns("shop", null, "every", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "COLUMN_SIZE", "DECIMAL_DIGITS", "IS_NULLABLE", "ORDINAL_POSITION", "REMARKS");
        rows("key", m.getPrimaryKeys("shop", null, "every"), "COLUMN_NAME");
        rows("index", m.getIndexInfo("shop", null, "every", false, false), "INDEX_NAME");
        rows("imported", m.getImportedKeys("shop", null, "every"), "FK_NAME");
        rows("exported", m.getExportedKeys("shop", null, "every"), "FK_NAME");
        rows("procedure", m.getProcedures("shop", null, "%"), "PROCEDURE_NAME");
        rows("function", m.getFunctions("shop", null, "%"), "FUNCTION_NAME");
        rows("version", m.getVersionColumns("shop", null, "every"), "COLUMN_NAME");
        rows("best", m.getBestRowIdentifier("shop", null, "every", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME");
        int kinds = 0;
        try (ResultSet r = m.getTypeInfo()) { while (r.next()) kinds++; }
        print("kinds", kinds > 20, m.getSQLKeywords().length() > 100, m.getTimeDateFunctions().length() > 100);
    }

    static void bound(String what, Connection db) throws SQLException {
        try (PreparedStatement s = db.prepareStatement("SELECT id, ? FROM every WHERE id >= ? AND exact < ? AND day = ? AND moment >= ? AND twice < ? AND bytes = ? AND flag = ? LIMIT ?")) {
            s.setString(1, "Grüße ✓");
            s.setLong(2, 1);
            s.setBigDecimal(3, new java.math.BigDecimal("0.01"));
            s.setObject(4, java.time.LocalDate.of(2024, 2, 29));
            s.setObject(5, java.time.LocalDateTime.of(2024, 2, 29, 23, 59, 59, 123456000));
            s.setDouble(6, 0.5);
            s.setBytes(7, new byte[] {0, (byte) 0xff, (byte) 0x80});
            s.setBoolean(8, true);
            s.setInt(9, 5);
            try (ResultSet r = s.executeQuery()) { while (r.next()) print(what, r.getInt(1), r.getString(2)); }
        }
        try (PreparedStatement s = db.prepareStatement("INSERT INTO changing VALUES (?)")) {
            for (int i = 10; i < 13; i++) {
                s.setInt(1, i);
                s.addBatch();
            }
            s.executeBatch();
            s.setNull(1, java.sql.Types.INTEGER);
            print(what, "changed", s.executeUpdate());
        }
        try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT COUNT(*), SUM(n) FROM changing WHERE n >= 10 OR n IS NULL")) {
            r.next();
            print(what, "stored", r.getObject(1), r.getObject(2));
        }
        try (Statement s = db.createStatement()) { s.executeUpdate("DELETE FROM changing WHERE n >= 10 OR n IS NULL"); }
    }

    static long sum(Connection db, int fetchSize) throws SQLException {
        long sum = 0;
        try (Statement s = db.createStatement()) {
            s.setFetchSize(fetchSize);
            try (ResultSet r = s.executeQuery("SELECT a.n, REPEAT('x', 100) FROM numbers a, numbers b WHERE b.n <= 20")) { while (r.next()) sum += r.getInt(1); }
        }
        return sum;
    }

    static final String LONG = "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d";

    static void execute(Connection db, String sql) throws SQLException {
        try (Statement s = db.createStatement()) { s.execute(sql); }
    }

    static void cancel(Connection db, Connection other) throws Exception {
        stopped("timeout", () -> {
            try (Statement s = db.createStatement()) {
                s.setQueryTimeout(1);
                s.execute(LONG);
            }
        });
        Statement running = db.createStatement();
        Thread killer = new Thread(() -> {
            try (PreparedStatement listed = other.prepareStatement("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT COUNT(*) FROM numbers a%'")) {
                for (boolean started = false; !started;) {
                    try (ResultSet r = listed.executeQuery()) { started = r.next() && r.getInt(1) > 0; }
                }
                running.cancel();
            } catch (SQLException e) {
                print("cancel", e);
            }
        });
        killer.start();
        stopped("cancelled", () -> running.execute(LONG));
        killer.join();
        running.close();
        try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT COUNT(*) FROM every")) {
            r.next();
            print("after", r.getInt(1));
        }
    }

    public static void main(String[] args) throws Exception {
        String tls = args[0], plain = args[1];
        TreeMap<String, String> ways = new TreeMap<>();
        for (int i = 2; i < args.length; i += 2) ways.put(args[i], args[i + 1]);
        try (Connection db = DriverManager.getConnection(tls, "ann", "secret"); Connection other = DriverManager.getConnection(tls, "ann", "secret")) {
            try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT CURRENT_USER()")) {
                r.next();
                print("login", r.getString(1));
            }
            fails("plain", () -> DriverManager.getConnection(plain, "ann", "secret").close());
            fails("password", () -> DriverManager.getConnection(tls, "ann", "wrong").close());
            browse(db);
            try (Statement s = db.createStatement()) { types("type", s.executeQuery("SELECT * FROM every ORDER BY id")); }
            try (Statement s = db.createStatement()) { types("sum", s.executeQuery("SELECT SUM(exact) AS exact, AVG(exact) AS mean, SUM(number) AS number, COUNT(*) AS n, MAX(day) AS day FROM every")); }
            bound("bound", db);
            fails("syntax", () -> execute(db, "SELEC 1"));
            fails("table", () -> execute(db, "SELECT * FROM nosuch"));
            fails("column", () -> execute(db, "SELECT nosuch FROM every"));
            fails("privilege", () -> execute(db, "SELECT * FROM lake.secrets"));
            fails("grants", () -> rows("grant", db.getMetaData().getTablePrivileges("shop", null, "every"), "PRIVILEGE"));
            fails("null", () -> execute(db, "INSERT INTO every (tiny) VALUES (1)"));
            cancel(db, other);
            db.setReadOnly(true);
            db.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            print("valid", db.isValid(5), db.isReadOnly());
            db.setReadOnly(false);
        }
        for (var way : ways.entrySet())
            try (Connection db = DriverManager.getConnection(tls + way.getValue(), "ann", "secret")) {
                if (way.getKey().equals("binary")) {
                    bound("binary", db);
                    try (PreparedStatement s = db.prepareStatement("SELECT * FROM every ORDER BY id")) { types("binary", s.executeQuery()); }
                } else {
                    print(way.getKey(), sum(db, way.getKey().equals("stream") && tls.startsWith("jdbc:mysql:") ? Integer.MIN_VALUE : 100));
                }
            }
    }
}
