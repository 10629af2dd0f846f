"""client.py host:port COMMAND: what the latency runs do as a client of the cluster.

seed                   makes the collections below, with rows and indexes, and loads them
make NAME              one of them
grow NAME ROWS         inserts so many rows, not flushed
pieces NAME COUNT ROWS makes so many segments of so many rows
seal NAME              flushes a collection and waits until what it has is indexed
compact NAME           compacts a collection and waits until it is done
drop NAME              drops a collection
reload NAME            releases a collection and loads it again
release NAME           releases it
unindex NAME           drops its index
storm NAME COUNT ROWS  flushes so often after so many rows each
load SPEC OUT          sends requests until its input ends or SIGTERM comes, then writes each of them into OUT

SPEC is a JSON list of streams, each of so many threads that send one request after the other:
{"request": "search", "collection": "docs", "threads": 2, "nq": 10, "limit": 10, "params": {"ef": 64},
 "consistency": "Bounded", "fields": ["vec"], "pause": 0.05}; "filtered" gives each request a filter of its own
that all rows pass, so that none are merged; an insert has so many rows as "batch" says.
OUT has a line for each request: stream, when it began (seconds since the epoch), how long it took (seconds) and its error.
What takes the time is the call alone: requests are made before, answers are read after it.
"""

import json
import signal
import sys
import threading
import time

import grpc
import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility
from pymilvus.client.prepare import Prepare
from pymilvus.grpc_gen import milvus_pb2

LEVELS = {"Strong": (0, 0), "Bounded": (2, 2), "Eventually": (3, 1)}  # the level, and the guarantee timestamp that stands for it
SERVICE = "/milvus.proto.milvus.MilvusService/"
ANSWERS = {"search": milvus_pb2.SearchResults, "query": milvus_pb2.QueryResults, "insert": milvus_pb2.MutationResult, "delete": milvus_pb2.MutationResult}
METHODS = {"search": "Search", "query": "Query", "insert": "Insert", "delete": "Delete"}

HNSW = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 16, "efConstruction": 100}}
FLAT = {"index_type": "FLAT", "metric_type": "L2", "params": {}}

# name: dimension, sealed rows, index, shards, partitions (each is a segment of its own)
COLLECTIONS = {
    "docs": (64, 30000, HNSW, 2, 1),
    "pics": (128, 60000, FLAT, 1, 6),
    "one": (128, 240000, FLAT, 1, 1),
    "wide": (32, 30000, FLAT, 1, 1),
    "grow": (96, 3000, HNSW, 1, 1),
    "many": (64, 0, HNSW, 1, 1),
    "led": (96, 0, FLAT, 6, 1),
}
first = int(time.time() * 1000) % 10**12 * 1000


def rows(count, dim):
    """Keys are never used twice: the clock begins them."""
    global first
    ids = list(range(first, first + count))
    first += count
    return [ids, np.random.default_rng(first).normal(size=(count, dim)).astype("float32").tolist()]


def insert(name, count, partition=None):
    dim = COLLECTIONS[name][0]
    for at in range(0, count, 5000):
        Collection(name).insert(rows(min(5000, count - at), dim), partition_name=partition)


