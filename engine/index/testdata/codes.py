#!/usr/bin/env python3
"""What faiss answers from its own files of coded rows in lists: goldens of engine/index.

    codes.py OUT.json.gz            the committed golden file, with the files that faiss writes in it

Rows are few values, so that there are many ties, or from a normal distribution; queries are some of the rows, moved. Ids are no row
numbers. faiss answers at the level of AVX-512, of queries one by one. Needs faiss-cpu 1.15.1 on a CPU with AVX-512, numpy.
"""
import base64
import gzip
import json
import sys

import faiss
import numpy as np

METRICS = {"L2": faiss.METRIC_L2, "IP": faiss.METRIC_INNER_PRODUCT}


def values(kind, n, dim, seed):
    r = np.random.default_rng(seed)
    return (r.integers(0, 3, (n, dim)) if kind == "ties" else r.normal(size=(n, dim))).astype(np.float32)


def hits(ids, dis):
    return {"ids": [int(i) for i in ids if i >= 0], "bits": [int(b) for i, b in zip(ids, dis.view(np.uint32)) if i >= 0]}


def answers(index, q, ids, ks, probes):
    keep = faiss.IDSelectorBatch([int(i) for i in ids if i % 3])
    near = np.sort(index.search(q[:1], 30, params=faiss.SearchParametersIVF(nprobe=index.nlist))[0][0])
    for nprobe in probes:
        for filtered in (False, True):
            params = faiss.SearchParametersIVF(nprobe=nprobe, sel=keep if filtered else None)
            for k in ks:
                found = [index.search(q[i:i + 1], k, params=params) for i in range(len(q))]
                yield {"k": k, "nprobe": nprobe, "filter": filtered, "answers": [hits(f[1][0], f[0][0]) for f in found]}
            found = [index.range_search(q[i:i + 1], float(near[15]), params=params) for i in range(len(q))]
            yield {"radius": float(near[15]), "nprobe": nprobe, "filter": filtered, "answers": [hits(f[2], f[1]) for f in found]}


def b64(x):
    return base64.b64encode(x.tobytes()).decode()


def write(name, index, kind, n, dim, ks, probes, out):
    x = values(kind, n, dim, 1)
    out["rows"][f"{kind}_{dim}"] = b64(x)
    ids = np.arange(n) * 7919 % 10007
    index.cp.min_points_per_centroid = 1
    if not index.is_trained:
        index.train(x)
    if name.endswith("_wide"):  # rows beyond the ranges that were trained
        x *= np.float32(1.5)
    index.add_with_ids(x, ids)
    q = x[:: n // 3][:3] + (values("floats", 3, dim, 2) / np.float32(8) if kind == "floats" else np.float32(0))
    out["files"].append({
        "name": name, "dim": dim, "rows": f"{kind}_{dim}", "scale": 1.5 if name.endswith("_wide") else 1.0, "queries": b64(q),
        "ids": ids.tolist(), "file": b64(faiss.serialize_index(index)),
        "searches": list(answers(index, np.ascontiguousarray(q), ids, ks, probes))})


def main():
    faiss.omp_set_num_threads(1)
    faiss.SIMDConfig.set_level(faiss.SIMDLevel_AVX512)
    out = {"rows": {}, "files": []}
    for kind in ("ties", "floats"):
        for dim in (7, 24, 48):
            for metric in METRICS:
                for residual in (False, True):
                    n, nlist = 150, 6
                    name = f"sq8_{kind}_{dim}_{metric}_{'residual' if residual else 'whole'}"
                    name += "_wide" if kind == "floats" and residual else ""
                    index = faiss.IndexIVFScalarQuantizer(faiss.IndexFlat(dim, METRICS[metric]), dim, nlist, faiss.ScalarQuantizer.QT_8bit, METRICS[metric], residual)
                    write(name, index, kind, n, dim, (1, 10, 100), (1, 5, nlist), out)
    with gzip.GzipFile(sys.argv[-1], "wb", mtime=0) as f:
        f.write(json.dumps(out, separators=(",", ":")).encode())


main()
