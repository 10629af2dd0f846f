"""Writes the files that the tests of engine/dataset read, with NumPy, pyarrow and h5py.

    python3 make.py

All hold the same 5 x 4 values where their types allow: (row*4+column)/8, and 3.1 in row 4.
"""
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

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


def lists(a, kind, size=None):
    return pa.array(list(a), type=pa.list_(kind, size) if size else pa.list_(kind))


table = pa.table({
    "id": pa.array(range(5), type=pa.int64()),
    "title": pa.array(["a", "b", "c", "d", "e"]),
    "fixed": lists(f4, pa.float32(), 4),
    "list": lists(f4, pa.float32()),
    "double": lists(x, pa.float64()),
    "half": lists(x.astype(np.float16), pa.float16()),
    "int8": lists((ids * 7).astype(np.int8), pa.int8()),
    "bits": lists(bits, pa.uint8()),
    "neighbors": lists(ids, pa.int64()),
    "int32": lists(ids.astype(np.int32), pa.int32()),
    "bytes": pa.array([row.tobytes() for row in f4], type=pa.binary(16)),
    "ragged": pa.array([[1.0], [1.0, 2.0], [1.0], [1.0], [1.0]], type=pa.list_(pa.float32())),
    "hole": pa.array([[1.0], None, [1.0], [1.0], [1.0]], type=pa.list_(pa.float32())),
    "null": pa.array([[1.0], [None], [1.0], [1.0], [1.0]], type=pa.list_(pa.float32())),
})
pq.write_table(table, "table.parquet", row_group_size=2, compression="zstd")
pq.write_table(table.select(["id", "title", "list"]), "one.parquet", compression="snappy", data_page_version="2.0")
pq.write_table(table.select(["list"]), "plain.parquet", compression="none", use_dictionary=False)
pq.write_table(table.select(["list"]), "gzip.parquet", compression="gzip")
pq.write_table(table.select(["list"]), "brotli.parquet", compression="brotli")
# A run of one value takes few bytes, whatever its length.
pq.write_table(pa.table({"list": lists(np.zeros((20000, 16), dtype=np.float32), pa.float32())}), "zeros.parquet", compression="zstd")

with h5py.File("glove.hdf5", "w") as out:
    out["train"], out["test"], out["neighbors"] = f4, f4[:2], ids
