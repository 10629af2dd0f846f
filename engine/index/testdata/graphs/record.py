#!/usr/bin/env python3
"""What faiss and knowhere 2.5.6 answer from their own files of graphs over codes: goldens of engine/index.

    record.py faiss|knowhere OUT.json.gz [--full] [--seed N] [--simd LEVEL] [--only SQ|PQ|PRQ|FLAT]

Rows are few values, so that there are many ties, or from a normal distribution; queries are some of the rows, moved. A filter leaves out every
third row, or all but a few. faiss: faiss-cpu 1.15.1 of PyPI. knowhere: libgraphs.so (README.md).
"""
import base64
import ctypes
import gzip
import json
import os
import sys

import numpy as np

QT = {"8bit": 0, "4bit": 1, "8bit_uniform": 2, "4bit_uniform": 3, "fp16": 4, "8bit_direct": 5, "6bit": 6, "bf16": 7, "8bit_direct_signed": 8}


def P(a):
    return None if a is None else a.ctypes.data_as(ctypes.c_void_p)


class Knowhere:
    def __init__(self, level):
        self.lib = lib = ctypes.CDLL(os.path.join(os.environ.get("GRAPHS", os.path.dirname(os.path.abspath(__file__))), "libgraphs.so"))
        lib.g_build.restype = lib.g_load.restype = ctypes.c_void_p
        lib.g_error.restype = lib.g_simd.restype = ctypes.c_char_p
        lib.g_search.restype = ctypes.c_int64
        print(lib.g_simd({"auto": 0, "avx512": 1, "avx2": 2, "sse": 3}[level or "auto"]))

    def build(self, x, s):
        metric = {"L2": 0, "IP": 1, "COSINE": 2}[s["metric"]]
        refine = -1 if s["refine"] is None else -2 if s["refine"] == "fp32" else QT[s["refine"]]
        h = self.lib.g_build(s["kind"].encode(), metric, x.shape[1], ctypes.c_int64(len(x)), P(x), s["M"], 40, QT.get(s["sq"], 0), s["m"], s["nrq"], s["nbits"], refine)
        assert h, self.lib.g_error()
        return ctypes.c_void_p(h), int(s["metric"] == "COSINE")

    def file(self, ix):
        assert self.lib.g_save(ix[0], b"/tmp/graph.index") == 0, self.lib.g_error()
        return open("/tmp/graph.index", "rb").read()

    def search(self, ix, q, k, ef, refine, left, radius, inner):
        b = None if left is None else np.packbits(np.asarray(left, np.uint8), bitorder="little")
        size = 1 << 14 if radius is not None else k
        ids, d = np.zeros(size, np.int64), np.zeros(size, np.float32)
        f = lambda v: None if v is None else ctypes.byref(ctypes.c_float(v))
        n = self.lib.g_search(ix[0], P(q), k, ef, ctypes.c_float(refine or 1), ix[1], P(b), ctypes.c_int64(0 if left is None else len(left)), f(radius), f(inner), ctypes.c_int64(size), P(ids), P(d))
        assert n >= 0, self.lib.g_error()
        return ids[:n], d[:n]


