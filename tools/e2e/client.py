"""client.py host:port COMMAND: what the end-to-end runs do as a client of a cluster.

insert SECONDS   small inserts into three collections, never flushed
flush            flushes every collection
dropped          makes a collection, loads and searches it, releases and drops it
no-index         makes a collection, inserts, flushes, asks for an index and does not wait
small            ten times 150 rows into each of two collections, not flushed
drop NAME        drops a collection
release-partition NAME PARTITION   releases one partition of a loaded collection
reload NAME      releases a collection and loads it again
segments         writes what the query API says: {"DB/COLLECTION": {"id": ID, "segments": {ID: {"rows": N, "nodes": [ID]}}}}
apply FILE       makes the calls of a plan of "kitescope balance --plan -o json", a JSON list of lines, as they are printed
"""

import json
import re
import sys
import time

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, Partition, connections, db, utility

TARGETS = [("docs_hnsw_cos", 64, None), ("items_hnsw_l2", 128, "d20240104"), ("users_flat_ip", 64, None)]


def rows(first, count, dim):
    vectors = np.random.default_rng(first).normal(size=(count, dim)).astype("float32").tolist()
    return [list(range(first, first + count)), ["x"] * count, vectors]


def insert(seconds):
    end, first = time.time() + float(seconds), 5_000_000 + int(time.time()) % 1_000_000 * 10
    while time.time() < end:
        for name, dim, partition in TARGETS:
            Collection(name).insert(rows(first, 100, dim), partition_name=partition)
            first += 100
        time.sleep(0.5)


def flush():
    for database in db.list_database():
        db.using_database(database)
        for name in utility.list_collections():
            Collection(name).flush()


def make(name, dim, count):
    fields = [
        FieldSchema("id", DataType.INT64, is_primary=True),
        FieldSchema("tag", DataType.VARCHAR, max_length=64),
        FieldSchema("vec", DataType.FLOAT_VECTOR, dim=dim),
    ]
    collection = Collection(name, CollectionSchema(fields), shards_num=1)
    for first in range(0, count, 2000):
        collection.insert(rows(first, min(2000, count - first), dim))
    collection.flush()
    return collection


def dropped():
    collection = make("kitescope_dropped", 16, 3000)
    collection.create_index("vec", {"index_type": "FLAT", "metric_type": "L2", "params": {}})
    collection.load()
    collection.search(rows(0, 1, 16)[2], "vec", {"metric_type": "L2"}, limit=5)
    collection.release()
    utility.drop_collection("kitescope_dropped")


def no_index():
    collection = make("no_index", 64, 12000)
    hnsw = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "efConstruction": 100}}
    connections._fetch_handler("default").create_index("no_index", "vec", hnsw, sync=False)
    print("indexes of no_index:", utility.index_building_progress("no_index"))


def small():
    for name, dim, partition in TARGETS[:2]:
        for i in range(10):
            Collection(name).insert(rows(9_000_000 + i * 150, 150, dim), partition_name=partition)


def reload(name):
    Collection(name).release()
    Collection(name).load()


def segments():
    found = {}
    for database in db.list_database():
        db.using_database(database)
        for name in utility.list_collections():
            if str(utility.load_state(name)) != "Loaded":
                continue
            info = utility.get_query_segment_info(name)
            found[f"{database}/{name}"] = {
                "id": str(Collection(name).describe()["collection_id"]),
                "segments": {str(s.segmentID): {"rows": s.num_rows, "nodes": sorted(s.nodeIds)} for s in info},
            }
    json.dump(found, sys.stdout, sort_keys=True)


def apply(file):
    connect = re.compile(r'connections\.connect\(\.\.\., db_name="(.*)"\)')
    db.using_database("default")
    with open(file) as text:
        for line in json.load(text):
            if found := connect.fullmatch(line):
                db.using_database(found[1])
                continue
            if not re.fullmatch(r'utility\.load_balance\("\w+", \d+, \[\d+\], \[[\d, ]+\]\)', line):
                sys.exit(f"not a call of a plan: {line}")
            eval(line, {"utility": utility})
            print(line, file=sys.stderr)


def main():
    address, command, *arguments = sys.argv[1:]
    host, port = address.split(":")
    connections.connect(host=host, port=port)
    {
        "insert": insert,
        "flush": flush,
        "dropped": dropped,
        "no-index": no_index,
        "small": small,
        "drop": utility.drop_collection,
        "release-partition": lambda name, partition: Partition(Collection(name), partition).release(),
        "reload": reload,
        "segments": segments,
        "apply": apply,
    }[command](*arguments)


main()
