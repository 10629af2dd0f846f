"""client.py host:port COMMAND: the client of the generator of faults on resources and paths.

seed                   makes the collections below and loads the first two
feel FILE              drops what was left over, sends requests of every kind until it is ended, and writes each into FILE
describe NAME          prints the id of a collection and its topics in the queue
churn SECONDS          makes collections, fills, searches and drops them
misuse KIND N SECONDS  sends requests that no client should send, N of them or N at once, as KIND says

FILE has two lines of JSON for a request: {"n", "kind", "began"} when it is sent and, with "took", "way" and
"error", when it ends. Each kind has threads of its own, so that one that hangs does not stop the others.
"""

import inspect
import json
import sys
import threading
import time

import grpc
import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, MilvusException, connections, utility
from pymilvus.client.grpc_handler import GrpcHandler
from pymilvus.grpc_gen import milvus_pb2

DIM = 32
HNSW = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 12, "efConstruction": 80}}
FLAT = {"index_type": "FLAT", "metric_type": "L2", "params": {}}
SEARCH = {"metric_type": "L2", "params": {"ef": 32}}
MAIN, FLUSHED, LOADED = "felt", "felt_flush", "felt_load"
LIMIT = {"timeout": 15.0, "retry_times": 0}  # a timeout that is no int, so that pymilvus itself tries nothing again
REFUSED = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.RESOURCE_EXHAUSTED)
REFUSALS = ("rate limit", "quota", "is denied", "deny", "not authenticated", "permission")

lock = threading.Lock()
key = int(time.time() * 1000) % 10**12 * 1000  # keys are never used twice: the clock begins them


def keys(count):
    global key
    with lock:
        key += count
        return list(range(key - count, key))


def vectors(count):
    return np.random.default_rng(time.time_ns()).normal(size=(count, DIM)).astype("float32").tolist()


def rows(count):
    return [keys(count), [i % 100 for i in range(count)], vectors(count)]


def create(name, shards=1):
    fields = [FieldSchema("id", DataType.INT64, is_primary=True), FieldSchema("group", DataType.INT64), FieldSchema("vec", DataType.FLOAT_VECTOR, dim=DIM)]
    return Collection(name, CollectionSchema(fields), shards_num=shards, **LIMIT)


def drop(name):
    if utility.has_collection(name):
        utility.drop_collection(name)


def seed():
    for name, count, index, shards in ((MAIN, 12000, HNSW, 2), (FLUSHED, 2000, FLAT, 1), (LOADED, 3000, FLAT, 1)):
        drop(name)
        collection = create(name, shards)
        for _ in range(0, count, 1000):
            collection.insert(rows(1000))
        collection.flush()
        collection.create_index("vec", index)
        utility.wait_for_index_building_complete(name, timeout=120)
        if name != LOADED:
            collection.load()


def once(method, name):
    """Calls a method that takes no retry_times without what tries again."""
    inspect.unwrap(method)(connections._fetch_handler("default"), name, timeout=LIMIT["timeout"])


def ddl(n):
    name = f"felt_ddl_{n}"
    create(name).create_index("vec", FLAT, **LIMIT)
    once(GrpcHandler.drop_collection, name)


def load(collection):
    collection.load(**LIMIT)
    once(GrpcHandler.release_collection, collection.name)


