"""Writes parquet files of random codecs, page versions, encodings and shapes, and truth.json with the values that pyarrow reads back.

    python3 pyarrow.py pyarrow 48 1        # those of the repository: folder, number, seed
    python3 pyarrow.py pyarrow 1008 2 big  # by hand: more rows, more dimensions
"""
import json
import os
import random
import sys

sys.path.pop(0)  # this file is called like the library
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder, number, seed, big = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), len(sys.argv) > 4
R, G = random.Random(seed), np.random.default_rng(seed)
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
SHAPES = ["fixed", "list", "large", "struct", "structs", "bytes", "ids", "idlist", "half", "int8", "uint8", "double",
          "null", "ragged", "empty", "nestedlist"]
LIMITS = {pa.int64(): (-2**63, 2**63 - 1), pa.int32(): (-2**31, 2**31 - 1), pa.uint32(): (0, 2**32 - 1),
          pa.int16(): (-2**15, 2**15 - 1), pa.uint64(): (0, 2**63 - 1)}


def lists(rows, kind, make=pa.list_):
    return pa.array([list(row) for row in rows], type=make(kind))


def write(i):
    rows = R.choice([1, 2, 7, 48, 100, 300, 1000] if big else [1, 2, 9, 40])
    dim = R.choice([1, 3, 8, 16, 33, 64] if big else [1, 3, 8])
    values = R.choice(["random", "repeated", "constant", "few"])
    shape = SHAPES[i // (12 if big else 3) % len(SHAPES)]

    def matrix(kind):
        if values == "random":
            return (G.standard_normal((rows, dim)) * 50).astype(kind)
        if values == "repeated":
            return (np.arange(rows * dim) % 7).reshape(rows, dim).astype(kind)
        return (np.full((rows, dim), 3.5) if values == "constant" else G.integers(-3, 3, (rows, dim))).astype(kind)

    path, encodings, truth, row = "emb.list.element", ["PLAIN", "BYTE_STREAM_SPLIT"], None, None
    if shape in ("fixed", "list", "large", "struct", "structs"):
        truth = matrix(np.float32)
        column = lists(truth, pa.float32(), pa.large_list if shape == "large" else pa.list_)
        if shape == "fixed":
            column = pa.FixedSizeListArray.from_arrays(pa.array(truth.ravel()), dim)
        if shape == "structs":
            column, path = pa.StructArray.from_arrays([column], ["w"]), "emb.v.w.list.element"
        if shape in ("struct", "structs"):
            column = pa.StructArray.from_arrays([column], ["v"])
            path = "emb.v.list.element" if shape == "struct" else path
    elif shape == "bytes":
        truth = matrix(np.float32)
        column, path = pa.array([r.tobytes() for r in truth], type=pa.binary(4 * dim)), "emb"
        encodings = encodings + ["DELTA_BYTE_ARRAY"]
    elif shape in ("ids", "idlist"):
        kind = R.choice(list(LIMITS))
        low, high = LIMITS[kind]
        n = rows * (dim if shape == "idlist" else 1)
        ids = {"random": [R.randint(low, high) for _ in range(n)], "repeated": [min(high, 1000 + 3 * k) for k in range(n)]}.get(
            values, [low // 2] * n)
        truth = [ids[k:k + n // rows] for k in range(0, n, n // rows)]
        column = pa.array(ids, type=kind) if shape == "ids" else pa.array(truth, type=pa.list_(kind))
        path = "emb" if shape == "ids" else path
        encodings = encodings + ["DELTA_BINARY_PACKED"]
    elif shape in ("half", "int8", "uint8", "double"):
        stored, kind = {"half": (np.float16, pa.float16()), "int8": (np.int8, pa.int8()), "uint8": (np.uint8, pa.uint8()),
                        "double": (np.float64, pa.float64())}[shape]
        truth = np.abs(matrix(np.int8)).astype(stored) if shape == "uint8" else matrix(stored)
        column = lists(truth, kind)
        truth = truth.astype(np.float32) if shape == "double" else truth
        encodings = encodings + (["DELTA_BINARY_PACKED"] if "int" in shape else [])
    else:
        wrong, kind = [list(r) for r in matrix(np.float32)], pa.list_(pa.float32())
        row = R.randrange(rows)
        if shape == "null":
            wrong[row] = R.choice([None, [None] + wrong[row][1:]])
        if shape == "empty":
            wrong[row] = []
        if shape == "ragged":
            row = max(row, 1)
            wrong = wrong if rows > 1 else wrong * 2
            wrong[row] = wrong[row] + [1.0] if dim == 1 or R.random() < .5 else wrong[row][1:]
        if shape == "nestedlist":
            wrong, kind, path, row = [[r] for r in wrong], pa.list_(kind), "emb.list.element.list.element", None
        column = pa.array(wrong, type=kind)

    encoding = R.choice(["DICTIONARY"] + encodings)
    options = {"compression": CODECS[i % 6], "data_page_version": ["1.0", "2.0"][i // 6 % 2], "row_group_size": R.choice([None, 37, 5000]),
               "data_page_size": R.choice([None, 64, 1000]), "write_page_checksum": R.random() < .3, "write_statistics": R.random() < .5,
               "version": R.choice(["1.0", "2.4", "2.6"]), "use_dictionary": encoding == "DICTIONARY", "store_schema": big}
    if encoding != "DICTIONARY":
        options["column_encoding"] = {path: encoding}
    elif R.random() < .3:
        options["dictionary_pagesize_limit"] = 64  # the rest of the pages is PLAIN
    table = {"emb": column}
    if R.random() < .5:
        table["title"] = pa.array(["s%d" % k for k in range(len(column))])
    name = "%04d.parquet" % i
    pq.write_table(pa.table(table), os.path.join(folder, name), **options)
    back = pq.read_table(os.path.join(folder, name)).column("emb")
    if options["version"] != "1.0" and "null" not in shape:  # 1.0 has no unsigned integers of 32 bits
        assert back.to_pylist() == column.to_pylist(), name
    entry = {"file": name, "shape": shape, "codec": options["compression"], "version": options["data_page_version"], "encoding": encoding}
    if row is not None:
        entry["row"] = row
    elif isinstance(truth, list):
        entry["ids"] = [[str(x) for x in r] for r in truth]
    elif truth is not None:
        entry["hex"] = np.ascontiguousarray(truth).tobytes().hex()
    return entry


os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "truth.json"), "w") as out:
    json.dump([write(i) for i in range(number)], out, indent=0)
