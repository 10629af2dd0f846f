"""values.py FILE...  writes what pyarrow reads from the parquet columns of Milvus files:
file, event dtype, rows, SHA-256 of the values in one canonical form (integers as int64,
floats as float64, strings with a u32 length, vectors and index bytes as they are; all
little-endian). The tests of engine/binlog hold their own values against it."""
import hashlib, io, struct, sys
import pyarrow as pa
import pyarrow.parquet as pq

def canonical(column, dtype, index):
    out = []
    for v in column.to_pylist():
        if v is None:
            raise SystemExit("a null")
        if index:
            out.append(bytes([v & 255]))
        elif isinstance(v, bool) or isinstance(v, int):
            out.append(struct.pack("<q", int(v)))
        elif isinstance(v, float):
            out.append(struct.pack("<d", v))
        elif isinstance(v, str):
            v = v.encode()
            out.append(struct.pack("<I", len(v)) + v)
        elif dtype >= 100:
            out.append(v)
        else:
            out.append(struct.pack("<I", len(v)) + v)
    return b"".join(out)

for name in sys.argv[1:]:
    b = open(name, "rb").read()
    assert b[:4] == b"\xbc\xfa\xff\x00", name
    at, rows, digest, dtype = 4, 0, hashlib.sha256(), None
    while at < len(b):
        _, kind, length, _ = struct.unpack_from("<Qbii", b, at)
        if kind == 0:
            dtype, = struct.unpack_from("<i", b, at + 17 + 48)
        else:
            column = pq.read_table(io.BytesIO(b[at + 33:at + length])).column(0)
            rows += len(column)
            digest.update(canonical(column, dtype, kind == 7))
        at += length
    print(name, dtype, rows, digest.hexdigest(), sep="\t")
