"""replay_data.py host:port COMMAND: data for tools/e2e/replay.sh.

seal       drop everything else, make `load` (HNSW), 30,000 rows flushed and indexed, loaded
grow       GROW rows more, which stay growing
flush      flush, and wait until all rows are indexed and no segment grows
brute      make `brute` (FLAT), 120,000 rows in 48 sealed segments, loaded
ivf        drop everything else, make `load` (IVF_FLAT, 128 lists), 60,000 rows in eight segments, loaded
rebuild    drop the index of `load` and build HNSW in its place
graph      drop everything else, make `load` (HNSW), 60,000 rows in eight segments, loaded
small      drop everything else, make `load` (HNSW), 60,000 rows in 24 segments, loaded
compact    compact `load`, and wait until one segment of all rows is served
"""
import os
import sys
import time

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

DIM = 128
GROW = int(os.environ.get("GROW", "40000"))
host, port = sys.argv[1].split(":")
connections.connect(host=host, port=port)


def rows(first, count, seed):
    """Rows in 200 clusters, as embeddings lie."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(7).normal(size=(200, DIM)).astype("float32")
    v = centres[rng.integers(0, 200, count)] + rng.normal(scale=0.35, size=(count, DIM)).astype("float32")
    return [list(range(first, first + count)), v.astype("float32").tolist()]


def make(name, index, shards):
    if utility.has_collection(name):
        utility.drop_collection(name)
    fields = [FieldSchema("id", DataType.INT64, is_primary=True), FieldSchema("vec", DataType.FLOAT_VECTOR, dim=DIM)]
    c = Collection(name, CollectionSchema(fields), shards_num=shards)
    c.create_index("vec", index)
    return c


def insert(c, first, count, seed, step=5000):
    for at in range(0, count, step):
        c.insert(rows(first + at, min(step, count - at), seed + at))


HNSW = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "efConstruction": 200}}
IVF = {"index_type": "IVF_FLAT", "metric_type": "L2", "params": {"nlist": 128}}


def fresh(index, rows, flushes, shards):
    """The collection `load` of so many rows, after so many flushes, loaded; nothing else is there."""
    for name in utility.list_collections():
        utility.drop_collection(name)
    c = make("load", index, shards)
    each = rows // flushes
    for i in range(flushes):
        insert(c, i * each, each, 1 + i)
        c.flush()
    utility.wait_for_index_building_complete("load")
    c.load()
    return c


def served(c, right):
    """Waits until what query nodes serve is right, and then until what it replaces is let go."""
    for _ in range(150):
        utility.wait_for_index_building_complete(c.name)
        segments = utility.get_query_segment_info(c.name)
        if right(segments):
            break
        time.sleep(2)
    else:
        raise SystemExit(f"{c.name} was not served as planned in time: {segments}")
    time.sleep(30)


def main(command):
    if command == "seal":
        fresh(HNSW, 30000, 1, 2)
    elif command == "ivf":
        fresh(IVF, 60000, 4, 2)
    elif command == "graph":
        fresh(HNSW, 60000, 4, 2)
    elif command == "small":
        fresh(HNSW, 60000, 24, 1)
    elif command == "rebuild":
        c = Collection("load")
        was = {s.indexID for s in utility.get_query_segment_info("load")}
        c.release()
        c.drop_index()
        c.create_index("vec", HNSW)
        utility.wait_for_index_building_complete("load")
        c.load()
        served(c, lambda l: sum(s.num_rows for s in l) == 60000 and not was & {s.indexID for s in l})
    elif command == "compact":
        c = Collection("load")
        c.compact()
        c.wait_for_compaction_completed()
        served(c, lambda l: len(l) == 1 and l[0].num_rows == 60000 and l[0].indexID)
    elif command == "grow":
        insert(Collection("load"), 30000, GROW, 100)
    elif command == "flush":
        c = Collection("load")
        c.flush()
        served(c, lambda l: sum(s.num_rows for s in l) == 30000 + GROW and all(s.indexID for s in l))
    elif command == "brute":
        for name in utility.list_collections():
            utility.drop_collection(name)
        c = make("brute", {"index_type": "FLAT", "metric_type": "L2", "params": {}}, 2)
        for i in range(24):
            insert(c, i * 5000, 5000, 1000 + i)
            c.flush()
        c.load()
    else:
        raise SystemExit(__doc__)
    print(command, "done", flush=True)


main(sys.argv[2])
