"""client.py host:port CODE: runs code with pymilvus, connected to a proxy: that of a play, or a step that kitescope printed."""

import sys

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, Role, connections, utility

HNSW = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 8, "efConstruction": 64}}


def vectors(first, count):
    return np.random.default_rng(first).normal(size=(count, 8)).astype("float32").tolist()


def fill(name, count, first=0, flush=True):
    """fill inserts rows, and flushes them."""
    collection = Collection(name)
    for at in range(first, first + count, 10000):
        n = min(10000, first + count - at)
        collection.insert([list(range(at, at + n)), vectors(at, n)])
    if flush:
        collection.flush()
    return collection


def make(name, count=0, index=HNSW, load=True):
    """make makes a collection anew, with rows, an index and a load."""
    if utility.has_collection(name):
        utility.drop_collection(name)
    fields = [FieldSchema("id", DataType.INT64, is_primary=True), FieldSchema("vec", DataType.FLOAT_VECTOR, dim=8)]
    collection = Collection(name, CollectionSchema(fields), shards_num=1)
    if count:
        fill(name, count)
    if index:
        collection.create_index("vec", index)
    if index and load:
        collection.load()
    return collection


def search(name, limit=3):
    """search is a search that has to succeed."""
    hits = Collection(name).search(vectors(7, 1), "vec", {}, limit=limit, timeout=20)
    assert len(hits[0]) == limit, hits


connections.connect(uri="http://" + sys.argv[1], user="root", password="Milvus", timeout=20)
exec(sys.argv[2], globals())
