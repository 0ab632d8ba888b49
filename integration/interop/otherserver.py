"""delta-rs and DuckDB, answering. One request a line on stdin, one answer a line on stdout, both JSON; an error is {"error": text}."""
import datetime
import decimal
import glob
import json
import math
import os
import sys

import duckdb
import duckdb_extension_delta
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def plain(v):
    """A value as JSON has it."""
    if isinstance(v, decimal.Decimal):
        return float(v)
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        if v and all(isinstance(x, tuple) and len(x) == 2 for x in v):  # a map
            return {str(k): plain(x) for k, x in v}
        return [plain(x) for x in v]
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    return text(v)


def text(v):
    """A value as the text that all engines agree on."""
    if v is None or isinstance(v, str):
        return v
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, bytes):
        return v.hex().upper()
    if isinstance(v, datetime.datetime):
        return v.replace(tzinfo=None).isoformat(" ")
    if isinstance(v, (dict, list)):
        return json.dumps(plain(v))
    if isinstance(v, float) and not math.isfinite(v):
        return "NaN" if math.isnan(v) else "Infinity" if v > 0 else "-Infinity"
    return str(v)


def deltars_read(path, version=None):
    """The columns and rows of a table, by delta-rs."""
    table = DeltaTable(path, version=version)
    data = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t"))
    return {"schema": [[f.name, str(f.type)] for f in table.schema().fields], "rows": [[text(v) for v in r.values()] for r in data.to_pylist()]}


def selected(select):
    """The rows of a SELECT without a table."""
    return pa.table(QueryBuilder().execute(select))


def deltars_append(path, select):
    write_deltalake(path, selected(select), mode="append")


def deltars_delete(path, predicate):
    DeltaTable(path).delete(predicate)


def deltars_update(path, column, value, predicate):
    DeltaTable(path).update(updates={column: value}, predicate=predicate)


def deltars_merge(path, select, key):
    """Merges the rows of a SELECT: those whose key is in the table replace its rows, the others are inserted."""
    merge = DeltaTable(path).merge(selected(select), f"s.{key} = t.{key}", source_alias="s", target_alias="t")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()


def duckdb_attached(path):
    """A DuckDB with the table attached as t."""
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    folder = os.path.dirname(duckdb_extension_delta.__file__)
    db.execute(f"LOAD '{glob.glob(folder + '/**/*.duckdb_extension', recursive=True)[0]}'")
    db.execute(f"ATTACH '{path}' AS t (TYPE delta)")
    return db


def duckdb_read(path):
    """The columns and rows of a table, by DuckDB's delta extension."""
    result = duckdb_attached(path).execute("SELECT * FROM t")
    return {"schema": [[d[0], str(d[1])] for d in result.description], "rows": [[text(v) for v in r] for r in result.fetchall()]}


def duckdb_write(path, statement):
    """Runs a statement that changes the table t."""
    duckdb_attached(path).execute(statement)


def main():
    commands = {f.__name__: f for f in (deltars_read, deltars_append, deltars_delete, deltars_update, deltars_merge, duckdb_read, duckdb_write)}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": commands[request["command"]](*request["args"])}
        except BaseException as e:  # delta-rs panics are no Exceptions
            answer = {"error": f"{type(e).__name__}: {e}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
