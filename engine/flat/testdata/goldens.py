#!/usr/bin/env python3
"""What faiss and hnswlib answer: goldens of engine/flat.

    goldens.py OUT.json.gz            the committed golden file
    goldens.py --full OUT.json.gz     more dimensions, rows and queries, for go test -peers

Vectors are not stored: value i of set s is made from a hash (splitmix64) here and in
golden_test.go. "ties" are small integers, whose sums are exact in any order and often equal;
"floats" are multiples of 2**-24 in [-0.5, 0.5). "huge" are the greatest float32, three of four, and
small integers; their queries are 1.
Needs faiss-cpu 1.15.1, hnswlib 0.8.0 built with -march=native, numpy.
"""
import gzip, json, sys
import numpy as np

SETS = {"ties": 1, "floats": 2, "ties-queries": 3, "floats-queries": 4, "huge": 5}


def values(kind, n, dim):
    if kind == "huge-queries":
        return np.ones((n, dim), np.float32)
    with np.errstate(over="ignore"):
        x = np.arange(n * dim, dtype=np.uint64) * np.uint64(SETS[kind]) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(SETS[kind])
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    if kind.startswith("ties"):
        v = (x % np.uint64(20 if dim == 1 else 3)).astype(np.float32)
    elif kind == "huge":
        v = np.where(x % np.uint64(4) > 0, np.finfo(np.float32).max, ((x >> np.uint64(2)) % np.uint64(5)).astype(np.float32))
        v = v.astype(np.float32)
    else:
        v = (x >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)
    return v.reshape(n, dim)


def passes(n, of):
    """Rows that a filter leaves: all but every of-th, or every (-of)-th."""
    i = np.arange(n)
    return i % of != 0 if of > 0 else i % -of == 0


def case(out, policy, metric, kind, n, dim, k, of, ids, dis):
    out.append({"policy": policy, "metric": metric, "kind": kind, "rows": n, "dim": dim, "k": k, "filter": of,
                "ids": [[int(i) for i in q if i >= 0] for q in ids],
                "bits": [[int(b) for i, b in zip(q, d.view(np.uint32)) if i >= 0] for q, d in zip(ids, dis)]})


def of_faiss(out, kind, n, dim, ks, filters, nq):
    import faiss
    faiss.omp_set_num_threads(1)  # two threads on one query would go to BLAS
    x, q = values(kind, n, dim), values(kind + "-queries", nq, dim)
    for metric, index in (("L2", faiss.IndexFlatL2(dim)), ("IP", faiss.IndexFlatIP(dim))):
        index.add(x)
        for of in filters:
            for k in ks:
                params = None
                if of:
                    keep = faiss.IDSelectorBitmap(np.packbits(passes(n, of), bitorder="little"))
                    params = faiss.SearchParameters(sel=keep)
                # One by one: many go to BLAS, which sums in another order.
                answers = [index.search(q[i:i + 1], k, params=params) for i in range(nq)]
                case(out, "faiss", metric, kind, n, dim, k, of, [a[1][0] for a in answers], [a[0][0] for a in answers])


def of_hnswlib(out, kind, n, dim, ks, filters, nq):
    import hnswlib
    x, q = values(kind, n, dim), values(kind + "-queries", nq, dim)
    for metric, space in (("L2", "l2"), ("IP", "ip"), ("COSINE", "cosine")):
        if metric == "COSINE" and kind == "ties":
            continue
        if metric == "COSINE":
            # BFIndex stores normalised rows but does not normalise queries, as Index does.
            norm = hnswlib.Index(space=space, dim=dim)
            norm.init_index(max_elements=nq, M=2)
            norm.add_items(q)
            q = np.array(norm.get_items(np.arange(nq)), np.float32)
        index = hnswlib.BFIndex(space=space, dim=dim)
        index.init_index(max_elements=n)
        index.add_items(x)
        for of in filters:
            for k in ks:
                keep = passes(n, of) if of else None
                try:
                    ids, dis = index.knn_query(q, k=k, num_threads=1, filter=(lambda i: bool(keep[i])) if of else None)
                except RuntimeError:
                    continue  # hnswlib found fewer than k and its binding refuses to say which
                case(out, "hnswlib", metric, kind, n, dim, k, of, ids.astype(np.int64), dis)


def main():
    full = "--full" in sys.argv
    out = []
    for kind in ("ties", "floats"):
        for dim in (1, 2, 5, 8, 16, 33, 100, 768) if full else (1, 3, 17, 128, 768):
            n = 2500
            ks = (1, 10, 100, 101, 1000) if full else (1, 10, 99, 100, 101)
            if not full and dim in (3, 17):
                ks += (1000,) if kind == "ties" else ()
            of_faiss(out, kind, n, dim, ks, (0, 3, -7), 2)
            if dim in (3, 5, 17, 33, 100, 128):
                of_hnswlib(out, kind, 900, dim, (1, 10, 60), (0, 3), 2)
    of_faiss(out, "ties", 300, 3, (299, 300, 301, 1000), (0, 3), 1)
    # More than a reservoir holds are equal to the bound below which it looks for a threshold.
    of_faiss(out, "huge", 2500, 1, (99, 100, 101, 300), (0, 3), 1)
    with gzip.GzipFile(sys.argv[-1], "wb", mtime=0) as f:
        f.write(json.dumps(out, separators=(",", ":")).encode())


main()
