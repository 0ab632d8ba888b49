"""Apache Superset over lakesql: a database, a dataset and a chart are made by its REST API, and the chart's data are asked for.

    superset.py HOST PORT CA FOLDER

FOLDER is where Superset keeps its own data. Each line of the output is one fact, whose first word says what of.
"""
import json
import os
import sys

host, port, ca, folder = sys.argv[1:]
with open(os.path.join(folder, "superset_config.py"), "w") as config:
    config.write("import pymysql\npymysql.install_as_MySQLdb()\n")  # Superset looks types up in MySQLdb
    config.write("SECRET_KEY = 'of a test, and longer than it must be'\nSQLALCHEMY_DATABASE_URI = 'sqlite:///%s/superset.db'\n" % folder)
    config.write("WTF_CSRF_ENABLED = False\nTALISMAN_ENABLED = False\nRATELIMIT_ENABLED = False\nRATELIMIT_STORAGE_URI = 'memory://'\n")
os.environ["SUPERSET_CONFIG_PATH"] = os.path.join(folder, "superset_config.py")
os.environ["SUPERSET_HOME"] = folder
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]  # this file is named as the package is

from flask_migrate import upgrade
from superset.app import create_app

app = create_app()
with app.app_context():
    import superset
    from superset import security_manager

    upgrade(directory=os.path.join(os.path.dirname(superset.__file__), "migrations"))
    app.appbuilder.add_permissions(update_perms=True)  # the app was made before there were tables for them
    security_manager.sync_role_definitions()
    security_manager.add_user("admin", "A", "B", "admin@localhost", security_manager.find_role("Admin"), password="admin")

client = app.test_client()


def call(method, path, body=None, want=(200, 201)):
    answer = client.open("/api/v1/" + path, method=method, json=body, follow_redirects=True)
    if answer.status_code not in want:
        sys.exit("%s %s: %d %s" % (method, path, answer.status_code, answer.get_data(as_text=True)))
    return answer.get_json()


token = call("POST", "security/login", {"username": "admin", "password": "admin", "provider": "db", "refresh": True})["access_token"]
client.environ_base["HTTP_AUTHORIZATION"] = "Bearer " + token

uri = "mysql+pymysql://ann:%s@" + host + ":" + port + "/shop"
extra = json.dumps({"engine_params": {"connect_args": {"ssl": {"ca": ca}}}})
refused = client.post("/api/v1/database/test_connection/", json={"sqlalchemy_uri": uri % "wrong", "database_name": "wrong", "extra": extra})
print("password", refused.status_code, refused.get_json()["errors"][0]["error_type"])
call("POST", "database/test_connection/", {"sqlalchemy_uri": uri % "secret", "database_name": "lake", "extra": extra})
database = call("POST", "database/", {"database_name": "lake", "sqlalchemy_uri": uri % "secret", "extra": extra, "expose_in_sqllab": True})["id"]
print("schemas", "shop" in call("GET", "database/%d/schemas/" % database)["result"])
print("tables", sorted((t["value"], t["type"]) for t in call("GET", "database/%d/tables/?q=(schema_name:shop)" % database)["result"]))

dataset = call("POST", "dataset/", {"database": database, "schema": "shop", "table_name": "sales"})["id"]
for c in call("GET", "dataset/%d" % dataset)["result"]["columns"]:
    print("column", c["column_name"], c["type"], c["type_generic"], c["is_dttm"])


def total(column, aggregate="SUM"):
    return {"expressionType": "SIMPLE", "column": {"column_name": column}, "aggregate": aggregate, "label": aggregate.lower()}


def data(query):
    asked = {"datasource": {"id": dataset, "type": "table"}, "queries": [query], "result_type": "full", "result_format": "json", "force": True}
    return call("POST", "chart/data", asked)["result"][0]["data"]


def grain(g):
    return {"columnType": "BASE_AXIS", "sqlExpression": "at", "label": "at", "expressionType": "SQL", "timeGrain": g}


print("sums", data({"columns": ["item"], "metrics": [total("amount"), total("amount", "AVG"), total("id", "COUNT")], "orderby": [["item", True]], "row_limit": 10}))
# Not PT1H: Superset's SQL parser leaves the DATE out of DATE_ADD(DATE(at), INTERVAL HOUR(at) HOUR), for any MySQL.
for g in ["P1D", "P1W", "1969-12-29T00:00:00Z/P1W", "P1M", "P3M", "P1Y"]:
    rows = data({"columns": [grain(g)], "metrics": [total("amount")], "orderby": [["sum", True]], "row_limit": 10})
    print("grain", g, *((r["at"], r["sum"]) for r in rows))
print("range", data({"columns": ["item"], "metrics": [total("amount")], "granularity": "at", "time_range": "2024-01-01 : 2024-03-01", "orderby": [["item", True]], "row_limit": 10}))
print("filter", data({"columns": ["item"], "metrics": [total("amount")], "filters": [{"col": "item", "op": "IN", "val": ["pen"]}], "row_limit": 10}))
print("raw", data({"columns": ["id", "item", "day"], "metrics": [], "orderby": [["id", True]], "row_limit": 1}))

chart = call("POST", "chart/", {
    "slice_name": "amounts", "viz_type": "table", "datasource_id": dataset, "datasource_type": "table",
    "params": json.dumps({"viz_type": "table", "query_mode": "aggregate", "groupby": ["item"], "metrics": [total("amount")]}),
    "query_context": json.dumps({"datasource": {"id": dataset, "type": "table"}, "force": True, "result_format": "json", "result_type": "full",
                                 "queries": [{"columns": ["item"], "metrics": [total("amount")], "orderby": [["item", True]], "row_limit": 10}]}),
})["id"]
print("chart", call("GET", "chart/%d/data/" % chart)["result"][0]["data"])


def lab(name, sql):
    """What SQL Lab shows of a statement."""
    answer = client.post("/api/v1/sqllab/execute/", json={"database_id": database, "schema": "shop", "sql": sql, "client_id": name, "runAsync": False, "queryLimit": 2})
    shown = answer.get_json()
    return answer.status_code, shown["data"] if answer.status_code == 200 else shown["errors"][0]["error_type"]


print("lab", *lab("one", "SELECT item, SUM(amount) AS total, NOW() IS NULL AS late FROM sales GROUP BY item ORDER BY item"))
print("lab", *lab("two", "SELECT nosuch FROM sales"))
print("lab", *lab("three", "SELECT * FROM lake.secrets"))
