"""What hnswlib makes of files that were written by package index.

python peers.py make FOLDER    writes indexes of some hundred rows
python peers.py check FOLDER   compares answers from X.ours with those from X, bit for bit
"""
import os
import sys

import hnswlib
import numpy as np

K = 10


def rows(n, d, seed):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def make(folder):
    for name, space, n, d, m, deleted in (("l2_33_m8.hnswlib", "l2", 800, 33, 8, 0), ("ip_16_m4.hnswlib", "ip", 800, 16, 4, 0),
                                          ("l2_1_m2.hnswlib", "l2", 500, 1, 2, 0), ("l2_768_m16.hnswlib", "l2", 600, 768, 16, 50)):
        ix = hnswlib.Index(space=space, dim=d)
        ix.init_index(max_elements=n + 10, ef_construction=60, M=m)
        ix.add_items(rows(n, d, 1), 7 + 3 * np.arange(n) if m == 4 else None)
        for i in range(deleted):
            ix.mark_deleted(i * 3)
        ix.save_index(os.path.join(folder, name))


def search(path, space, d):
    ix = hnswlib.Index(space=space, dim=d)
    ix.load_index(path)
    ix.set_ef(30)
    return ix.knn_query(rows(200, d, 9), k=K, num_threads=1)


def check(folder):
    compared = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".hnswlib"):
            continue
        space, d = name.split("_")[:2]
        path = os.path.join(folder, name)
        for a, b in zip(search(path, space, int(d)), search(path + ".ours", space, int(d))):
            assert a.tobytes() == b.tobytes(), f"{name}: other answers from the file that was written"
        compared += 1
    print(f"{compared} files compared")


{"make": make, "check": check}[sys.argv[1]](sys.argv[2])