class Faiss:
    def __init__(self, level):
        import faiss
        self.f = faiss
        faiss.omp_set_num_threads(1)
        faiss.SIMDConfig.set_level({"avx512": faiss.SIMDLevel_AVX512, "avx2": faiss.SIMDLevel_AVX2, "none": faiss.SIMDLevel_NONE}[level or "avx512"])

    def build(self, x, s):
        f = self.f
        d, m = x.shape[1], f.METRIC_L2 if s["metric"] == "L2" else f.METRIC_INNER_PRODUCT
        if s["kind"] == "SQ":
            ix = f.IndexHNSWSQ(d, QT[s["sq"]], s["M"], m)
        elif s["kind"] == "PQ":
            ix = f.IndexHNSWPQ(d, s["m"], s["M"], s["nbits"], m)
            f.downcast_index(ix.storage).pq.cp.min_points_per_centroid = 1
        elif s["kind"] == "PRQ":
            st = f.IndexProductResidualQuantizer(d, s["m"], s["nrq"], s["nbits"], m, f.AdditiveQuantizer.ST_norm_float if s["metric"] == "L2" else f.AdditiveQuantizer.ST_LUT_nonorm)
            ix = f.IndexHNSW(st, s["M"])
            self.keep = st
        else:
            ix = f.IndexHNSWFlat(d, s["M"], m)
        ix.hnsw.efConstruction = 40
        ix.hnsw.efSearch = 24
        ix.train(x)
        inner = ix
        if s["refine"] == "fp32":
            ix = f.IndexRefineFlat(inner)
        elif s["refine"]:
            ix = f.IndexRefine(inner, f.IndexScalarQuantizer(d, QT[s["refine"]], m))
        self.inner = inner
        if s["refine"]:
            ix.refine_index.train(x)
            ix.is_trained = True
            ix.k_factor = 1.5
        ix.add(x)
        # As it is when it was read, which is how anybody else has it.
        return f.deserialize_index(f.serialize_index(ix))

    def file(self, ix):
        return self.f.serialize_index(ix).tobytes()

    def search(self, ix, q, k, ef, refine, left, radius, inner):
        f = self.f
        p = f.SearchParametersHNSW(efSearch=ef)
        if left is not None:
            p.sel = f.IDSelectorBatch([i for i, v in enumerate(left) if not v])
        if isinstance(ix, f.IndexRefine):
            p = f.IndexRefineSearchParameters(k_factor=refine or ix.k_factor, base_index_params=p)
        if radius is not None:
            _, d, i = ix.range_search(q[None], radius, params=p)
            return i, d
        d, i = ix.search(q[None], k, params=p)
        return i[0], d[0]


def b64(x):
    return base64.b64encode(x.tobytes()).decode()


