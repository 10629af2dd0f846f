#!/usr/bin/env python3
"""What faiss and knowhere answer from their own files of IVF_RABITQ: goldens of engine/index (see README.md).

    record.py faiss OUT.json [SEED ROWS DIM...]      with faiss-cpu 1.15.1; without numbers the committed few
    record.py knowhere OUT.json [SEED ROWS DIM...]   with libshim.so and kw.py of ../sparse
    record.py refined OUT.json [SEED ROWS DIM...]    with libkr.so of refine.cpp
    record.py join OUT.json.gz IN.json...

Some rows are there twice, so that there are ties. Queries are rows that were moved, a row, a centroid-like mean, and one far away; faiss and
knowhere answer them one by one.
"""
import base64
import gzip
import json
import os
import sys

import numpy as np

BITS = (None, 0, 1, 4, 8)


def b64(x):
    return base64.b64encode(x if isinstance(x, bytes) else np.ascontiguousarray(x).tobytes()).decode()


def keep(out, x):
    name = f"{out['seed']}_{len(x)}_{x.shape[1]}"
    out["rows"][name] = b64(x)
    return name


def rows(n, dim, seed):
    r = np.random.default_rng(seed)
    x = (r.normal(size=(n, dim)) + 2 * r.normal(size=(6, dim))[r.integers(0, 6, n)]).astype(np.float32)
    x[3 * n // 4:] = x[: n - 3 * n // 4]
    return x


def queries(x, seed, count):
    r = np.random.default_rng(seed + 1)
    q = x[r.integers(0, len(x), count)] + (r.normal(size=(count, x.shape[1])) / 8).astype(np.float32)
    q[0], q[1], q[2] = x[1], x.mean(axis=0), 100 * q[2]
    return np.ascontiguousarray(q, np.float32)


def hits(ids, dis):
    return {"ids": [int(i) for i in ids if i >= 0], "bits": [int(b) for i, b in zip(ids, np.asarray(dis, np.float32).view(np.uint32)) if i >= 0]}


def searches(q, ks, probes, search, within):
    """search(q, k, nprobe, bits, filtered) and within(q, radius, nprobe, bits, filtered) give ids and distances."""
    near = [search(q[i], 20, max(probes), 8, False)[1] for i in range(len(q))]
    radius = float(np.median([d[min(14, len(d) - 1)] for d in near]))
    for nprobe in probes:
        for bits in BITS:
            for filtered in (False, True):
                for k in ks:
                    yield {"k": k, "nprobe": nprobe, "querybits": bits, "filter": filtered, "answers": [hits(*search(q[i], k, nprobe, bits, filtered)) for i in range(len(q))]}
                if within and nprobe == max(probes):
                    yield {"radius": radius, "nprobe": nprobe, "querybits": bits, "filter": filtered, "answers": [hits(*within(q[i], radius, nprobe, bits, filtered)) for i in range(len(q))]}


def of_faiss(out, seed, n, dims, nq):
    import faiss
    faiss.omp_set_num_threads(1)
    for dim in dims:
        x = rows(n, dim, seed + dim)
        ids = np.arange(n) * 7919 % 10007
        for metric, code in (("L2", faiss.METRIC_L2), ("IP", faiss.METRIC_INNER_PRODUCT)):
            for how in ("plain", "rotated", "reduced", "refined", "refined_sq8") + tuple(f"bits{b}" for b in (range(2, 10) if len(out["ks"]) > 2 else (2, 3, 9))):
                inner = dim if how != "reduced" else dim // 2 + 3
                nlist = max(4, n // 60)
                ix = faiss.IndexIVFRaBitQ(faiss.IndexFlat(inner, code), inner, nlist, code, True, int(how[4:]) if how.startswith("bits") else 1)
                ix.cp.min_points_per_centroid = 1
                ix.qb = 5
                index = ix
                if how == "rotated" or how in ("bits3", "bits6"):
                    index = faiss.IndexPreTransform(faiss.RandomRotationMatrix(dim, dim), ix)
                if how.startswith("refined"):
                    base = faiss.IndexPreTransform(faiss.RandomRotationMatrix(dim, dim), ix)
                    store = faiss.IndexScalarQuantizer(dim, faiss.ScalarQuantizer.QT_8bit, code) if how.endswith("sq8") else faiss.IndexFlat(dim, code)
                    index = faiss.IndexRefine(base, store)
                    index.k_factor = 2
                if how == "reduced":
                    index = faiss.IndexPreTransform(faiss.PCAMatrix(dim, inner, 0, True), ix)
                index.train(x)
                row_ids = how.startswith("refined")  # which a refinement needs
                if row_ids:
                    index.add(x)
                else:
                    index.add_with_ids(x, ids)
                own = list(range(n)) if row_ids else ids.tolist()
                sel = faiss.IDSelectorBatch([int(i) for i in own if i % 3])

                def params(nprobe, bits, filtered):
                    s = sel if filtered else None
                    p = faiss.IVFRaBitQSearchParameters(nprobe=nprobe, qb=bits, sel=s) if bits is not None else faiss.SearchParametersIVF(nprobe=nprobe, sel=s)
                    p = p if index is ix else faiss.SearchParametersPreTransform(index_params=p)
                    return faiss.IndexRefineSearchParameters(k_factor=2, base_index_params=p) if row_ids else p

                def search(q, k, *how):
                    d, i = index.search(q[None], k, params=params(*how))
                    return i[0], d[0]

                def within(q, radius, *how):
                    _, d, i = index.range_search(q[None], radius, params=params(*how))
                    return i, d

                q = queries(x, seed + dim, nq)
                out["files"].append({
                    "name": f"faiss_{how}_{dim}_{metric}", "library": "faiss", "metric": metric, "dim": dim, "rows": keep(out, x), "queries": b64(q), "ids": own,
                    "file": b64(faiss.serialize_index(index)), "searches": list(searches(q, out["ks"], (1, nlist), search, within))})


def of_knowhere(out, seed, n, dims, nq):
    import ctypes

    import kw
    kw.lib.kw_range.restype = ctypes.c_int64
    library = os.environ.get("LIBRARY", "knowhere-2.5")
    for dim in dims:
        x = rows(n, dim, seed + dim)
        for metric in ("L2", "IP", "COSINE"):
            nlist = n // 39
            ix = kw.Index("IVF_RABITQ")
            cfg = {"metric_type": metric, "dim": dim}
            ix.build(x.copy(), nlist=nlist, rbq_bits_query=4, **cfg)  # which normalises in place
            ix.save("/tmp/kw_rabitq")
            with open("/tmp/kw_rabitq.IVF_RABITQ", "rb") as f:
                file = f.read()
            ix = kw.Index("IVF_RABITQ")
            ix.load("/tmp/kw_rabitq.IVF_RABITQ", **cfg)
            mask = np.arange(n) % 3 == 0

            def config(nprobe, bits):
                return {**cfg, "nprobe": nprobe, **({} if bits is None else {"rbq_bits_query": bits})}

            def search(q, k, nprobe, bits, filtered):
                i, d = ix.search(q[None], k, mask if filtered else None, **config(nprobe, bits))
                return i[0], d[0]

            def within(q, radius, nprobe, bits, filtered):
                b, nbits = kw.bits(mask if filtered else None)
                ids, d = np.zeros(n, np.int64), np.zeros(n, np.float32)
                got = kw.lib.kw_range(ix.h, ctypes.c_int64(dim), kw.P(q), json.dumps({**config(nprobe, bits), "radius": radius}).encode(), kw.P(b), ctypes.c_int64(nbits), ctypes.c_int64(n), kw.P(ids), kw.P(d))
                assert got >= 0, (got, kw.lib.kw_error())
                return ids[:got], d[:got]

            q = queries(x, seed + dim, nq)
            out["files"].append({
                "name": f"{library}_{dim}_{metric}", "library": library, "metric": metric, "dim": dim, "rows": keep(out, x), "queries": b64(q), "ids": list(range(n)),
                "file": b64(file), "searches": list(searches(q, out["ks"], (1, nlist), search, within))})


def of_refined(out, seed, n, dims, nq):
    import ctypes
    kr = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libkr.so"))
    kr.kr_build.restype = ctypes.c_void_p

    def ref(a):
        return a.ctypes.data_as(ctypes.c_void_p)

    for dim in dims:
        x = rows(n, dim, seed + dim)
        for metric, base in (("L2", 0), ("IP", 0), ("L2", 1), ("IP", 1)):
            for name, kind in (("fp32", -1), ("sq8", 0), ("fp16", 4), ("sq6", 6), ("bf16", 7))[: 5 if len(out["ks"]) > 2 else 2]:
                h = ctypes.c_void_p(kr.kr_build(ctypes.c_int64(n), dim, ref(x.copy()), int(metric == "IP"), n // 39, kind, base, b"/tmp/kr_rabitq"))
                with open("/tmp/kr_rabitq", "rb") as f:
                    file = f.read()

                def search(q, k, nprobe, bits, filtered, factor=2.5):
                    ids, d = np.zeros(k, np.int64), np.zeros(k, np.float32)
                    kr.kr_search(h, ref(q), ctypes.c_int64(k), nprobe, bits or 0, ctypes.c_float(factor), int(filtered), ref(ids), ref(d))
                    return ids, d

                q = queries(x, seed + dim, nq)
                out["files"].append({
                    "name": f"refined_{name}_{dim}_{metric}{'_of_sq8' * base}", "library": "knowhere-2.5", "metric": metric, "dim": dim, "rows": keep(out, x), "queries": b64(q),
                    "ids": list(range(n)), "file": b64(file), "refinek": 2.5, "searches": list(searches(q, out["ks"], (1, n // 39), search, None))})


def main():
    how, path, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    out = {"rows": {}, "files": []}
    if how == "join":
        for p in rest:
            with open(p) as f:
                part = json.load(f)
            out["files"] += part["files"]
            out["rows"] |= part["rows"]
        with gzip.GzipFile(path, "wb", 9, mtime=0) as f:
            f.write(json.dumps(out, separators=(",", ":")).encode())
        return
    numbers = [int(a) for a in rest] or [1, 80, 36]
    out |= {"seed": numbers[0], "ks": (1, 10, 60, 300) if rest else (1, 10)}
    {"faiss": of_faiss, "knowhere": of_knowhere, "refined": of_refined}[how](out, numbers[0], numbers[1], numbers[2:], 8 if rest else 3)
    with open(path, "w") as f:
        json.dump(out, f)


main()
