"""Builds indexes with hnswlib and faiss and writes them with queries and what they answered.

    python peers.py DIR small|full

Each case is NAME.index, NAME.json (what it is, and its searches) and NAME.answers: the queries
as float32, then for each search its ids as int64 and its distances as float32, all
little-endian, nq * k each, or for a range search its result counts as int64 first.
"""
import json
import os
import sys

import faiss
import hnswlib
import numpy as np

out, size = sys.argv[1], sys.argv[2]
small = size == "small"
faiss.omp_set_num_threads(1)


def data(kind, n, dim, seed):
    rng = np.random.default_rng(seed)
    if kind == "ties":  # few distinct vectors, and duplicates
        return rng.integers(0, 3, (n, dim)).astype(np.float32)
    if kind == "signed":  # ties under inner product, of both signs, and zeros
        x = rng.integers(-1, 2, (n, dim)).astype(np.float32)
        x[x.sum(axis=1) == 0, 0] = 1
        return x
    centres = rng.standard_normal((max(n // 20, 1), dim)).astype(np.float32)
    return (centres[rng.integers(0, len(centres), n)] + 0.4 * rng.standard_normal((n, dim))).astype(np.float32)


def write(name, index, header, queries, answers):
    queries = np.ascontiguousarray(queries, dtype="<f4")
    with open(os.path.join(out, name + ".answers"), "wb") as f:
        f.write(queries.tobytes())
        for parts in answers:
            for p in parts:
                f.write(p.tobytes())
    header["queries"] = len(queries)
    with open(os.path.join(out, name + ".json"), "w") as f:
        json.dump(header, f)
        f.write("\n")
    index(os.path.join(out, name + ".index"))


def blocked(rows, rule):
    """The rows that a filter leaves out: those with row % rule[0] >= rule[1]."""
    return np.zeros(len(rows), bool) if rule is None else rows % rule[0] >= rule[1]


def hnswlib_case(name, kind, metric, n, dim, nq, searches, m=8, efc=40, delete=0, labels=False, seed=1):
    x, q = data(kind, n, dim, seed), data(kind, nq, dim, seed + 1000)
    ix = hnswlib.Index(space=metric, dim=dim)
    ix.init_index(max_elements=n, M=m, ef_construction=efc, random_seed=100)
    ids = np.arange(n) * 7 + 3 if labels else np.arange(n)
    if labels:
        ids = ids[::-1].copy()
    ix.add_items(x, ids, num_threads=1)
    row = {int(label): i for i, label in enumerate(ids)}
    for i in range(0, delete):
        ix.mark_deleted(int(ids[(i * 5) % n]))
    header = dict(library="hnswlib", metric=metric, dim=dim, searches=[])
    answers = []
    for k, ef, rule in searches:
        ix.set_ef(ef)
        f = None if rule is None else (lambda label: row[label] % rule[0] < rule[1])
        try:
            i, d = ix.knn_query(q, k=k, num_threads=1, filter=f)
        except RuntimeError:  # its answer to fewer than k hits
            continue
        header["searches"].append(dict(k=k, ef=ef, filter=rule))
        answers.append((i.astype("<i8"), d.astype("<f4")))
    write(name, ix.save_index, header, q, answers)


def faiss_case(name, kind, metric, n, dim, nq, searches, m=8, efc=40, ranges=(), seed=1):
    x, q = data(kind, n, dim, seed), data(kind, nq, dim, seed + 1000)
    ix = faiss.IndexHNSWFlat(dim, m, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT)
    ix.hnsw.efConstruction = efc
    ix.add(x)
    header = dict(library="faiss", metric=metric, dim=dim, searches=[])
    answers = []
    for k, ef, rule in searches:
        p = faiss.SearchParametersHNSW(efSearch=ef)
        if rule is not None:
            p.sel = faiss.IDSelectorBatch(np.flatnonzero(~blocked(np.arange(n), rule)))
        d, i = ix.search(q, k, params=p)
        header["searches"].append(dict(k=k, ef=ef, filter=rule))
        answers.append((i.astype("<i8"), d.astype("<f4")))
    for radius, ef in ranges:
        ix.hnsw.efSearch = ef
        lims, d, i = ix.range_search(q, radius)
        header["searches"].append(dict(radius=float(radius), ef=ef))
        answers.append((lims.astype("<i8"), i.astype("<i8"), d.astype("<f4")))
    write(name, lambda path: faiss.write_index(ix, path), header, q, answers)


if small:
    plan = [(1, 200), (3, 200), (16, 200), (17, 200), (100, 150), (128, 150), (768, 60)]
    nq, half = 15, [3, 2]
    runs = [(1, 10, None), (10, 10, None), (5, 20, None), (10, 40, None)]
    filters = [(5, 16, half), (10, 40, half), (5, 30, [10, 3])]
    few = (30, 10, None)
else:
    plan = [(d, 1000) for d in (1, 3, 4, 8, 16, 17, 33, 100, 128, 768)]
    nq, half = 40, [3, 2]
    runs = [(1, 10, None), (10, 10, None), (10, 32, None), (100, 128, None)]
    filters = [(10, 16, half), (10, 64, [10, 3])]
    few = (64, 10, None)

for dim, n in plan:
    for metric in ("l2", "ip", "cosine") if not small or dim in (17,) else ("l2", "cosine") if dim in (1, 128) else ("l2", "ip")[dim % 2 :][:1]:
        hnswlib_case(f"hnswlib-{metric}-{dim}", "clusters", metric, n, dim, nq, runs + filters)
        if metric != "cosine":
            faiss_case(f"faiss-{metric}-{dim}", "clusters", metric, n, dim, nq, runs + filters + [few])

n = 300 if small else 1000
tie_dims = (3, 6) if small else (2, 6, 16, 24)
for dim in tie_dims:
    for kind, metric in (("ties", "l2"), ("signed", "ip"), ("signed", "cosine")):
        name = f"{metric}-ties-{dim}"
        hnswlib_case(f"hnswlib-{name}", kind, metric, n, dim, nq, runs + filters)
        if metric != "cosine":
            r = [(2.5, 16), (6.0, 64)] if metric == "l2" else [(1.0, 16), (0.0, 64)]
            faiss_case(f"faiss-{name}", kind, metric, n, dim, nq, runs + filters + [few], ranges=r)

hnswlib_case("hnswlib-deleted", "clusters", "l2", n, 6, nq, runs + filters, delete=n // 8, labels=True)
hnswlib_case("hnswlib-deleted-ties", "ties", "l2", n, 6, nq, runs + filters, delete=n // 8, labels=True)
hnswlib_case("hnswlib-labels", "ties", "l2", n, 4, nq, runs + filters, labels=True)
hnswlib_case("hnswlib-one", "clusters", "l2", 1, 5, 3, [(1, 10, None)])