def answers(lib, ix, q, n, spec, full, r):
    few = np.ones(n, bool)
    few[:: n // 9] = False
    third = np.arange(n) % 3 == 0
    none = np.zeros(n, bool)
    refines = (0, 2.5) if spec["refine"] else (0,)
    ks = ((1, 16), (7, 24), (14, 20)) if not full else ((1, 1), (1, 16), (10, 24), (10, 100), (30, 40), (100, 100), (n // 2 + 1, n))
    for k, ef in ks:
        for refine in refines:
            for name, left in ((None, None), ("third", third), ("few", few)) + ((("none", none),) if full else ()):
                if isinstance(lib, Knowhere) and ef < k:
                    continue
                yield {"k": k, "ef": ef, "refine": refine, "filter": name}, [lib.search(ix, v, k, ef, refine, left, None, None) for v in q]
    far, inside = (20, 5) if full else (8, 3)
    near = lib.search(ix, q[0], min(25, n), 60, 1, None, None, None)[1]
    for radius, inner in ((near[far], None), (near[far], near[inside])) if isinstance(lib, Knowhere) else ((near[far], None),):
        for name, left in ((None, None), ("third", third), ("few", few)):
            for refine in refines:
                found = [lib.search(ix, v, 1, 20, refine, left, float(radius), None if inner is None else float(inner)) for v in q]
                yield {"k": 1, "ef": 20, "refine": refine, "filter": name, "radius": float(radius), "inner": None if inner is None else float(inner)}, found


def write(lib, out, spec, rows, n, dim, full, seed, queries):
    if "--only" in sys.argv and spec["kind"] != sys.argv[sys.argv.index("--only") + 1]:
        return
    r = np.random.default_rng(seed)
    x = r.integers(0, 3, (n, dim)) if rows == "ties" else r.normal(size=(n, dim)) * 20 if rows == "wide" else r.normal(size=(n, dim))
    x = np.ascontiguousarray(x if full else np.round(x * 32) / 32, np.float32)  # which needs fewer bytes
    if spec["sq"] == "8bit_direct":
        x = np.abs(np.floor(x * 20)) % 256
    if spec["sq"] == "8bit_direct_signed":
        x = np.clip(np.floor(x * 20), -128, 127)
    x = np.ascontiguousarray(x, np.float32)
    q = x[r.integers(0, n, queries)] + (0 if rows == "ties" else r.normal(size=(queries, dim)) * x.std() / 4)
    q = np.ascontiguousarray(q if full else np.round(q * 64) / 64, np.float32)
    if spec["sq"] == "8bit_direct":
        q = np.ascontiguousarray(np.abs(q) % 256, np.float32)
    ix = lib.build(x, spec)
    name = "_".join(str(v) for v in (spec["kind"], spec["sq"] if spec["kind"] == "SQ" else f"{spec['m']}x{spec['nrq']}x{spec['nbits']}", spec["metric"], dim, rows, spec["refine"]))
    f = {"name": name, "dim": dim, "rows": b64(x), "queries": b64(q), "file": b64(np.frombuffer(lib.file(ix), np.uint8)), "searches": []}
    for p, found in answers(lib, ix, q, n, spec, full, r):
        if p.get("radius") is not None:  # in no order
            found = [(i[o], d[o]) for i, d in found for o in [np.lexsort((i, d if spec["metric"] == "L2" else -d))]]
        keep = [(i[i >= 0].astype(np.int32), d[i >= 0].astype(np.float32)) for i, d in found]
        f["searches"].append({**p, "counts": [len(i) for i, _ in keep], "ids": b64(np.concatenate([i for i, _ in keep])), "bits": b64(np.concatenate([d for _, d in keep]))})
    out["files"].append(f)


def spec(kind, metric, sq="8bit", m=4, nrq=2, nbits=4, refine=None, M=3):
    return {"kind": kind, "metric": metric, "sq": sq, "m": m, "nrq": nrq, "nbits": nbits, "refine": refine, "M": M}


def main():
    who, path = sys.argv[1:3]
    full = "--full" in sys.argv
    arg = lambda name: sys.argv[sys.argv.index(name) + 1] if name in sys.argv else None
    seed = int(arg("--seed") or 1)
    lib = (Faiss if who == "faiss" else Knowhere)(arg("--simd"))
    metrics = ("L2", "IP") if who == "faiss" else ("L2", "IP", "COSINE")
    out = {"library": who, "files": []}
    n, queries = (800, 12) if full else (48, 2)
    refines = (None, "fp32", "8bit", "fp16", "bf16", "6bit")
    dims = (3, 8, 16, 24, 33, 100, 128) if full else (8, 16, 13)
    i = 0
    for sq in QT:
        if who == "knowhere" and sq == "8bit_direct":
            continue
        for metric in metrics:
            for d, dim in enumerate(dims):
                if not full and (d + QT[sq]) % 3 != metrics.index(metric) % 3 and sq != "8bit":
                    continue
                i += 1
                refine = refines[i % len(refines)] if not sq.startswith("8bit_d") else None
                write(lib, out, spec("SQ", metric, sq, refine=refine), "ties" if i % 4 == 0 and not sq.startswith("8bit_d") else "floats", n, dim, full, seed + i, queries)
    for kind, shapes in (("PQ", ((12, 4, 8), (40, 5, 8), (32, 16, 8), (48, 24, 8), (128, 8, 8), (36, 3, 8), (96, 32, 5), (7, 7, 6), (64, 4, 4), (24, 6, 7)) if full else ((8, 2, 4), (34, 17, 4), (9, 3, 5), (2, 1, 8))),
                         ("PRQ", ((16, 2, 8), (64, 4, 7), (30, 3, 6), (33, 1, 5), (40, 10, 4)) if full else ((8, 2, 4), (20, 4, 5)))):
        for dim, m, nbits in shapes:
            for metric in metrics:
                i += 1
                rows = max(n, 1 << nbits)
                write(lib, out, spec(kind, metric, m=m, nbits=nbits, nrq=2 + i % 2, refine=refines[i % len(refines)]), "floats" if i % 5 else "ties", rows if full or nbits == 8 else n, dim, full, seed + i, queries)
    for dim in dims if full else dims[:1]:
        for metric in metrics:
            i += 1
            write(lib, out, spec("FLAT", metric, refine=None if who == "knowhere" else "8bit"), "floats" if i % 4 else "ties", n, dim, full, seed + i, queries)
    # Without refinement, of widths of parts that tables have functions of their own for, or leave elements over.
    for width, m, nbits in ((1, 9, 8), (2, 6, 8), (3, 4, 8), (4, 6, 8), (5, 4, 8), (6, 3, 8), (7, 5, 5), (8, 3, 8), (9, 2, 8), (12, 4, 8), (13, 3, 6), (16, 2, 8), (20, 2, 8), (31, 1, 8)) if full else ((5, 2, 4), (12, 1, 4)):
        for metric in metrics if full else ("L2",):
            i += 1
            write(lib, out, spec("PQ", metric, m=m, nbits=nbits), "floats", n, width * m, full, seed + i, queries)
    data = json.dumps(out, separators=(",", ":")).encode()
    with gzip.GzipFile(path, "wb", mtime=0) as f:
        f.write(data)
    print(len(out["files"]), "files", sum(sum(s["counts"]) for f in out["files"] for s in f["searches"]), "hits", os.path.getsize(path), "bytes")


main()
