"""replay_data.py host:port COMMAND: data for tools/e2e/replay.sh.

seal       drop everything else, make `load` (HNSW), 30,000 rows flushed and indexed, loaded
grow       GROW rows more, which stay growing
flush      flush, and wait until all rows are indexed and no segment grows
brute      make `brute` (FLAT), 120,000 rows in small sealed segments, loaded
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


def main(command):
    if command == "seal":
        for name in utility.list_collections():
            utility.drop_collection(name)
        c = make("load", {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "efConstruction": 200}}, 2)
        insert(c, 0, 30000, 1)
        c.flush()
        utility.wait_for_index_building_complete("load")
        c.load()
    elif command == "grow":
        insert(Collection("load"), 30000, GROW, 100)
    elif command == "flush":
        c = Collection("load")
        c.flush()
        for _ in range(120):
            utility.wait_for_index_building_complete("load")
            served = utility.get_query_segment_info("load")
            if sum(s.num_rows for s in served) == 30000 + GROW and all(s.indexID for s in served):
                break
            time.sleep(2)
        else:
            raise SystemExit(f"the rows were not served by an index in time: {served}")
        time.sleep(30)  # growing segments are let go after their sealed copies are there
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
