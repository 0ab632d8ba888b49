"""What a Python program sees of lakesql by a driver of DB-API 2: PyMySQL, mysqlclient or mysql-connector-python.

    dbapi.py DRIVER HOST PORT CA

Each line of the output is one fact, whose first word says what of.
"""
import importlib
import sys
import threading

name, host, port, ca = sys.argv[1:]
driver = importlib.import_module(name)

SECURE = {
    "pymysql": {"ssl": {"ca": ca}},
    "MySQLdb": {"ssl": {"ca": ca}, "charset": "utf8mb4"},
    "mysql.connector": {"ssl_ca": ca, "ssl_verify_cert": True},
}
PLAIN = {
    "pymysql": {"ssl_disabled": True},
    "MySQLdb": {},
    "mysql.connector": {"ssl_disabled": True},
}


def connect(more, password="secret", database="shop"):
    return driver.connect(host=host, port=int(port), user="ann", password=password, database=database, **more)


def number(error):
    return getattr(error, "errno", None) or error.args[0]


def state(error):
    """Only Connector/Python shows it."""
    return getattr(error, "sqlstate", None) or "-"


def fails(what, do):
    try:
        do()
        print("fails", what, "not")
    except driver.Error as e:
        print("fails", what, number(e), state(e))


def query(connection, sql, args=None):
    cursor = connection.cursor()
    cursor.execute(sql, args)
    rows = cursor.fetchall()
    cursor.close()
    return [tuple(row) for row in rows]


def shown(value):
    return repr(bytes(value) if isinstance(value, bytearray) else value)


connection = connect(SECURE[name])
print("login", *query(connection, "SELECT CURRENT_USER()")[0])
fails("plain", lambda: connect(PLAIN[name]))
fails("password", lambda: connect(SECURE[name], password="wrong"))
fails("database", lambda: connect(SECURE[name], database="nosuch"))

assert ("shop",) in query(connection, "SHOW DATABASES")
for table, *rest in query(connection, "SHOW FULL TABLES"):
    print("browse", table, *rest)

cursor = connection.cursor()
cursor.execute("SELECT * FROM every ORDER BY id")
rows = cursor.fetchall()
for i, column in enumerate(cursor.description):
    print("type", *(str(c) for c in column[:2]), "nullable" if column[6] else "required", *(shown(row[i]) for row in rows))
cursor.close()

print("bound", query(connection, "SELECT id FROM every WHERE id > %s AND word = %s AND day = %s AND exact < %s", (0, "Grüße ✓", rows[0][10], rows[0][8] + 1)))

for what, sql in {
    "syntax": "SELEC 1",
    "table": "SELECT * FROM nosuch",
    "column": "SELECT nosuch FROM every",
    "function": "SELECT nosuch(1)",
    "privilege": "SELECT * FROM lake.secrets",
    "null": "INSERT INTO every (tiny) VALUES (1)",
}.items():
    fails(what, lambda: query(connection, sql))

query(connection, "SET max_execution_time = 100")
fails("timeout", lambda: query(connection, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d"))
query(connection, "SET max_execution_time = 0")

other = connect(SECURE[name])
mine = query(connection, "SELECT CONNECTION_ID()")[0][0]


def kill():
    """Kills the query as soon as the server lists it."""
    while not query(other, "SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = %s AND INFO LIKE 'SELECT COUNT%%'", (mine,)):
        pass
    query(other, "KILL QUERY %d" % mine)


killer = threading.Thread(target=kill)
killer.start()
fails("killed", lambda: query(connection, "SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d"))
killer.join()
print("after", query(connection, "SELECT COUNT(*) FROM every"))

# With autocommit off, as these drivers begin, a statement sees what others have committed since the last one.
query(other, "INSERT INTO changing VALUES (2)")
other.commit()
print("fresh", query(connection, "SELECT n FROM changing ORDER BY n"))
connection.close()
other.close()
