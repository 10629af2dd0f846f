#!/usr/bin/env python3
"""In which order OpenBLAS adds up the product of a matrix and one vector, as engine/dist/linear.go has it.

    OPENBLAS_CORETYPE=SkylakeX linear.py libopenblas.so

prints, for some dimensions, how many elements differ from each order: 0 for the one that it is. Seen of 0.3.15 (wheels of faiss-cpu 1.15.1 and of
milvus-lite 2.5.1): sgemm in blocks of 448 for SkylakeX, of 320 for Haswell and Zen; of 0.3.21 (Debian 12): the same, but 16 lanes for SkylakeX and
Cooperlake where the matrix is small; sgemv of both in 8 lanes. Needs numpy.
"""
import ctypes
import sys

import numpy as np

f32 = np.float32
lib = ctypes.CDLL(sys.argv[1])
lib.openblas_get_config.restype = ctypes.c_char_p
lib.openblas_set_num_threads(1)
print(lib.openblas_get_config().decode())


def ref(x):
    return ctypes.byref(x) if not isinstance(x, np.ndarray) else x.ctypes.data_as(ctypes.c_void_p)


def sgemm(a, x):
    n, k = a.shape
    y, i, f = np.zeros(n, f32), ctypes.c_int, ctypes.c_float
    lib.sgemm_(b"T", b"N", *map(ref, (i(n), i(1), i(k), f(1), a, i(k), x, i(k), f(0), y, i(n))))
    return y


def sgemv(a, x):
    n, k = a.shape
    y, i, f = np.zeros(n, f32), ctypes.c_int, ctypes.c_float
    lib.sgemv_(b"T", *map(ref, (i(k), i(n), f(1), a, i(k), x, i(1), f(0), y, i(1))))
    return y


def fma(a, b, c):
    return (a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)).astype(f32)


def blocks(a, x, block, multiple):
    k, at, y = len(x), 0, np.zeros(len(a), f32)
    while at < k:
        n = k - at
        if n >= 2 * block:
            n = block
        elif n > block:
            n = (n // 2 + multiple - 1) // multiple * multiple
        acc = np.zeros(len(a), f32)
        for j in range(at, at + n):
            acc = fma(a[:, j], np.full(len(a), x[j]), acc)
        y, at = y + acc, at + n
    return y


def lanes16(a, x):
    acc = np.zeros((len(a), 16), f32)
    for i in range(0, len(x), 16):
        w = min(16, len(x) - i)
        acc[:, :w] = fma(a[:, i:i + w], np.broadcast_to(x[i:i + w], (len(a), w)), acc[:, :w])
    q = [(acc[:, i] + acc[:, i + 1]) + (acc[:, i + 2] + acc[:, i + 3]) for i in (0, 4, 8, 12)]
    y, h = (q[0] + q[1]) + (q[2] + q[3]), acc[:, :8] + acc[:, 8:]
    h = h[:, :4] + h[:, 4:]
    last = len(a) // 4 * 4
    y[last:] = ((h[:, 0] + h[:, 2]) + (h[:, 1] + h[:, 3]))[last:]
    return y


def lanes8(a, x):
    acc, i = np.zeros((len(a), 8), f32), 0
    for w in (4, 8):
        if len(x) & w:
            acc[:, :w] = fma(a[:, i:i + w], np.broadcast_to(x[i:i + w], (len(a), w)), acc[:, :w])
            i += w
    for i in range(i, len(x), 8):
        acc = fma(a[:, i:i + 8], np.broadcast_to(x[i:i + 8], (len(a), 8)), acc)
    h = acc[:, :4] + acc[:, 4:]
    return (h[:, 0] + h[:, 1]) + (h[:, 2] + h[:, 3])


r = np.random.default_rng(1)
for d in (16, 32, 36, 64, 100, 128, 300, 448, 500, 768, 1000, 1024, 1536):
    a, x = r.normal(size=(d, d)).astype(f32), r.normal(size=d).astype(f32)
    m, v = sgemm(a, x), sgemv(a, x)
    print(d, {"sgemm blocks 448": int((blocks(a, x, 448, 16) != m).sum()), "blocks 320": int((blocks(a, x, 320, 8) != m).sum()), "16 lanes": int((lanes16(a, x) != m).sum()),
              "sgemv 8 lanes": int((lanes8(a, x) != v).sum())})
