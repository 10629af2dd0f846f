"""client.py host:port COMMAND: what the generator of faults does as a client of the cluster.

seed                      makes the collections below and loads all but the last
probe FILE                searches every collection of the seed again and again, one line of JSON each
insert NAME ROWS SECONDS  inserts so many rows a second
flush NAME                flushes a collection
load NAME SECONDS         loads a collection and waits so long
release NAME              releases a collection
part NAME release|load    releases or loads the last partition
delete NAME ROWS          deletes rows, flushes and asks for a compaction
reindex NAME KIND         releases a collection, gives it an index of another kind, loads it again
alter NAME                sets a property
unindexed NAME ROWS       makes a collection, flushes it and asks for an index without waiting
drop NAME                 drops a collection if it is there
churn SECONDS SEED        makes collections of all kinds, fills, flushes, loads, searches, releases and drops them
search SECONDS THREADS    searches all collections as fast as it can
"""

import json
import random
import sys
import threading
import time

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

BINARY = "BIN_IVF_FLAT"
PARAMS = {
    "HNSW": {"M": 12, "efConstruction": 100},
    "IVF_SQ8": {"nlist": 32},
    "IVF_FLAT": {"nlist": 32},
    "IVF_PQ": {"nlist": 32, "m": 8, "nbits": 8},
    BINARY: {"nlist": 32},
    "FLAT": {},
}
SEARCH = {"nprobe": 8, "ef": 32}

# name: dimension, rows, index, metric, shards, type of the key, partitions, loaded
COLLECTIONS = {
    "photos_cos": (48, 9000, "HNSW", "COSINE", 2, DataType.INT64, 1, True),
    "songs_ip": (64, 9000, "IVF_SQ8", "IP", 2, DataType.INT64, 1, True),
    "prints_ham": (128, 6000, BINARY, "HAMMING", 1, DataType.INT64, 1, True),
    "pages_pq": (32, 8000, "IVF_PQ", "L2", 1, DataType.VARCHAR, 2, True),
    "tags_flat": (16, 3000, "FLAT", "IP", 1, DataType.VARCHAR, 1, True),
    "cold_cos": (24, 3000, "IVF_FLAT", "COSINE", 1, DataType.INT64, 1, False),
}


