"""Makes a collection of each kind of index in a real Milvus 2.3.5 and records what it answers.
kinds.py OUT HOST:PORT SEED ROWS DIM [FACTOR]   rows of random vectors, dimension as given; OUT/truth.json"""
import json
import pathlib
import sys
import time

import numpy as np
from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

out, hp, seed, rows, dim = pathlib.Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:6])
only = sys.argv[6].split(",") if len(sys.argv) > 6 else None
host, port = hp.split(":")
connections.connect(host=host, port=port)
rng = np.random.default_rng(seed)
I, F, B = DataType.INT64, DataType.FLOAT_VECTOR, DataType.BINARY_VECTOR
nq = 12
truth = []


def vectors(n, d, binary):
    if binary:
        centres = rng.integers(0, 256, (16, d // 8), dtype="uint8")
        return centres[rng.integers(0, 16, n)] ^ (rng.integers(0, 256, (n, d // 8), dtype="uint8") & rng.integers(0, 256, (n, d // 8), dtype="uint8"))
    centres = rng.normal(size=(16, d))
    v = (centres[rng.integers(0, 16, n)] + rng.normal(size=(n, d)) * 0.7).astype("<f4")
    v[n // 2] = v[n // 3]  # equal rows
    return v


def lists(v):
    return [bytes(r) for r in v] if v.dtype == np.uint8 else v.tolist()


def kind(name, index, metric, params, searches, d=dim, n=rows, delete=0, growing=0):
    if only and name not in only:
        return
    t = time.time()
    binary = index.startswith("BIN")
    c = Collection(name, CollectionSchema([FieldSchema("id", I, is_primary=True), FieldSchema("vec", B if binary else F, dim=d)]), shards_num=1, consistency_level="Strong")
    v = vectors(n, d, binary)
    c.insert([list(range(n)), lists(v)])
    c.flush()
    entry = {"name": name, "index": index, "metric": metric, "dim": d, "rows": n, "params": params}
    try:
        c.create_index("vec", {"index_type": index, "metric_type": metric, "params": params})
        utility.wait_for_index_building_complete(name, timeout=60)
        c.load(timeout=60)
    except Exception as e:
        entry["refused"] = str(e)[:300]
        print(name, "REFUSED", entry["refused"], flush=True)
        truth.append(entry)
        return
    if delete:
        c.delete("id in " + str(list(range(0, n, n // delete))))
        c.flush()
    if growing:
        g = vectors(growing, d, binary)
        for i in range(0, growing, 4000):
            m = min(4000, growing - i)
            c.insert([list(range(100000 + i, 100000 + i + m)), lists(g[i:i + m])])
        time.sleep(3)
    q = vectors(nq, d, binary)
    if not binary:
        q[:4] = v[rng.integers(0, n, 4)]
    entry["queries"] = [r.tobytes().hex() for r in q]
    entry["searches"] = []
    for s in searches:
        p = {k: x for k, x in s.items() if k not in ("k", "expr")}
        expr = s.get("expr")
        entry_s = {"k": s["k"], "expr": expr or "", "params": p}
        try:
            r = c.search(lists(q), "vec", {"metric_type": metric, "params": p}, limit=s["k"], expr=expr, timeout=60)
            entry_s["ids"] = [[int(x) for x in h.ids] for h in r]
            entry_s["bits"] = [[int(np.float32(x).view(np.uint32)) for x in h.distances] for h in r]
        except Exception as e:
            entry_s["refused"] = str(e)[:300]
            print(name, s, "refused", entry_s["refused"], flush=True)
        entry["searches"].append(entry_s)
    entry["collection"] = c.describe()["collection_id"] if hasattr(c, "describe") else connections._fetch_handler("default").describe_collection(name)["collection_id"]
    entry["segments"] = [[s.segmentID, int(s.num_rows), s.index_name, int(s.state)] for s in utility.get_query_segment_info(name)]
    truth.append(entry)
    print(name, round(time.time() - t, 1), entry["segments"], flush=True)


odd = "id % 3 != 0"
few = "id < 40"
near = lambda **k: [dict(k=10, **k)]
ivf = [dict(k=10, nprobe=4), dict(k=1, nprobe=1), dict(k=100, nprobe=8), dict(k=10, nprobe=4, expr=odd), dict(k=10, nprobe=8, expr=few)]
for m in ("L2", "IP", "COSINE"):
    x = m.lower()
    kind(f"flat_{x}", "FLAT", m, {}, [dict(k=10), dict(k=10, expr=odd)])
    kind(f"hnsw_{x}", "HNSW", m, {"M": 8, "efConstruction": 60}, [dict(k=10, ef=32), dict(k=10, ef=32, expr=odd), dict(k=5, ef=16, expr=few)])
    kind(f"ivf_flat_{x}", "IVF_FLAT", m, {"nlist": 16}, ivf)
    kind(f"ivf_sq8_{x}", "IVF_SQ8", m, {"nlist": 16}, ivf, delete=20 if m == "IP" else 0)
    kind(f"ivf_pq_{x}", "IVF_PQ", m, {"nlist": 16, "m": max(1, dim // 4), "nbits": 8}, ivf)
    scann = [dict(k=10, nprobe=4, reorder_k=50), dict(k=10, nprobe=4), dict(k=1, nprobe=1), dict(k=1, nprobe=4, reorder_k=20), dict(k=100, nprobe=8, reorder_k=200),
             dict(k=10, nprobe=4, reorder_k=40, expr=odd), dict(k=10, nprobe=8, reorder_k=30, expr=few), dict(k=15, nprobe=16, reorder_k=19), dict(k=20, nprobe=16, reorder_k=20)]
    kind(f"scann_{x}", "SCANN", m, {"nlist": 16, "with_raw_data": True}, scann)
    kind(f"scann_codes_{x}", "SCANN", m, {"nlist": 16, "with_raw_data": False}, scann)
    kind(f"diskann_{x}", "DISKANN", m, {}, [dict(k=10, search_list=30), dict(k=10, search_list=16, expr=odd)])
for m in ("JACCARD", "HAMMING"):
    x = m.lower()
    kind(f"bin_flat_{x}", "BIN_FLAT", m, {}, [dict(k=10), dict(k=10, expr=odd)], d=dim * 4 // 8 * 8)
    kind(f"bin_ivf_flat_{x}", "BIN_IVF_FLAT", m, {"nlist": 16}, ivf, d=dim * 4 // 8 * 8)
kind("mixed", "IVF_SQ8", "L2", {"nlist": 16}, ivf[:3], growing=300)
kind("nbits", "IVF_PQ", "L2", {"nlist": 16, "m": max(1, dim // 4), "nbits": 6}, ivf[:3])
out.mkdir(exist_ok=True, parents=True)
(out / "truth.json").write_text(json.dumps(truth, separators=(",", ":")))
