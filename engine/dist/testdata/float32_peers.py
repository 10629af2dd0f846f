"""Writes float32_peers.txt: the bits that hnswlib, faiss and knowhere compute.

usage: float32_peers.py [KNOWHERE_LIBRARY] >float32_peers.txt

Needs hnswlib 0.8.0 built with -O3 -march=native on an AMD CPU with AVX-512, faiss-cpu 1.15.1
and numpy. Without KNOWHERE_LIBRARY there are no lines of knowhere. It is a shared library of v2.2.3: libknowhere.so of the
package milvus 2.3.5 of PyPI, or, from src/simd of its source,

    g++ -std=gnu++17 -O3 -DNDEBUG -fPIC -msse4.2 -mpopcnt -c distances_sse.cc distances_ref.cc
    g++ -std=gnu++17 -O3 -DNDEBUG -fPIC -mfma -mf16c -mavx512f -mavx512dq -mavx512bw -mpopcnt -c distances_avx512.cc
    g++ -shared -o libknowhere.so distances_*.o

Each line is a profile, a metric, a dimension and the bits of the distances of a query to four
rows. hnswlib's inner products are 1-ip, as it returns them. The metric "norm" is the sum of
squares of the query; of hnswlib, the first element of the normalised query. "norms" is that of
many vectors: an element of one tells in a hundred cases but once which products were fused.
The vectors are those of value() below.
"""

import ctypes
import os
import sys

import faiss
import hnswlib
import numpy as np

DIMS = list(range(1, 258)) + [300, 511, 769, 1537]
ROWS = 4
NORM_DIMS, NORM_ROWS = 32, 128


def value(dim, row):
    """Row 0 is the query, rows 1 to 4 are the others: splitmix64 of a counter, as 24 bits with a sign and an exponent."""
    with np.errstate(over="ignore"):
        n = np.arange(dim, dtype=np.uint64) + np.uint64(dim << 32 | row << 24)
        n = (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        n = (n ^ n >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        n = (n ^ n >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        n ^= n >> np.uint64(31)
    fraction = (n >> np.uint64(40)).astype(np.float64) - 2.0**23
    return (fraction * 2.0 ** ((n & np.uint64(7)).astype(np.float64) - 23)).astype(np.float32)


def of_hnswlib(space, q, x):
    index = hnswlib.Index(space=space, dim=len(q))
    index.init_index(max_elements=ROWS)
    index.set_num_threads(1)
    index.add_items(x, np.arange(ROWS))
    labels, distances = index.knn_query(q[None, :], k=ROWS)
    out = np.empty(ROWS, dtype=np.float32)
    out[labels[0]] = distances[0]
    return out


def of_cosine(x):
    """The first elements of the vectors as hnswlib normalises them."""
    index = hnswlib.Index(space="cosine", dim=x.shape[1])
    index.init_index(max_elements=len(x))
    index.add_items(x, np.arange(len(x)), num_threads=1)
    return np.array(index.get_items(np.arange(len(x))), dtype=np.float32)[:, 0]


def of_faiss(metric, q, x):
    """FLAT, HNSW (with its batches of four) and the functions, which must agree."""
    name = {faiss.METRIC_L2: "fvec_L2sqr", faiss.METRIC_INNER_PRODUCT: "fvec_inner_product"}[metric]
    flat = faiss.IndexFlat(len(q), metric)
    graph = faiss.IndexHNSWFlat(len(q), 8, metric)
    answers = [[getattr(faiss, name)(faiss.swig_ptr(q), faiss.swig_ptr(r), len(q)) for r in x]]
    for index in flat, graph:
        index.add(x)
        distances, ids = index.search(q[None, :], ROWS)
        answer = np.empty(ROWS, dtype=np.float32)
        answer[ids[0]] = distances[0]
        answers.append(answer)
    answers = np.array(answers, dtype=np.float32)
    assert (answers.view(np.uint32) == answers[:1].view(np.uint32)).all(), (name, len(q))
    return answers[0]


def of_knowhere(library, metric, level, q, x):
    name = f"fvec_{metric}_{level}"
    f = library[f"_ZN5faiss{len(name)}{name}EPKf" + ("m" if metric == "norm_L2sqr" else "S1_m")]
    f.restype = ctypes.c_float
    pointer = lambda v: v.ctypes.data_as(ctypes.c_void_p)
    if metric == "norm_L2sqr":
        return [f(pointer(q), ctypes.c_size_t(len(q)))]
    return [f(pointer(q), pointer(r), ctypes.c_size_t(len(q))) for r in x]


def line(profile, metric, dim, values):
    bits = np.array(values, dtype=np.float32).view(np.uint32)
    print(profile, metric, dim, *(f"{b:08x}" for b in bits))


def main():
    library = ctypes.CDLL(os.path.abspath(sys.argv[1]), mode=os.RTLD_LAZY) if sys.argv[1:] else None
    for dim in DIMS:
        q, x = value(dim, 0), np.array([value(dim, 1 + i) for i in range(ROWS)])
        line("hnswlib", "l2", dim, of_hnswlib("l2", q, x))
        line("hnswlib", "ip", dim, of_hnswlib("ip", q, x))
        line("faiss", "l2", dim, of_faiss(faiss.METRIC_L2, q, x))
        line("faiss", "ip", dim, of_faiss(faiss.METRIC_INNER_PRODUCT, q, x))
        if library:
            line("knowhere", "l2", dim, of_knowhere(library, "L2sqr", "avx512", q, x))
            line("knowhere", "ip", dim, of_knowhere(library, "inner_product", "avx512", q, x))
            line("knowhere", "norm", dim, of_knowhere(library, "norm_L2sqr", "sse", q, x))
        line("faiss", "norm", dim, [faiss.fvec_norm_L2sqr(faiss.swig_ptr(q), dim)])
        line("hnswlib", "norm", dim, of_cosine(q[None, :]))
        if dim <= NORM_DIMS:
            line("hnswlib", "norms", dim, of_cosine(np.array([value(dim, i) for i in range(NORM_ROWS)])))


main()
