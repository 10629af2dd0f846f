"""replay_lite.py PORT DB OUT: a Milvus Lite 2.5 (PyPI) with sparse vectors, and what pymilvus makes of queries to it.

Milvus Lite listens at a socket: here PORT leads there, until the input ends. OUT is a JSON list of cases as replay_targets.py has them; a
sparse query is pairs of a dimension (4 bytes) and a float, "sizes" are the bytes of each. OUT.csr are the vectors.
"""

import base64
import json
import os
import socket
import sys
import threading

import numpy as np
from milvus_lite.server_manager import server_manager_instance
from pymilvus import DataType, MilvusClient

port, db, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
ROWS, DIMS = 3000, 500
rng = np.random.default_rng(11)


def vector(most):
    n = int(rng.integers(1, most))
    return dict(sorted((int(d), float(np.float32(v))) for d, v in zip(rng.choice(DIMS, n, replace=False), rng.random(n))))


def pairs(v):
    return b"".join(np.uint32(d).tobytes() + np.float32(x).tobytes() for d, x in v.items())


uri = server_manager_instance.start_and_get_uri(db)
client = MilvusClient(uri)
schema = client.create_schema(auto_id=False)
schema.add_field("id", DataType.INT64, is_primary=True)
schema.add_field("vec", DataType.SPARSE_FLOAT_VECTOR)
index = client.prepare_index_params()
index.add_index("vec", index_type="SPARSE_INVERTED_INDEX", metric_type="IP", params={})
client.create_collection("replay_sparse", schema=schema, index_params=index)
rows = [vector(30) for _ in range(ROWS)]
client.insert("replay_sparse", [{"id": i, "vec": v} for i, v in enumerate(rows)])
client.load_collection("replay_sparse")

cases = []


def ask(nq, k, keys=None, exclude=False, drop=0.0):
    q = [vector(20) for _ in range(nq)]
    expr = "" if keys is None else f"id {'not ' if exclude else ''}in {json.dumps(keys)}"
    params = {"drop_ratio_search": drop} if drop else {}
    found = client.search("replay_sparse", q, filter=expr, limit=k, anns_field="vec", search_params={"metric_type": "IP", "params": params})
    cases.append(
        dict(
            name=f"replay_sparse nq={nq} k={k} drop {drop} {expr[:20]}", collection="replay_sparse", database="", field="vec", metric="IP", key="id",
            element="sparse", index="SPARSE_INVERTED_INDEX", nq=nq, k=k, drop=drop, keys=keys, exclude=exclude,
            queries=base64.b64encode(b"".join(pairs(v) for v in q)).decode(), sizes=[8 * len(v) for v in q],
            hits=[[[h["id"], float(h["distance"])] for h in hits] for hits in found],
        )
    )


for nq in (1, 10):
    ask(nq, 10)
    ask(nq, 100)
    ask(nq, 10, drop=0.4)
    ask(nq, 10, keys=list(range(0, ROWS, 7)))
    ask(nq, 10, keys=list(range(0, ROWS, 7)), exclude=True)
    ask(nq, 10, keys=[5, 6])
starts = np.cumsum([0] + [len(v) for v in rows])
with open(out + ".csr", "wb") as f:
    f.write(np.array([ROWS, DIMS, starts[-1]], np.int64).tobytes() + starts.astype(np.int64).tobytes())
    f.write(np.array([d for v in rows for d in v], np.int32).tobytes() + np.array([x for v in rows for x in v.values()], np.float32).tobytes())
with open(out + ".part", "w") as f:
    json.dump(cases, f)


def pump(source, to):
    try:
        while data := source.recv(1 << 16):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(listener):
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(uri.removeprefix("unix:"))
        threading.Thread(target=pump, args=(client, server), daemon=True).start()
        threading.Thread(target=pump, args=(server, client), daemon=True).start()


listener = socket.create_server(("127.0.0.1", port), backlog=64)
threading.Thread(target=serve, args=(listener,), daemon=True).start()
os.rename(out + ".part", out)
print(f"{len(cases)} cases, {sum(len(h) for c in cases for h in c['hits'])} hits", flush=True)
sys.stdin.read()
server_manager_instance.release_all()