def make(name):
    dim, count, index, shards, partitions = COLLECTIONS[name]
    if utility.has_collection(name):
        drop(name)
    fields = [FieldSchema("id", DataType.INT64, is_primary=True), FieldSchema("vec", DataType.FLOAT_VECTOR, dim=dim)]
    collection = Collection(name, CollectionSchema(fields), shards_num=shards)
    for i in range(1, partitions):
        collection.create_partition(f"part{i}")
    for i in range(partitions):
        insert(name, count // partitions, f"part{i}" if i else None)
    if count:
        collection.flush()
    collection.create_index("vec", index)
    utility.wait_for_index_building_complete(name, timeout=240)
    collection.load(timeout=120)
    print("made", name, collection.num_entities, flush=True)


def seed():
    for name in COLLECTIONS:
        if name != "led":
            make(name)


def pieces(name, count, size):
    made = 0
    while made < int(count):  # what is flushed at once may end in one segment
        for _ in range(int(count) - made):
            insert(name, int(size))
            Collection(name).flush()
        made = served(name)


def seal(name):
    Collection(name).flush()
    utility.wait_for_index_building_complete(name, timeout=240)
    served(name)


def served(name, limit=240):
    """Waits until the query nodes have nothing growing of a collection, and twice the same."""
    before = None
    for _ in range(limit):
        now = sorted((s.segmentID, tuple(s.nodeIds), str(s.state)) for s in utility.get_query_segment_info(name))
        if now == before and not any(state == "2" for _, _, state in now):
            print(len(now), "segments of", name, "are served", flush=True)
            return len(now)
        before = now
        time.sleep(3)
    sys.exit(f"{name} is not served as it was flushed: {before}")


def compact(name):
    collection = Collection(name)
    collection.compact()
    collection.wait_for_compaction_completed(timeout=240)
    utility.wait_for_index_building_complete(name, timeout=240)
    time.sleep(20)  # nodes take the new segments over
    served(name)


def drop(name):
    Collection(name).release()
    utility.drop_collection(name)


def storm(name, count, size):
    for _ in range(int(count)):
        insert(name, int(size))
        Collection(name).flush()


def reload(name):
    Collection(name).release()
    Collection(name).load(timeout=120)


class Stream:
    """One line of SPEC: its requests, made beforehand, and what became of each."""

    def __init__(self, number, spec, channel):
        self.number, self.spec, self.done = number, spec, []
        kind = spec["request"]
        self.call = channel.unary_unary(SERVICE + METHODS[kind], request_serializer=lambda r: r, response_deserializer=lambda r: r)
        self.answer = ANSWERS[kind]
        self.made = [] if kind == "insert" else [self.make(i) for i in range(int(spec.get("different", 32)))]

    def make(self, seed=0):
        spec = self.spec
        name, (dim, *_, index, _, _) = spec["collection"], COLLECTIONS[spec["collection"]]
        if spec["request"] == "insert":
            schema = [{"name": "id", "type": DataType.INT64, "is_primary": True, "auto_id": False}, {"name": "vec", "type": DataType.FLOAT_VECTOR, "params": {"dim": dim}}]
            keys, vectors = rows(int(spec.get("batch", 100)), dim)
            entities = [{"name": "id", "type": DataType.INT64, "values": keys}, {"name": "vec", "type": DataType.FLOAT_VECTOR, "values": vectors}]
            return Prepare.batch_insert_param(name, entities, "_default", schema).SerializeToString()
        level, guarantee = LEVELS[spec.get("consistency", "Bounded")]
        if spec["request"] == "query":
            request = Prepare.query_request(name, spec["expr"], spec.get("fields", ["id"]), [], limit=spec.get("limit", 10))
        else:
            data = np.random.default_rng(seed).normal(size=(int(spec.get("nq", 1)), dim)).astype("float32").tolist()
            param = {"metric_type": index["metric_type"], "params": spec.get("params", {})}
            expr = f"id > {seed}" if spec.get("filtered") else None
            request = Prepare.search_requests_with_expr(name, data, "vec", param, int(spec.get("limit", 10)), expr, output_fields=spec.get("fields"))
        request.consistency_level, request.use_default_consistency, request.guarantee_timestamp = level, False, guarantee
        return request.SerializeToString()

    def run(self, thread, ended):
        pause, n = float(self.spec.get("pause", 0)), thread * 7
        while not ended.is_set():
            request = self.made[n % len(self.made)] if self.made else self.make()
            n += 1
            began, clock, error = time.time(), time.perf_counter(), ""
            try:
                raw = self.call(request, timeout=float(self.spec.get("timeout", 30)))
                took = time.perf_counter() - clock
                status = self.answer.FromString(raw).status
                if status.error_code or status.code:
                    error = f"{status.error_code} {status.reason}"[:200]
            except grpc.RpcError as err:
                took = time.perf_counter() - clock
                error = f"{err.code().name}: {err.details()}"[:200]
            self.done.append((began, took, error))
            if pause or error:
                ended.wait(pause or 0.2)


def load(address, spec, out):
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    channels = [grpc.insecure_channel(address, options + [("grpc.use_local_subchannel_pool", 1)]) for _ in range(2)]
    streams = [Stream(i, s, channels[i % 2]) for i, s in enumerate(json.loads(spec))]
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    threads = [threading.Thread(target=s.run, args=(t, ended)) for s in streams for t in range(int(s.spec.get("threads", 1)))]
    for t in threads:
        t.start()
    print("started", flush=True)
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    ended.wait()
    for t in threads:
        t.join()
    with open(out, "w") as f:
        for s in streams:
            for began, took, error in s.done:
                f.write(json.dumps({"stream": s.number, "began": began, "took": took, "error": error}) + "\n")


def main():
    address, command, *arguments = sys.argv[1:]
    if command == "load":
        load(address, *arguments)
        return
    host, port = address.split(":")
    connections.connect(host=host, port=port, timeout=20)
    print("began", time.time(), flush=True)
    {
        "seed": seed,
        "make": make,
        "grow": lambda name, count: insert(name, int(count)),
        "pieces": pieces,
        "seal": seal,
        "drop": drop,
        "compact": compact,
        "reload": reload,
        "release": lambda name: Collection(name).release(),
        "unindex": lambda name: Collection(name).drop_index(),
        "storm": storm,
    }[command](*arguments)


main()
