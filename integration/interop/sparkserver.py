"""A Spark that answers. One request a line on stdin, one answer a line on stdout, both JSON; an error is {"error": text}."""
import glob
import json
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType


def session(jars, scratch):
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(sorted(glob.glob(jars + "/*.jar"))))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.delta.logStore.file.impl", "CrashingLogStore")
        .config("spark.sql.streaming.checkpointFileManagerClass", "CrashingFileManager")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.warehouse.dir", scratch)
        .config("spark.databricks.delta.snapshotPartitions", "1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # half of a short session is the other compiler's
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


def carry_on(spark, source, table, checkpoint, crash=""):
    """Continues a stream's checkpoint with all that is new in the source, or until the query dies at a point (CrashPoint.java)."""
    stream = spark.readStream.format(source["format"]).options(**(source.get("options") or {}))
    if source.get("schema"):
        stream = stream.schema(source["schema"])
    spark._jvm.java.lang.System.setProperty("lakesql.crash", crash)
    rows = stream.load(source.get("path")).selectExpr(*source.get("select", ["*"]))
    query = rows.writeStream.format("delta").option("checkpointLocation", checkpoint).trigger(availableNow=True).start(table)
    try:
        query.awaitTermination()
    except Exception as e:
        if not crash or "crash " + crash not in str(e):
            raise
    finally:
        spark._jvm.java.lang.System.clearProperty("lakesql.crash")
    return {"id": query.id, "batches": batches_of(query), "crashed": query.exception() is not None}


def batches_of(query):
    """Id and input rows of each batch. Spark 3.5 has dicts where 4.0 has objects, or the other way round."""
    progress = [p if isinstance(p, dict) else json.loads(p.json) for p in query.recentProgress]
    return [[p["batchId"], p["numInputRows"]] for p in progress]


def program(spark, text):
    """Runs a PySpark program, whose session is this one, and leaves the session's settings as they were."""
    before = settings(spark)
    exec(text, {})
    for key, value in settings(spark).items():
        if key not in before:
            spark.conf.unset(key)
        elif value != before[key]:
            spark.conf.set(key, before[key])


def settings(spark):
    return {s["key"]: s["value"] for s in spark.sql("SET").collect()}


def follow(spark, source, table, checkpoint, options, batches=0):
    """Continues a stream that reads a table: all that is there, or one batch, then stops."""
    query = spark.readStream.format("delta").options(**options).load(source).writeStream.format("delta").option("checkpointLocation", checkpoint)
    if batches:
        query = query.trigger(processingTime="1 hour").start(table)
        while query.isActive and not query.recentProgress:
            time.sleep(0.05)
        if query.exception() is None:
            query.stop()
    else:
        query = query.trigger(availableNow=True).start(table)
        query.awaitTermination()
    if query.exception() is not None:
        raise query.exception()
    return {"id": query.id, "batches": batches_of(query)}


def crash_at_latest(spark, source, table, checkpoint, insert, more, crash):
    """Begins a stream behind what a table has, which dies in its first batch, for the row of insert; then comes more, and the stream goes on with all that is there."""
    options = {"startingVersion": "latest"}
    spark._jvm.java.lang.System.setProperty("lakesql.crash", crash)
    try:
        query = spark.readStream.format("delta").options(**options).load(source).writeStream.format("delta").option("checkpointLocation", checkpoint)
        query = query.trigger(processingTime="0 seconds").start(table)
        while query.isActive and query.status["message"] != "Waiting for data to arrive":  # it has looked, and knows what latest is
            time.sleep(0.05)
        spark.sql(insert).collect()
        query.awaitTermination(120)
    except Exception as e:
        if "crash " + crash not in str(e):
            raise
    finally:
        spark._jvm.java.lang.System.clearProperty("lakesql.crash")
    if query.isActive:
        query.stop()
        raise RuntimeError("the query did not die")
    spark.sql(more).collect()
    return follow(spark, source, table, checkpoint, options)


def main():
    spark = session(*sys.argv[1:])
    commands = {"sql": sql, "read": read, "history": history, "carry_on": carry_on, "program": program, "follow": follow, "crash_at_latest": crash_at_latest}
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
