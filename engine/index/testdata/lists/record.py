#!/usr/bin/env python3
"""What knowhere 2.5.6 answers from its own inverted files: goldens of engine/index.

    record.py OUT.json.gz                             the committed few
    record.py OUT.json.gz SEED FILES [KIND...]        so many random files of these kinds

    OPENBLAS_CORETYPE=SkylakeX LD_LIBRARY_PATH=$PWD/ldl python record.py ...      in the folder of ../sparse/README.md, with its libshim.so and kw.py
    go test ./engine/index -run ListsOfKnowhere25 -v -args -lists OUT.json.gz     asks all of another recording

Each is read with nprobe 1, where knowhere finds the one nearest centroid by a function of its own, with
few and with all. Some rows are there twice. Queries are rows that were moved, a row, a mean, and one far away.
"""
import base64
import ctypes
import gzip
import json
import os
import sys
import tempfile

import kw
import numpy as np

KINDS = ("IVF_PQ", "IVF_FLAT", "IVF_SQ8", "IVF_RABITQ", "SCANN")
DIMS = (2, 4, 5, 6, 7, 8, 12, 16, 20, 24, 28, 33, 48, 60, 100, 128, 300, 768)
kw.lib.kw_range.restype = ctypes.c_int64


def b64(x):
    return base64.b64encode(x if isinstance(x, bytes) else np.ascontiguousarray(x).tobytes()).decode()


def hits(ids, dis):
    return {"ids": [int(i) for i in ids if i >= 0], "bits": [int(b) for i, b in zip(ids, np.asarray(dis, np.float32).view(np.uint32)) if i >= 0]}


