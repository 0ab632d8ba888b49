"""delta-rs and DuckDB, answering. One request a line on stdin, one answer a line on stdout, both JSON; an error is {"error": text}."""
import datetime
import glob
import json
import os
import sys

import duckdb
import duckdb_extension_delta
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake


def plain(v):
    """A value as JSON has it, numbers that JSON cannot hold exactly as text."""
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
    return str(v)


def deltars_read(path, version=None):
    """The columns and rows of a table, by delta-rs."""
    table = DeltaTable(path, version=version)
    data = pa.table(QueryBuilder().register("t", table).execute("SELECT * FROM t"))
    return {"schema": [[f.name, str(f.type)] for f in table.schema().fields], "rows": [[text(v) for v in r.values()] for r in data.to_pylist()]}


def deltars_append(path, columns):
    """Appends one row, columns given as {name: [type, value]} with Arrow's names of types."""
    arrays = [pa.array([v], type=getattr(pa, t)()) if t != "decimal" else pa.array([v]).cast(pa.decimal128(10, 2)) for t, v in columns.values()]
    write_deltalake(path, pa.table(arrays, names=list(columns)), mode="append", schema_mode="merge")
    return DeltaTable(path).version()


def deltars_delete(path, predicate):
    """Deletes the rows of a predicate."""
    return DeltaTable(path).delete(predicate)


def duckdb_read(path):
    """The columns and rows of a table, by DuckDB's delta extension."""
    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    folder = os.path.dirname(duckdb_extension_delta.__file__)
    db.execute(f"LOAD '{glob.glob(folder + '/**/*.duckdb_extension', recursive=True)[0]}'")
    result = db.execute(f"SELECT * FROM delta_scan('{path}')")
    return {"schema": [[d[0], str(d[1])] for d in result.description], "rows": [[text(v) for v in r] for r in result.fetchall()]}


def main():
    commands = {f.__name__: f for f in (deltars_read, deltars_append, deltars_delete, duckdb_read)}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": commands[request["command"]](*request["args"])}
        except BaseException as e:  # delta-rs panics are no Exceptions
            answer = {"error": f"{type(e).__name__}: {e}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
