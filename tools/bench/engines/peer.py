"""The peers of a benchmark, hnswlib and faiss, driven line by line.

In: one JSON object a line on standard input, with "op" and its arguments. Out: one JSON object
a line, with what it took: "thread" and "process" are CPU nanoseconds, "wall" nanoseconds.
Matrices go through .npy files. Whatever is timed is one call into C++, or a loop of such calls
where a library answers batches in another way than single queries.
"""
import json
import os
import sys
import time

import faiss
import hnswlib
import numpy as np
import pyarrow
import pyarrow.parquet

faiss.omp_set_num_threads(1)
kept = {}


def clocks():
    return (
        time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID),
        time.clock_gettime_ns(time.CLOCK_PROCESS_CPUTIME_ID),
        time.perf_counter_ns(),
    )


def timed(call):
    before = clocks()
    got = call()
    thread, process, wall = (after - was for after, was in zip(clocks(), before))
    return {"thread": thread, "process": process, "wall": wall}, got


def status(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    return 0


def save(a, got):
    """Puts answers, squared L2 distances and ids, where the driver reads them."""
    if "out" in a:
        distances, ids = got
        np.save(a["out"] + ".ids.npy", np.ascontiguousarray(ids, dtype=np.int64))
        np.save(a["out"] + ".distances.npy", np.ascontiguousarray(distances, dtype=np.float32))


def parquet_bytes(a):
    """A file's bytes as a column of a parquet file, as Arrow's C++ writer in a Milvus node makes it
    (internal/core/src/storage/PayloadWriter.cpp): an INT32 with a dictionary for each, ZSTD."""
    table = pyarrow.table({"val": pyarrow.array(np.fromfile(a["file"], dtype=np.int8))})
    took, _ = timed(lambda: pyarrow.parquet.write_table(table, a["out"], compression="zstd", row_group_size=len(table)))
    return took


def hnswlib_build(a):
    x = np.load(a["vectors"])
    index = hnswlib.Index("l2", x.shape[1])
    index.init_index(max_elements=len(x), M=a["m"], ef_construction=a["ef_construction"], random_seed=100)
    took, _ = timed(lambda: index.add_items(x, num_threads=a["threads"]))
    if a.get("file"):
        index.save_index(a["file"] + ".part")
        os.replace(a["file"] + ".part", a["file"])
    return took


def hnswlib_load(a):
    index = hnswlib.Index("l2", a["dim"])
    took, _ = timed(lambda: index.load_index(a["file"]))
    kept[a["name"]] = index
    return took


def hnswlib_search(a):
    index, q = kept[a["name"]], kept[a["queries"]]
    index.set_ef(a["ef"])
    took, (ids, distances) = timed(lambda: index.knn_query(q, k=a["k"], num_threads=1))
    save(a, (distances, ids))
    return took


def faiss_build(a):
    x = np.load(a["vectors"])
    index = faiss.IndexHNSWFlat(x.shape[1], a["m"])
    index.hnsw.efConstruction = a["ef_construction"]
    took, _ = timed(lambda: index.add(x))
    faiss.write_index(index, a["file"] + ".part")
    os.replace(a["file"] + ".part", a["file"])
    return took


def faiss_load(a):
    took, index = timed(lambda: faiss.read_index(a["file"]))
    kept[a["name"]] = index
    return took


def faiss_search(a):
    index, q = kept[a["name"]], kept[a["queries"]]
    index.hnsw.efSearch = a["ef"]
    took, got = timed(lambda: index.search(q, a["k"]))
    save(a, got)
    return took


def faiss_flat(a):
    index = faiss.IndexFlatL2(kept[a["vectors"]].shape[1])
    took, _ = timed(lambda: index.add(kept[a["vectors"]]))
    kept[a["name"]] = index
    return took


def faiss_flat_search(a):
    """All queries in one call, which faiss gives to its BLAS; or one by one."""
    index, q, k = kept[a["name"]], kept[a["queries"]][: a["count"]], a["k"]
    if a["batch"]:
        took, got = timed(lambda: index.search(q, k))
    else:
        took, got = timed(lambda: [index.search(q[i : i + 1], k) for i in range(len(q))])
        got = np.concatenate([d for d, _ in got]), np.concatenate([i for _, i in got])
    save(a, got)
    return took


def faiss_lists(a):
    """Lists of vectors, trained on a part of them: a benchmark of searches needs no better ones."""
    x = np.load(a["vectors"])
    index = faiss.index_factory(x.shape[1], a["factory"])
    for cp in [index.cp] + ([index.pq.cp] if hasattr(index, "pq") else []):
        cp.niter, cp.max_points_per_centroid = 10, 64
    took, _ = timed(lambda: (index.train(x), index.add(x)))
    faiss.write_index(index, a["file"] + ".part")
    os.replace(a["file"] + ".part", a["file"])
    return took


def faiss_lists_search(a):
    index, q, k = kept[a["name"]], kept[a["queries"]], a["k"]
    index.nprobe = a["nprobe"]
    if a["batch"]:
        took, got = timed(lambda: index.search(q, k))
    else:
        took, got = timed(lambda: [index.search(q[i : i + 1], k) for i in range(len(q))])
        got = np.concatenate([d for d, _ in got]), np.concatenate([i for _, i in got])
    save(a, got)
    return took


def matrix(a):
    kept[a["name"]] = np.load(a["file"])
    return {}


def half(a):
    np.save(a["out"] + ".part.npy", np.load(a["file"]).astype(np.float16))
    os.replace(a["out"] + ".part.npy", a["out"])
    return {}


def drop(a):
    kept.pop(a["name"], None)
    return {}


def rss(a):
    return {"rss": status("VmRSS")}


def versions(a):
    from importlib.metadata import version

    return {"text": "hnswlib %s, faiss-cpu %s" % (version("hnswlib"), version("faiss-cpu"))}


ops = {f.__name__: f for f in (parquet_bytes, hnswlib_build, hnswlib_load, hnswlib_search, faiss_build, faiss_load, faiss_search,
                               faiss_flat, faiss_flat_search, faiss_lists, faiss_lists_search, matrix, half, drop, rss, versions)}

for line in sys.stdin:
    arguments = json.loads(line)
    try:
        answer = ops[arguments["op"]](arguments)
    except Exception as e:  # the driver shows it and ends
        answer = {"error": "%s: %s" % (type(e).__name__, e)}
    print(json.dumps(answer), flush=True)
