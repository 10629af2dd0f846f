"""packed.py DIR  writes with pyarrow (parquet-cpp, as Milvus 2.6 does through milvus-storage) files
in the form of storage version 2. packed_test.go knows the formulas of the values.

packed-1, packed-2: one column group in two logs, several row groups each, ZSTD, dictionaries
packed-v2-snappy:   data pages version 2, Snappy, no dictionaries
packed-plain:       no compression
delta:              pk and ts of a delta log; delta-text: varchar keys
unsupported:        an encoding that Milvus does not use"""
import sys
import pyarrow as pa
import pyarrow.parquet as pq
import struct

def field(name, type, id, nullable=False):
    return pa.field(name, type, nullable=nullable, metadata={"PARQUET:field_id": str(id)})

def table(start, n):
    rows = range(start, start + n)
    schema = pa.schema([
        field("RowID", pa.int64(), 0), field("Timestamp", pa.int64(), 1), field("pk", pa.int64(), 100),
        field("name", pa.string(), 101, True), field("vec", pa.binary(16), 102), field("flag", pa.bool_(), 103, True),
        field("score", pa.float64(), 104, True), field("small", pa.int8(), 105), field("list", pa.list_(pa.int32()), 106, True),
    ], metadata={"storage_version": "1.0.0", "group_field_id_list": "0,1,100,101,102,103,104,105,106"})
    return pa.table([
        pa.array(rows, pa.int64()),
        pa.array([470590000000000000] * n, pa.int64()),
        pa.array([3 * i - 5 for i in rows], pa.int64()),
        pa.array([None if i % 7 == 3 else "v%d" % i * (i % 5) for i in rows], pa.string()),
        pa.array([struct.pack("<4f", i, i + 0.125, i + 0.25, -i) for i in rows], pa.binary(16)),
        pa.array([None if i % 11 == 0 else i % 2 == 0 for i in rows], pa.bool_()),
        pa.array([None if i // 100 == 2 else i / 8 for i in rows], pa.float64()),
        pa.array([i % 256 - 128 for i in rows], pa.int8()),
        pa.array([[i] for i in rows], pa.list_(pa.int32())),
    ], schema=schema)

out = sys.argv[1] + "/"
pq.write_table(table(0, 700), out + "packed-1", compression="zstd", row_group_size=300)
pq.write_table(table(700, 300), out + "packed-2", compression="zstd", row_group_size=300, data_page_size=500, write_batch_size=50)
pq.write_table(table(0, 1000), out + "packed-v2-snappy", compression="snappy", data_page_version="2.0", use_dictionary=False, data_page_size=2000, write_batch_size=100)
pq.write_table(table(0, 1000), out + "packed-plain", compression="none", row_group_size=400)
ts = pa.array([470590000000000000 + i for i in range(50)], pa.int64())
pq.write_table(pa.table({"pk": pa.array(range(50), pa.int64()), "ts": ts}), out + "delta", compression="zstd")
pq.write_table(pa.table({"pk": pa.array(["k%d" % i for i in range(50)]), "ts": ts}), out + "delta-text", compression="zstd")
pq.write_table(pa.table({"100": pa.array(range(50), pa.int64())}), out + "unsupported", use_dictionary=False, column_encoding={"100": "DELTA_BINARY_PACKED"})