def write(out, r, kind, metric, n, dim, nlist, probes, ks, nq, signs=False, **build):
    x = r.normal(size=(n, dim)) + 2 * r.normal(size=(6, dim))[r.integers(0, 6, n)]
    if signs:  # sums of SCANN's table are as great as they may be
        x = np.sign(x)
    x[3 * n // 4:] = x[: n - 3 * n // 4]
    x = x.astype(np.float32)
    q = x[r.integers(0, n, nq)] + (r.normal(size=(nq, dim)) / 8).astype(np.float32)
    q[0] = x[1]
    q = np.sign(q) if signs else q
    if nq > 3:
        q[1], q[2] = x.mean(axis=0), 100 * q[2]
    q = np.ascontiguousarray(q, np.float32)
    cfg = {"metric_type": metric, "dim": dim}
    ix = kw.Index(kind)
    ix.build(x.copy(), nlist=nlist, **build, **cfg)  # which normalises in place
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        ix.save(path)
        path += "." + kind
        with open(path, "rb") as f:
            file = f.read()
        ix = kw.Index(kind)
        ix.load(path, **cfg)
    mask = np.arange(n) % 3 == 0
    searches = []
    for nprobe in probes:
        for filtered in (False, True):
            for k in ks:
                for reorder in (k, 2 * k + 3) if kind == "SCANN" else (0,):
                    more = {"reorder_k": reorder} if reorder else {}
                    found = [ix.search(v[None], k, mask if filtered else None, nprobe=nprobe, **more, **cfg) for v in q]
                    searches.append({"k": k, "nprobe": nprobe, "reorderk": reorder, "filter": filtered, "answers": [hits(i[0], d[0]) for i, d in found]})
    near = ix.search(q[:1], min(20, n), None, nprobe=nlist, **cfg)[1][0]
    radius = float(near[min(14, n - 1)])
    for filtered in (False, True) if kind != "IVF_RABITQ" else (False,):
        b, nbits = kw.bits(mask if filtered else None)
        answers = []
        for v in q:
            ids, d = np.zeros(n, np.int64), np.zeros(n, np.float32)
            got = kw.lib.kw_range(ix.h, ctypes.c_int64(dim), kw.P(v.copy()), json.dumps({**cfg, "radius": radius}).encode(), kw.P(b), ctypes.c_int64(nbits), ctypes.c_int64(n), kw.P(ids), kw.P(d))
            assert got >= 0, (got, kw.lib.kw_error())
            answers.append(hits(ids[:got], d[:got]))
        searches.append({"radius": radius, "filter": filtered, "answers": answers})
    how = "_".join(f"{a}{b}" for a, b in build.items())
    out["files"].append({"name": f"{kind}_{dim}_{metric}_{nlist}_{how}", "kind": kind, "metric": metric, "dim": dim, "queries": b64(q), "file": b64(file), "searches": searches})


def parts(r, dim):
    """Of IVF_PQ: a number of parts that divides the dimension."""
    return int(r.choice([m for m in range(1, dim + 1) if dim % m == 0 and (m <= 64)]))


def main():
    out = {"files": []}
    if len(sys.argv) == 2:
        r = np.random.default_rng(3)
        write(out, r, "IVF_PQ", "L2", 120, 20, 3, (1, 2), (1, 9), 5, m=5, nbits=4)
        write(out, r, "IVF_PQ", "L2", 120, 30, 1, (1,), (9,), 5, m=1, nbits=5)
        write(out, r, "IVF_PQ", "L2", 150, 2, 3, (1,), (9,), 5, m=1, nbits=6)
        write(out, r, "IVF_PQ", "L2", 300, 4, 7, (1,), (9,), 5, m=2, nbits=8)
        write(out, r, "IVF_PQ", "IP", 120, 12, 3, (1, 3), (9,), 3, m=3, nbits=4)
        write(out, r, "IVF_PQ", "COSINE", 120, 12, 3, (1, 3), (9,), 3, m=1, nbits=4)
        write(out, r, "SCANN", "L2", 120, 8, 5, (1, 3), (1, 9, 30), 4, with_raw_data=True)
        write(out, r, "SCANN", "COSINE", 120, 8, 5, (1, 3), (1, 9, 30), 3, with_raw_data=True)
        write(out, r, "SCANN", "IP", 120, 8, 5, (1, 3), (1, 9, 30), 3, with_raw_data=False)
        write(out, r, "SCANN", "L2", 120, 8, 5, (1,), (9,), 4, with_raw_data=False)
        write(out, r, "SCANN", "IP", 60, 600, 1, (1,), (1, 9), 2, signs=True, with_raw_data=False)
    else:
        r = np.random.default_rng(int(sys.argv[2]))
        for i in range(int(sys.argv[3])):
            kind, metric, dim = (sys.argv[4:] or KINDS)[i % len(sys.argv[4:] or KINDS)], ("L2", "IP", "COSINE", "L2")[int(r.integers(4))], int(r.choice(DIMS))
            n = int(r.choice((300, 1000, 3000)))
            nlist = int(r.choice((1, 3, 7, 16, 31, 64, 257 if n > 1000 else 8, 515 if n > 1000 else 5)))
            build = {"m": parts(r, dim), "nbits": int(r.choice((8, 8, 8, 4, 5, 6, 7)))} if kind == "IVF_PQ" else {}
            if kind == "SCANN":
                width = int(r.choice((1, 2, 2, 2, 2, 3, 4, 5, 6, 12)))
                dim = (dim + width - 1) // width * width
                build = {"with_raw_data": bool(r.integers(2)), "sub_dim": width}
            signs = kind == "SCANN" and i % 5 == 4
            write(out, r, kind, metric, n, dim, nlist, sorted({1, min(nlist, 3), nlist}), (1, 10, 120), 8, signs, **build)
    with gzip.GzipFile(sys.argv[1], "wb", 9, mtime=0) as f:
        f.write(json.dumps(out, separators=(",", ":")).encode())
    print(len(out["files"]), "files", sum(len(s["answers"]) for f in out["files"] for s in f["searches"]), "answers", os.path.getsize(sys.argv[1]), "bytes")


main()
