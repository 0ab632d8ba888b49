"""Real Spark on what lakesql wrote. One subcommand a question; the answer is one line of JSON on stdout."""
import glob
import json
import sys

from pyspark.sql import SparkSession


def session(jars):
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", ",".join(sorted(glob.glob(jars + "/*.jar"))))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def rows(spark, table):
    """The table's columns and rows, and its history, as Spark sees them."""
    df = spark.read.format("delta").load(table)
    history = spark.sql(f"DESCRIBE HISTORY delta.`{table}`").collect()
    return {
        "schema": [[f.name, f.dataType.simpleString()] for f in df.schema.fields],
        "rows": sorted([[str(v) if v is not None else None for v in r] for r in df.collect()], key=str),
        "history": [
            {
                "version": h["version"],
                "operation": h["operation"],
                "parameters": dict(h["operationParameters"] or {}),
                "engine": h["engineInfo"],
            }
            for h in history
        ],
    }


def carry_on(spark, table, landing, checkpoint, schema):
    """Continues the stream's checkpoint with what is new in the folder, then stops."""
    source = spark.readStream.schema(schema).option("header", "true").csv(landing)
    query = (
        source.writeStream.format("delta")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start(table)
    )
    query.awaitTermination()
    progress = [json.loads(p.json) for p in query.recentProgress]
    return {"id": query.id, "batches": [[p["batchId"], p["numInputRows"]] for p in progress]}


def append(spark, table, values):
    """Appends one row, given as SQL values."""
    spark.sql(f"INSERT INTO delta.`{table}` VALUES ({values})")
    return {}


def main():
    jars, command, *args = sys.argv[1:]
    spark = session(jars)
    try:
        answer = {"rows": rows, "carry_on": carry_on, "append": append}[command](spark, *args)
    finally:
        spark.stop()
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
