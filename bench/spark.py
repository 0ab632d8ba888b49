"""Spark, measured. Reads a request from stdin and answers on stdout, both JSON; times are seconds, CPU is that of Spark's JVM."""
import glob
import json
import os
import statistics
import sys
import time

from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")


def cpu(pid):
    """User and system time of a process, all of its threads."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def text(v):
    if isinstance(v, bool):
        return "1" if v else "0"
    return "NULL" if v is None else str(v)


def measure(pid, runs, fn):
    """The medians of wall and CPU time of runs, after one that does not count, and what that returned."""
    first, walls, cpus = fn(), [], []
    for _ in range(runs):
        began, before = time.time(), cpu(pid)
        fn()
        walls.append(time.time() - began)
        cpus.append(cpu(pid) - before)
    return {"wall": statistics.median(walls), "cpu": statistics.median(cpus), "rows": first}


def main():
    asked = json.load(sys.stdin)
    spark = (
        SparkSession.builder.master(f"local[{asked['threads']}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", str(2 * asked["threads"]))
        .config("spark.sql.warehouse.dir", asked["scratch"])
        .config("spark.jars", ",".join(sorted(glob.glob(asked["jars"] + "/*.jar"))))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    for table, files in asked["tables"].items():
        spark.read.parquet(files).createOrReplaceTempView(table)
    answers = []
    for query in asked["queries"]:
        answers.append(measure(pid, asked["runs"], lambda: [[text(v) for v in row] for row in spark.sql(query).collect()]))
    load = asked["load"]
    read = spark.read.schema(load["schema"]).option("header", True)

    def ingest():
        read.csv(load["files"]).write.mode("overwrite").parquet(os.path.join(asked["scratch"], "loaded"))
        return []

    answers.append(measure(pid, asked["runs"], ingest))
    streams = []

    def stream():
        """A new stream over all files into a new table."""
        streams.append(os.path.join(asked["scratch"], f"stream{len(streams)}"))
        source = spark.readStream.schema(load["schema"]).option("header", True).csv(load["files"])
        sink = source.writeStream.format("delta").option("checkpointLocation", streams[-1] + ".checkpoint").trigger(availableNow=True)
        sink.start(streams[-1]).awaitTermination()
        return []

    answers.append(measure(pid, asked["runs"], stream))
    json.dump(answers, sys.stdout)


main()
