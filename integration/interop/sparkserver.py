"""A Spark that answers. One request a line on stdin, one answer a line on stdout, both JSON; an error is {"error": text}."""
import glob
import json
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType


def session(jars, scratch):
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(sorted(glob.glob(jars + "/*.jar"))))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.delta.logStore.file.impl", "LinkLogStore")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", scratch)
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    return spark


def text(field):
    """A column as the text that all engines agree on."""
    name = F.col("`" + field.name + "`")
    if isinstance(field.dataType, (StructType, ArrayType, MapType)) or field.dataType.typeName() == "variant":
        return F.to_json(name).alias(field.name)
    if isinstance(field.dataType, BinaryType):
        return F.hex(name).alias(field.name)
    return name.cast("string").alias(field.name)


def rows(df):
    return [list(r) for r in df.select([text(f) for f in df.schema.fields]).collect()]


def sql(spark, statements):
    """Runs statements; the rows of the last one."""
    for s in statements[:-1]:
        spark.sql(s).collect()
    return rows(spark.sql(statements[-1]))


def read(spark, path, version=None):
    """The columns and rows of the table at a path."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    df = reader.load(path)
    return {"schema": [[f.name, f.dataType.simpleString()] for f in df.schema.fields], "rows": rows(df)}


def history(spark, path):
    """The table's history, newest first."""
    return [
        {
            "version": h["version"],
            "operation": h["operation"],
            "parameters": dict(h["operationParameters"] or {}),
            "metrics": dict(h["operationMetrics"] or {}),
            "engine": h["engineInfo"],
            "read": h["readVersion"],
        }
        for h in spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
    ]


def carry_on(spark, table, landing, checkpoint, schema):
    """Continues a stream's checkpoint with what is new in the folder, then stops."""
    source = spark.readStream.schema(schema).option("header", "true").csv(landing)
    query = source.writeStream.format("delta").option("checkpointLocation", checkpoint).trigger(availableNow=True).start(table)
    query.awaitTermination()
    progress = [json.loads(p.json) for p in query.recentProgress]
    return {"id": query.id, "batches": [[p["batchId"], p["numInputRows"]] for p in progress]}


def main():
    spark = session(*sys.argv[1:])
    commands = {"sql": sql, "read": read, "history": history, "carry_on": carry_on}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": commands[request["command"]](spark, *request["args"])}
        except Exception as e:  # Spark's errors are of many classes; the test wants their text
            answer = {"error": f"{type(e).__name__}: {e}"[:2000]}
        print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
