"""Real delta-rs on what lakesql wrote. The answer is one line of JSON on stdout."""
import json
import sys

from deltalake import DeltaTable


def rows(path):
    """The table's version, columns and rows, as delta-rs sees them."""
    table = DeltaTable(path)
    data = table.to_pyarrow_table()
    return {
        "version": table.version(),
        "schema": [[f.name, str(f.type).replace('PrimitiveType("', "").replace('")', "")] for f in table.schema().fields],
        "rows": sorted([[None if v is None else str(v) for v in row.values()] for row in data.to_pylist()], key=str),
    }


if __name__ == "__main__":
    command, *args = sys.argv[1:]
    print(json.dumps({"rows": rows}[command](*args)))
