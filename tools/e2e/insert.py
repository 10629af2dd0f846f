"""insert.py host:port: makes a collection, inserts and flushes a few times, drops it; prints what it did."""
import sys

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

host, port = sys.argv[1].split(":")
connections.connect(host=host, port=port)
name = "kitescope_e2e"
if utility.has_collection(name):
    utility.drop_collection(name)
fields = [FieldSchema("id", DataType.INT64, is_primary=True), FieldSchema("vec", DataType.FLOAT_VECTOR, dim=8)]
collection = Collection(name, CollectionSchema(fields), shards_num=1)
print("created", flush=True)
rows = 0
for i in range(4):
    ids = list(range(rows, rows + 500))
    collection.insert([ids, np.random.default_rng(i).normal(size=(500, 8)).astype("float32").tolist()])
    rows += 500
    collection.flush()
    print("flushed", rows, flush=True)
utility.drop_collection(name)
print("dropped", flush=True)
