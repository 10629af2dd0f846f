"""Builds indexes with hnswlib and faiss in the folder argv[1], and writes what they answer to answers.json."""
import json
import os
import sys

import faiss
import hnswlib
import numpy as np

os.chdir(sys.argv[1])
faiss.omp_set_num_threads(1)
rng = np.random.default_rng(11)
cases, ROWS, K = [], 500, 10


def case(name, queries, metric, ef, nprobe, answers):
    ids = [np.asarray(i, dtype=np.int64).tolist() for i, _ in answers]
    bits = [np.asarray(d, dtype=np.float32).view(np.uint32).tolist() for _, d in answers]
    cases.append(dict(file=name, queries=queries, metric=metric, ef=ef, nprobe=nprobe, ids=ids, bits=bits))


def hnswlib_index(name, space, x, q, queries, m, labels, deleted):
    p = hnswlib.Index(space=space, dim=x.shape[1])
    p.init_index(len(x), M=m, ef_construction=60, random_seed=5)
    p.add_items(x, labels, num_threads=1)
    for label in deleted:
        p.mark_deleted(label)
    p.save_index(name)
    for ef in (16, 64):
        p.set_ef(ef)
        labels_, distances = p.knn_query(q, k=K, num_threads=1)
        case(name, queries, space, ef, 0, list(zip(labels_, distances)))


def faiss_index(name, index, q, queries, efs=(0,), nprobes=(0,), inner=None):
    faiss.write_index(index, name)
    inner = inner or index
    for ef in efs:
        for nprobe in nprobes:
            if ef:
                faiss.downcast_index(inner).hnsw.efSearch = ef
            if nprobe:
                inner.nprobe = nprobe
            # One query at a time: faiss adds up otherwise where there are many (BLAS).
            answers = []
            for row in q:
                d, i = index.search(row[None, :], K)
                answers.append((i[0][i[0] >= 0], d[0][i[0] >= 0]))
            case(name, queries, "", ef, nprobe, answers)


for dim in (1, 3, 17, 32):
    for kind in ("normal", "grid"):  # the grid is full of equal distances
        def draw(n):
            if kind == "grid":
                return (rng.integers(-3, 4, size=(n, dim)) / 2).astype(np.float32)
            return rng.standard_normal((n, dim)).astype(np.float32)
        x, q = draw(ROWS), draw(12)
        q[~q.any(axis=1)] = 1  # a zero has no cosine
        tag = f"{kind}-{dim}"
        queries = f"queries-{tag}.npy"
        np.save(queries, q)
        hnswlib_index(f"hnswlib-l2-{tag}", "l2", x, q, queries, 8, np.arange(ROWS), range(0, ROWS, 7))
        hnswlib_index(f"hnswlib-ip-{tag}", "ip", x, q, queries, 4, np.arange(ROWS) * 7 + 1000, [])
        if kind == "normal":
            hnswlib_index(f"hnswlib-cosine-{tag}", "cosine", x, q, queries, 8, np.arange(ROWS), [])
        for metric, name in ((faiss.METRIC_L2, "l2"), (faiss.METRIC_INNER_PRODUCT, "ip")):
            graph = faiss.IndexHNSWFlat(dim, 8, metric)
            graph.add(x)
            faiss_index(f"faiss-hnsw-{name}-{tag}", graph, q, queries, efs=(16, 64))
            flat = faiss.IndexFlat(dim, metric)
            flat.add(x)
            faiss_index(f"faiss-flat-{name}-{tag}", flat, q, queries)
            mapped = faiss.IndexIDMap(faiss.IndexFlat(dim, metric))
            mapped.add_with_ids(x, np.arange(ROWS) * 3 + 5)
            faiss_index(f"faiss-idmap-{name}-{tag}", mapped, q, queries)
            lists = faiss.IndexIVFFlat(faiss.IndexFlat(dim, metric), dim, 8, metric)
            lists.train(x)
            lists.add(x)
            faiss_index(f"faiss-ivf-{name}-{tag}", lists, q, queries, nprobes=(1, 3, 8))

with open("answers.json", "w") as f:
    json.dump(cases, f)
