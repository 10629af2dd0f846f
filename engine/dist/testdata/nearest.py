"""Writes nearest.txt: the bits that knowhere computes where it looks for the one row that is nearest.

usage: LD_LIBRARY_PATH=FOLDER nearest.py >nearest.txt

Needs numpy and libknowhere.so of PyPI's milvus-lite 2.5.1 (knowhere 2.5.6) with the libraries beside it: engine/index/testdata/sparse/README.md.
Each line is a dimension and the bits of the distances of a query to eleven rows. The vectors are those of value() of float32_peers.py.
"""
import ctypes

import numpy as np

ROWS = 11


def value(dim, row):
    with np.errstate(over="ignore"):
        n = np.arange(dim, dtype=np.uint64) + np.uint64(dim << 32 | row << 24)
        n = (n + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        n = (n ^ n >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        n = (n ^ n >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        n ^= n >> np.uint64(31)
    fraction = (n >> np.uint64(40)).astype(np.float64) - 2.0**23
    return (fraction * 2.0 ** ((n & np.uint64(7)).astype(np.float64) - 23)).astype(np.float32)


def main():
    of = ctypes.CDLL("libknowhere.so")._ZN5faiss25fvec_L2sqr_ny_nearest_avxEPfPKfS2_mm
    for dim in list(range(1, 50)) + [63, 64, 100, 127, 300, 768, 1537]:
        q, x = value(dim, 0), np.concatenate([value(dim, row + 1) for row in range(ROWS)])
        out = np.zeros(ROWS, np.float32)
        of(*(a.ctypes.data_as(ctypes.c_void_p) for a in (out, q, x)), ctypes.c_size_t(dim), ctypes.c_size_t(ROWS))
        print(dim, *(f"{b:08x}" for b in out.view(np.uint32)))


main()