def vectors(rng, kind, dim, count):
    if kind == BINARY:
        return [rng.bytes(dim // 8) for _ in range(count)]
    return rng.normal(size=(count, dim)).astype("float32").tolist()


def rows(first, count, spec):
    dim, _, kind, _, _, key, _, _ = spec
    ids = list(range(first, first + count))
    return [[f"k{i:09d}" for i in ids] if key == DataType.VARCHAR else ids, vectors(np.random.default_rng(first), kind, dim, count)]


def create(name, spec):
    dim, _, kind, _, shards, key, parts, _ = spec
    key = FieldSchema("id", key, is_primary=True, **({"max_length": 32} if key == DataType.VARCHAR else {}))
    vec = FieldSchema("vec", DataType.BINARY_VECTOR if kind == BINARY else DataType.FLOAT_VECTOR, dim=dim)
    collection = Collection(name, CollectionSchema([key, vec]), shards_num=shards)
    for i in range(1, parts):
        collection.create_partition(f"part{i}")
    return collection


def fill(collection, spec, first=0, partition=None):
    for at in range(0, spec[1], 2000):
        count = min(2000, spec[1] - at)
        collection.insert(rows(first + at, count, spec), partition_name=partition or (f"part{at // 2000 % spec[6]}" if at // 2000 % spec[6] else None))


def index(collection, kind, metric, wait=True):
    what = {"index_type": kind, "metric_type": metric, "params": PARAMS[kind]}
    if wait:
        collection.create_index("vec", what)
        utility.wait_for_index_building_complete(collection.name, timeout=240)
    else:
        connections._fetch_handler("default").create_index(collection.name, "vec", what, sync=False)


def seed():
    for name, spec in COLLECTIONS.items():
        collection = create(name, spec)
        fill(collection, spec)
        collection.flush()
        index(collection, spec[2], spec[3])
        if spec[7]:
            collection.load()
        print(name, collection.num_entities, flush=True)


def find(name, spec, rng, timeout=5):
    query = vectors(rng, spec[2], spec[0], 2)
    param = {"metric_type": spec[3], "params": SEARCH}
    Collection(name).search(query, "vec", param, limit=5, timeout=timeout, consistency_level="Bounded")


def probe(file):
    """Connects anew after an error: a process that comes back is found again, as a client's next connection would."""
    rng, cache = np.random.default_rng(5), {}
    with open(file, "a") as out:
        while True:
            for name, spec in COLLECTIONS.items():
                if not spec[7]:
                    continue
                began, error = time.time(), ""
                try:
                    if name not in cache:
                        cache[name] = Collection(name)
                    param = {"metric_type": spec[3], "params": SEARCH}
                    cache[name].search(vectors(rng, spec[2], spec[0], 2), "vec", param, limit=5, timeout=4, consistency_level="Bounded")
                except Exception as err:
                    error = f"{type(err).__name__}: {err}"[:300]
                out.write(json.dumps({"at": began, "collection": name, "seconds": round(time.time() - began, 3), "error": error}) + "\n")
                out.flush()
            time.sleep(0.4)


def insert(name, count, seconds):
    end, first = time.time() + float(seconds), int(time.time()) % 1_000_000 * 1000
    while time.time() < end:
        Collection(name).insert(rows(first, int(count), COLLECTIONS[name]))
        first += int(count)
        time.sleep(1)


def load(name, seconds):
    Collection(name).load(timeout=float(seconds))


def part(name, what):
    partition = Collection(name).partitions[-1]
    partition.load() if what == "load" else partition.release()


def delete(name, count):
    collection = Collection(name)
    key = (lambda i: f'"k{i:09d}"') if COLLECTIONS[name][5] == DataType.VARCHAR else str
    first = random.Random(time.time()).randrange(COLLECTIONS[name][1] - int(count))
    collection.delete("id in [" + ",".join(key(i) for i in range(first, first + int(count))) + "]")
    collection.flush()
    collection.compact()


def reindex(name, kind):
    collection = Collection(name)
    collection.release()
    collection.drop_index()
    index(collection, kind, COLLECTIONS[name][3])
    collection.load(timeout=120)


def unindexed(name, count):
    spec = (64, int(count), "HNSW", "L2", 1, DataType.INT64, 1, False)
    collection = create(name, spec)
    fill(collection, spec)
    collection.flush()
    index(collection, "HNSW", "L2", wait=False)


def drop(name):
    if utility.has_collection(name):
        utility.drop_collection(name)


def churn(seconds, seed):
    end, rng, n = time.time() + float(seconds), random.Random(seed), 0
    kinds = [("HNSW", "COSINE"), ("IVF_SQ8", "IP"), ("FLAT", "L2"), ("IVF_PQ", "L2"), (BINARY, "HAMMING")]
    while time.time() < end:
        kind, metric = rng.choice(kinds)
        key = rng.choice([DataType.INT64, DataType.VARCHAR])
        spec = (32, rng.choice([500, 2000, 5000]), kind, metric, rng.choice([1, 2]), key, 1, True)
        name, n = f"churn_{seed}_{n}", n + 1
        collection = create(name, spec)
        fill(collection, spec)
        collection.flush()
        index(collection, kind, metric)
        collection.load(timeout=120)
        for _ in range(10):
            find(name, spec, np.random.default_rng(1))
        if rng.random() < 0.5:
            fill(collection, spec, first=10_000_000)
            collection.flush()
            collection.compact()
        time.sleep(rng.random() * 5)
        if rng.random() < 0.8:
            collection.release()
        collection.drop()
        print("churned", name, spec[1:4], flush=True)


def search(seconds, threads):
    end = time.time() + float(seconds)

    def one(n):
        rng = np.random.default_rng(n)
        while time.time() < end:
            for name, spec in COLLECTIONS.items():
                if spec[7]:
                    find(name, spec, rng, timeout=20)

    running = [threading.Thread(target=one, args=(n,)) for n in range(int(threads))]
    for t in running:
        t.start()
    for t in running:
        t.join()


def main():
    address, command, *arguments = sys.argv[1:]
    host, port = address.split(":")
    connections.connect(host=host, port=port, timeout=20)
    {
        "seed": seed,
        "probe": probe,
        "insert": insert,
        "flush": lambda name: Collection(name).flush(timeout=60),
        "load": load,
        "release": lambda name: Collection(name).release(),
        "part": part,
        "delete": delete,
        "reindex": reindex,
        "alter": lambda name: Collection(name).set_properties({"collection.ttl.seconds": 30 * 86400}),
        "unindexed": unindexed,
        "drop": drop,
        "churn": churn,
        "search": search,
    }[command](*arguments)


main()
