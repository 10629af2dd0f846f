"""Writes parquet files with the writers of DuckDB, Polars and fastparquet, and truth.json with their values.

    python3 writers.py writers

DuckDB fills runs of packed levels and indexes up to 256 values; fastparquet leaves eight zero bytes behind the values of a page.
"""
import json
import os
import sys

sys.path.pop(0)  # pyarrow.py is called like the library
import duckdb
import fastparquet
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
G = np.random.default_rng(3)
rows = G.integers(0, 5, (70, 4)).astype(np.float32)
ids = (np.arange(70) * 7 % 6).astype(np.int64)
spread = rows + G.random(rows.shape, np.float32)
id_table = pa.table({"emb": ids})
far = np.arange(70, dtype=np.int64) ** 3 - 900
truth = []


def lists(values):
    return pa.table({"emb": pa.array(values.tolist(), type=pa.list_(pa.float32()))})


def add(name, values, shape, codec, version, encoding):
    back = pq.read_table(os.path.join(folder, name)).column("emb").to_pylist()
    entry = {"file": name, "shape": shape, "codec": codec, "version": version, "encoding": encoding}
    if values.ndim == 2:
        assert [x if isinstance(x, bytes) else np.float32(x).tobytes() for x in back] == [r.tobytes() for r in values], name
        entry["hex"] = values.tobytes().hex()
    else:
        assert back == values.tolist(), name
        entry["ids"] = [[str(x)] for x in values]
    truth.append(entry)


def duck(name, source, values, shape, codec, version, encoding):
    con = duckdb.connect()
    con.register("source", source)
    path = os.path.join(folder, name)
    con.execute(f"copy source to '{path}' (format parquet, compression '{codec}', parquet_version '{version}')")
    add(name, values, shape, codec, version, encoding)


def fast(name, values, shape, codec, version, encoding, column, **options):
    fastparquet.writer.DATAPAGE_VERSION = 2 if version == "V2" else 1
    fastparquet.write(os.path.join(folder, name), pd.DataFrame({"emb": column}), compression=codec, row_group_offsets=40, **options)
    add(name, values, shape, codec, version, encoding)


os.makedirs(folder, exist_ok=True)
duck("duckdb_v1.parquet", lists(rows), rows, "list", "snappy", "V1", "DICTIONARY")
duck("duckdb_v2.parquet", lists(rows), rows, "list", "zstd", "V2", "DICTIONARY")
duck("duckdb_plain_v1.parquet", lists(spread), spread, "list", "uncompressed", "V1", "PLAIN")
duck("duckdb_split_v2.parquet", lists(spread), spread, "list", "lz4_raw", "V2", "BYTE_STREAM_SPLIT")
duck("duckdb_ids_v1.parquet", id_table, ids, "ids", "gzip", "V1", "DICTIONARY")
duck("duckdb_ids_v2.parquet", id_table, ids, "ids", "zstd", "V2", "DICTIONARY")
duck("duckdb_delta_v2.parquet", pa.table({"emb": far}), far, "ids", "snappy", "V2", "DELTA_BINARY_PACKED")
pl.from_arrow(lists(rows)).write_parquet(os.path.join(folder, "polars.parquet"), compression="zstd", data_page_size=200)
add("polars.parquet", rows, "list", "zstd", "V1", "DICTIONARY")
for version in ("V1", "V2"):
    texts, v = {"object_encoding": {"emb": "bytes"}, "fixed_text": {"emb": 16}}, version.lower()
    fast(f"fastparquet_{v}.parquet", rows, "bytes", None, version, "PLAIN", [r.tobytes() for r in rows], **texts)
    fast(f"fastparquet_ids_{v}.parquet", ids, "ids", "GZIP", version, "PLAIN", ids)
    fast(f"fastparquet_null_{v}.parquet", ids, "ids", None, version, "PLAIN", pd.array(ids, dtype="Int64"), has_nulls=True)
    fast(f"fastparquet_dict_{v}.parquet", ids, "ids", None, version, "DICTIONARY", pd.Categorical(ids))
with open(os.path.join(folder, "truth.json"), "w") as out:
    json.dump(truth, out, indent=0)
