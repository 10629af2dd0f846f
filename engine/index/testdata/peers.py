"""What hnswlib and faiss make of files that were written by package index.

python peers.py make FOLDER    writes indexes of some hundred to some thousand rows
python peers.py check FOLDER   holds answers from X.ours against those from X, bit for bit, and
                               from X.other (the same graph in the other library's format)
                               against an exhaustive search
"""
import os
import sys

import faiss
import hnswlib
import numpy as np

K = 10


def rows(n, d, seed):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def make(folder):
    for name, space, n, d, m, deleted in (("l2_33_m8.hnswlib", "l2", 3000, 33, 8, 0), ("ip_16_m4.hnswlib", "ip", 2000, 16, 4, 0),
                                          ("l2_1_m2.hnswlib", "l2", 500, 1, 2, 0), ("l2_768_m16.hnswlib", "l2", 600, 768, 16, 50)):
        ix = hnswlib.Index(space=space, dim=d)
        ix.init_index(max_elements=n + 10, ef_construction=60, M=m)
        ix.add_items(rows(n, d, 1), 7 + 3 * np.arange(n) if m == 4 else None)
        for i in range(deleted):
            ix.mark_deleted(i * 3)
        ix.save_index(os.path.join(folder, name))
    for metric, word in ((faiss.METRIC_L2, "l2"), (faiss.METRIC_INNER_PRODUCT, "ip")):
        for d in (3, 17, 128):
            v = rows(2500, d, 2)
            hnsw = faiss.IndexHNSWFlat(d, 8, metric)
            hnsw.hnsw.efSearch = 40
            ivf = faiss.index_factory(d, "IVF20,Flat", metric)
            ivf.nprobe = 4
            sq8 = faiss.index_factory(d, "IVF20,SQ8", metric)
            sq8.nprobe = 4
            ids = faiss.index_factory(d, "IDMap,HNSW6", metric)
            flat = faiss.index_factory(d, "IDMap,Flat", metric)
            for kind, ix in (("hnsw", hnsw), ("ivf", ivf), ("sq8", sq8), ("ids", ids), ("flat", flat)):
                ix.train(v)
                if kind in ("ids", "flat"):
                    ix.add_with_ids(v, 10**12 - 5 * np.arange(len(v)))
                else:
                    ix.add(v)
                faiss.write_index(ix, os.path.join(folder, f"{kind}_{word}_{d}.faiss"))


def search(path, library, space, d, ef=None):
    q = rows(200, d, 9)
    if library == "hnswlib":
        ix = hnswlib.Index(space=space, dim=d)
        ix.load_index(path)
        ix.set_ef(ef or 30)
        ids, distances = ix.knn_query(q, k=K, num_threads=1)
        return ids.astype(np.int64), distances
    faiss.omp_set_num_threads(1)
    ix = faiss.read_index(path)
    if ef:
        inner = faiss.downcast_index(ix.index) if hasattr(ix, "id_map") else ix
        inner.hnsw.efSearch = ef
    distances, ids = ix.search(q, K)
    return ids, distances


def check(folder):
    compared = 0
    for name in sorted(os.listdir(folder)):
        stem, library = os.path.splitext(name)
        if library not in (".hnswlib", ".faiss"):
            continue
        library = library[1:]
        parts = stem.split("_")
        space, d = (parts[0], int(parts[1])) if library == "hnswlib" else (parts[1], int(parts[2]))
        path = os.path.join(folder, name)
        want, got = search(path, library, space, d), search(path + ".ours", library, space, d)
        for a, b in zip(want, got):
            assert a.tobytes() == b.tobytes(), f"{name}: other answers from the file that was written"
        compared += 1
        if os.path.exists(path + ".other"):
            other = "faiss" if library == "hnswlib" else "hnswlib"
            a, b = search(path, library, space, d, ef=3000)[0], search(path + ".other", other, space, d, ef=3000)[0]
            same = np.mean([len(set(x) & set(y)) for x, y in zip(a, b)]) / K
            assert same > 0.999, f"{name}: {same:.4f} of the ids from {other}'s format"
            compared += 1
    print(f"{compared} files compared")


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