def feel(file):
    clean()
    # The schema is read once: a client that runs for long has it.
    main, flushed, loaded = Collection(MAIN), Collection(FLUSHED), Collection(LOADED)
    old = iter(())

    def remove(n):
        nonlocal old
        first = next(old, None)
        if first is None:
            old = iter(keys(1000))
            first = next(old)
        main.delete(f"id in [{first}]", **LIMIT)

    # kind: how many threads, seconds between requests, what is sent
    kinds = {
        "search": (2, 0.25, lambda n: main.search(vectors(2), "vec", SEARCH, limit=10, consistency_level="Bounded", **LIMIT)),
        "query": (1, 0.3, lambda n: main.query(f"group == {n % 100}", limit=20, output_fields=["group"], consistency_level="Strong", **LIMIT)),
        "insert": (2, 0.5, lambda n: main.insert(rows(10), **LIMIT)),
        "upsert": (1, 1, lambda n: main.upsert(rows(5), **LIMIT)),
        "delete": (1, 0.7, remove),
        "flush": (1, 4, lambda n: flushed.flush(**LIMIT)),
        "ddl": (1, 3, ddl),
        "load": (1, 4, lambda n: load(loaded)),
    }
    numbers = iter(range(10**12))
    with open(file, "a", buffering=1) as out:

        def write(**line):
            with lock:
                out.write(json.dumps(line) + "\n")

        def one(kind, pause, call, phase):
            time.sleep(phase)
            while True:
                with lock:
                    n = next(numbers)
                if kind == "flush":
                    try:
                        flushed.insert(rows(50), **LIMIT)
                    except Exception:
                        pass  # felt as an insert
                began, way, error = time.time(), "", ""
                write(n=n, kind=kind, began=began)
                try:
                    call(n)
                except Exception as err:
                    way, error = judge(err, time.time() - began)
                write(n=n, kind=kind, began=began, took=time.time() - began, way=way, error=error)
                time.sleep(max(0.05, pause - (time.time() - began)))

        threads = [
            threading.Thread(target=one, args=(kind, pause, call, pause * i / count), daemon=True)
            for kind, (count, pause, call) in kinds.items()
            for i in range(count)
        ]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def judge(err, took):
    """Tells a request that was refused, one that hung until its time was over, and one that failed apart."""
    text = f"{type(err).__name__}: {err}"
    if isinstance(err, grpc.RpcError):
        text = f"{err.code().name}: {err.details()}"
    if isinstance(err, grpc.RpcError) and err.code() in REFUSED or any(word in text.lower() for word in REFUSALS):
        way = "refused"
    else:
        way = "hanging" if took > 13 else "failed"
    return way, text[:300]


def describe(name):
    request = milvus_pb2.DescribeCollectionRequest(collection_name=name)
    answer = connections._fetch_handler("default")._stub.DescribeCollection(request, timeout=15)
    print(answer.collectionID, *answer.physical_channel_names)


def misuse(kind, n, seconds):
    end, n, main = time.time() + float(seconds), int(n), Collection(MAIN)

    def beside(call, threads=4):
        def one(i):
            while time.time() < end:
                try:
                    call(i)
                except MilvusException:
                    time.sleep(0.1)

        running = [threading.Thread(target=one, args=(i,)) for i in range(threads)]
        for t in running:
            t.start()
        for t in running:
            t.join()

    wide = {"metric_type": "L2", "params": {"ef": 16384}}
    terms = "[" + ",".join(str(i * 7) for i in range(n)) + "]"

    def many(i):
        collection = create(f"misused_{i}_{time.time_ns()}", 2)
        collection.create_index("vec", FLAT)
        collection.load()

    def tiny(_):
        main.insert(rows(5))
        main.flush(timeout=20)

    {
        "searches": lambda: beside(lambda _: main.search(vectors(10), "vec", SEARCH, limit=20), n),
        "vectors": lambda: beside(lambda _: main.search(vectors(n), "vec", SEARCH, limit=10)),
        "rows": lambda: beside(lambda _: main.search(vectors(4), "vec", wide, limit=n, output_fields=["vec"])),
        "filter": lambda: beside(lambda _: main.search(vectors(4), "vec", SEARCH, limit=10, expr=f"id in {terms} or group in {terms}")),
        "flushes": lambda: beside(tiny, n),
        "inserts": lambda: beside(lambda _: main.insert(rows(n)), 2),
        "deletes": lambda: beside(lambda _: main.delete(f"id in {terms}")),
        "collections": lambda: beside(many, n),
        "reloads": lambda: beside(lambda i: (main.release(), main.load()), 1),
    }[kind]()


def churn(seconds):
    end = time.time() + float(seconds)
    while time.time() < end:
        name = f"misused_churn_{time.time_ns()}"
        collection = create(name, 2)
        for _ in range(4):
            collection.insert(rows(1000))
        collection.flush()
        collection.create_index("vec", HNSW)
        collection.load()
        for _ in range(20):
            collection.search(vectors(2), "vec", SEARCH, limit=10)
        collection.release()
        collection.drop()


def clean():
    end = time.time() + 60
    while True:
        try:
            for name in utility.list_collections(timeout=10):
                if name.startswith(("misused_", "felt_ddl_")):
                    utility.drop_collection(name, timeout=10)
            return
        except MilvusException:
            if time.time() > end:
                raise
            time.sleep(1)


def main():
    address, command, *arguments = sys.argv[1:]
    host, port = address.split(":")
    connections.connect(host=host, port=port, timeout=60)
    {"seed": seed, "feel": feel, "describe": describe, "misuse": misuse, "churn": churn}[command](*arguments)


main()
