"""Builds indexes with hnswlib 0.8.0 (numpy and hnswlib of PyPI), for build_test.go.

    python build.py OUT < cases    writes OUT/<case>.hnsw for each line, prints "<sha256> <case>"

A case is kind-metric-dim-rows-M-efConstruction-seed. Its rows come from a hash of their
place, so that the test makes the same ones: see the function rows here and there.
build_sums.txt is what this printed of its own cases (cut -d" " -f2 build_sums.txt), and
build_*.hnsw are a few of the files.
"""
import hashlib
import os
import sys

import hnswlib
import numpy as np


def rows(kind, dim, n):
    place = np.arange(n * dim, dtype=np.uint64).reshape(n, dim)
    if kind == "twins":  # each row is there seven times
        place = place[np.arange(n) // 7 * 7]
    z = (place + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    if kind == "ties":  # -1, 0 and 1, never all 0
        x = ((z >> np.uint64(40)) % np.uint64(3)).astype(np.float32) - np.float32(1)
        x[(x == 0).all(axis=1), 0] = 1
        return x
    return (z >> np.uint64(40)).astype(np.float32) / np.float32(1 << 24) - np.float32(0.5)


def build(case, out):
    kind, metric, dim, n, m, ef, seed = case.split("-")
    index = hnswlib.Index(space=metric, dim=int(dim))
    index.init_index(max_elements=int(n), M=int(m), ef_construction=int(ef), random_seed=int(seed))
    index.add_items(rows(kind, int(dim), int(n)), num_threads=1)
    path = os.path.join(out, case + ".hnsw")
    index.save_index(path)
    with open(path, "rb") as f:
        print(hashlib.sha256(f.read()).hexdigest(), case)


if __name__ == "__main__":
    np.seterr(over="ignore")
    for line in sys.stdin:
        build(line.strip(), sys.argv[1])
