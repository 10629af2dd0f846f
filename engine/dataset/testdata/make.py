"""Writes the files that the tests of engine/dataset read, with NumPy and h5py.

    python3 make.py

All hold the same 5 x 4 values where their types allow: (row*4+column)/8, and 3.1 in row 4.
"""
import h5py
import numpy as np

x = (np.arange(20, dtype=np.float64) / 8).reshape(5, 4)
x[4, 3] = 3.1  # is no float32
f4 = x.astype(np.float32)
ids = np.arange(20, dtype=np.int64).reshape(5, 4) - 3
bits = np.arange(10, dtype=np.uint8).reshape(5, 2) * 23

np.save("f4.npy", f4)
np.save("f2.npy", x.astype(np.float16))
np.save("v2.npy", (f4.view(np.uint32) >> 16).astype(np.uint16).view("V2"))
np.save("f8.npy", x)
np.save("i1.npy", (ids * 7).astype(np.int8))
np.save("u1.npy", bits)
np.save("fortran.npy", np.asfortranarray(f4))
np.save("big.npy", f4.astype(">f4"))
np.save("bool.npy", f4 > 1)
np.save("cube.npy", f4.reshape(5, 2, 2))
np.save("vector.npy", f4[0])
np.save("i4.npy", ids.astype(np.int32))
np.save("u4.npy", (ids + 3).astype(np.uint32))
np.save("i8.npy", ids)
np.save("list.npy", ids[:, 0])
nan = f4.copy()
nan[1, 2] = nan[3, 0] = np.nan
nan[2, 0] = np.inf
np.save("nan.npy", nan)
for version in ((2, 0), (3, 0)):
    with open("version%d.npy" % version[0], "wb") as out:
        np.lib.format.write_array(out, f4, version=version)


def vecs(name, rows, kind):
    with open(name, "wb") as out:
        for row in rows:
            out.write(np.int32(len(row)).tobytes() + row.astype(kind).tobytes())


vecs("f4.fvecs", f4, np.float32)
vecs("u1.bvecs", bits, np.uint8)
vecs("i4.ivecs", ids, np.int32)


with h5py.File("glove.hdf5", "w") as out:
    out["train"], out["test"], out["neighbors"] = f4, f4[:2], ids
