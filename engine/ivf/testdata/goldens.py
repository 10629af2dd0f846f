#!/usr/bin/env python3
"""What faiss answers over inverted lists: goldens of engine/ivf.

    goldens.py OUT.json.gz            the committed golden file
    goldens.py --full OUT.json.gz     more, for go test -peers

Vectors are made from a hash here and in search_test.go, as those of engine/flat. The
centroids are vectors of a set of their own, but for the last, which is so far away that its
list stays empty. Ids are no row numbers: row i has id (i*7919) % 10007.
Needs faiss-cpu 1.15.1, numpy.
"""
import gzip, json, sys
import faiss
import numpy as np

SETS = {"ties": 1, "floats": 2, "ties-queries": 3, "floats-queries": 4, "ties-centroids": 5, "floats-centroids": 6}


def values(kind, n, dim):
    with np.errstate(over="ignore"):
        x = np.arange(n * dim, dtype=np.uint64) * np.uint64(SETS[kind]) + np.uint64(0x9E3779B97F4A7C15) * np.uint64(SETS[kind])
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    if kind.startswith("ties"):
        v = (x % np.uint64(20 if dim == 1 else 3)).astype(np.float32)
    else:
        v = (x >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)
    return v.reshape(n, dim)


def hits(ids, dis):
    return {"ids": [int(i) for i in ids if i >= 0], "bits": [int(b) for i, b in zip(ids, dis.view(np.uint32)) if i >= 0]}


def answers(index, q, ks, probes, ids, radii):
    keep = faiss.IDSelectorBatch([int(i) for i in ids if i % 3])
    for nprobe in probes:
        for filtered in (False, True):
            params = faiss.SearchParametersIVF(nprobe=nprobe, sel=keep if filtered else None)
            for k in ks:
                faiss.cvar.indexIVF_stats.reset()
                found = [index.search(q[i:i + 1], k, params=params) for i in range(len(q))]
                yield {"k": k, "nprobe": nprobe, "filter": filtered, "ndis": faiss.cvar.indexIVF_stats.ndis,
                       "answers": [hits(f[1][0], f[0][0]) for f in found]}
            for radius in radii:
                faiss.cvar.indexIVF_stats.reset()
                found = [index.range_search(q[i:i + 1], radius, params=params) for i in range(len(q))]
                yield {"radius": radius, "nprobe": nprobe, "filter": filtered, "ndis": faiss.cvar.indexIVF_stats.ndis,
                       "answers": [hits(f[2], f[1]) for f in found]}


def main():
    faiss.omp_set_num_threads(1)
    full = "--full" in sys.argv
    out = []
    for kind in ("ties", "floats"):
        for dim in (1, 7, 16, 33, 768) if full else (3, 17, 128):
            for nlist in (16, 150):
                n, nq = 1200, 2
                x, q, c = values(kind, n, dim), values(kind + "-queries", nq, dim), values(kind + "-centroids", nlist, dim)
                c[-1] = -1000
                ids = np.arange(n) * 7919 % 10007
                for metric, quantizer in (("L2", faiss.IndexFlatL2(dim)), ("IP", faiss.IndexFlatIP(dim))):
                    quantizer.add(c)
                    index = faiss.IndexIVFFlat(quantizer, dim, nlist, faiss.METRIC_L2 if metric == "L2" else faiss.METRIC_INNER_PRODUCT)
                    index.is_trained = True
                    index.add_with_ids(x, ids)
                    assert index.invlists.list_size(nlist - 1) == 0 or metric == "IP"
                    row = {int(i): r for r, i in enumerate(ids)}
                    lists = [[row[int(i)] for i in faiss.rev_swig_ptr(index.invlists.get_ids(l), index.invlists.list_size(l))] for l in range(nlist)]
                    near = np.sort(index.search(q[:1], 30, params=faiss.SearchParametersIVF(nprobe=nlist))[0][0])
                    probes, ks = ((1, 5, 16, 200) if nlist == 16 else (1, 99, 100, 149)), (1, 10, 100)
                    out.append({"metric": metric, "kind": kind, "rows": n, "dim": dim, "queries": nq, "lists": lists,
                                "searches": list(answers(index, q, ks, probes, ids, [float(near[15])]))})
    with gzip.GzipFile(sys.argv[-1], "wb", mtime=0) as f:
        f.write(json.dumps(out, separators=(",", ":")).encode())


main()
