"""What a program sees of lakesql by ODBC and MariaDB's driver.

    odbc.py DRIVER HOST PORT CA

DRIVER is the driver's file. Each line of the output is one fact, whose first word says what of.
"""
import sys

import pyodbc

driver, host, port, ca = sys.argv[1:]
ACCOUNT = "DRIVER=%s;SERVER=%s;PORT=%s;UID=ann;DATABASE=shop;" % (driver, host, port)
TLS = "SSLCA=%s;SSLVERIFY=1;" % ca


def fails(what, do):
    try:
        do()
        print("fails", what, "not")
    except pyodbc.Error as e:
        number = e.args[1].rsplit("(", 2)[-2].split(")")[0] if len(e.args) > 1 else "-"
        print("fails", what, e.args[0], number)


db = pyodbc.connect(ACCOUNT + "PWD=secret;" + TLS)
print("login", *db.execute("SELECT CURRENT_USER()").fetchone())
fails("plain", lambda: pyodbc.connect(ACCOUNT + "PWD=secret;"))
fails("password", lambda: pyodbc.connect(ACCOUNT + "PWD=wrong;" + TLS))
for t in db.cursor().tables(catalog="shop"):
    print("table", t.table_cat, t.table_name, t.table_type, t.remarks)
for again in range(2):  # the second time the variables have values
    for c in db.cursor().columns(table="every"):
        if again:
            print("column", c.column_name, c.data_type, c.type_name, c.column_size, c.buffer_length, c.decimal_digits, c.nullable, c.remarks, c.sql_data_type, c.char_octet_length, c.ordinal_position)
print("keys", *(k.column_name for k in db.cursor().primaryKeys(table="every")))
print("statistics", *(i.index_name for i in db.cursor().statistics("every")))
cursor = db.execute("SELECT id, flag, tiny, small, number, big, single, twice, exact, wide, day, moment, wall, word, fixed, txt, bytes, raw, CAST(list AS CHAR) AS list, part FROM every ORDER BY id")
rows = cursor.fetchall()
for i, d in enumerate(cursor.description):
    print("type", d[0], d[1].__name__, *(repr(r[i]) for r in rows))
print("bound", db.execute("SELECT id FROM every WHERE id > ? AND word = ? AND exact < ? AND day = ?", 0, "Grüße ✓", rows[0][8] + 1, rows[0][10]).fetchall())
many = db.cursor()
many.executemany("INSERT INTO changing VALUES (?)", [(10,), (11,), (None,)])
db.rollback()
print("rolled back", db.execute("SELECT COUNT(*) FROM changing").fetchone())
fails("syntax", lambda: db.execute("SELEC 1"))
fails("table", lambda: db.execute("SELECT * FROM nosuch"))
fails("column", lambda: db.execute("SELECT nosuch FROM every"))
fails("privilege", lambda: db.execute("SELECT * FROM lake.secrets"))
db.execute("SET max_execution_time = 100")
fails("timeout", lambda: db.execute("SELECT COUNT(*) FROM numbers a, numbers b, numbers c, numbers d"))
print("after", db.execute("SELECT COUNT(*) FROM every").fetchone())
