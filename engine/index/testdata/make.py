"""Makes the small index files of this folder and expect.json, what is in them by the
libraries' own interfaces.

Usage: python make.py FOLDER   (hnswlib 0.8.0, faiss-cpu 1.15.1, numpy)
"""
import base64
import json
import os
import sys

import faiss
import hnswlib
import numpy as np

out = sys.argv[1]
expect = {}


def rows(n, d, seed):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def b64(x):
    return base64.b64encode(np.ascontiguousarray(x, dtype=np.float32).tobytes()).decode()


def hnsw_file(name, space, n, d, m, efc=40, labels=None, deleted=(), room=None, seed=1):
    """A file of hnswlib. Links are taken from the state that python's pickle gets."""
    ix = hnswlib.Index(space=space, dim=d)
    ix.init_index(max_elements=room or max(n, 1), ef_construction=efc, M=m, random_seed=100)
    if n:
        ix.add_items(rows(n, d, seed), labels, num_threads=1)
    for label in deleted:
        ix.mark_deleted(label)
    ix.save_index(os.path.join(out, name))
    state = ix.__getstate__()[0] if isinstance(ix.__getstate__(), tuple) else ix.__getstate__()
    levels = [int(x) for x in state["element_levels"][:n]]
    size, m0 = int(state["size_data_per_element"]), int(state["max_M0"])
    level0 = np.frombuffer(bytes(np.asarray(state["data_level0"]).tobytes()), np.uint8)
    base, vectors, ids, gone = [], [], [], []
    for i in range(n):
        rec = level0[i * size:(i + 1) * size]
        count = int(rec[:2].view(np.uint16)[0])
        base.append([int(x) for x in rec[4:4 + 4 * count].view(np.uint32)])
        vectors.append(rec[4 + 4 * m0:4 + 4 * m0 + 4 * d].view(np.float32))
        ids.append(int(rec[4 + 4 * m0 + 4 * d:].view(np.uint64)[0]))
        if rec[2] & 1:
            gone.append(i)
    expect[name] = dict(
        format="hnswlib", kind="HNSW", metric="L2", known=False, dim=d, rows=n, m=m, m0=2 * m,
        ef_construction=int(state["ef_construction"]), max_level=int(state["max_level"]),
        entry=int(state["enterpoint_node"]) & 0xFFFFFFFF, max_elements=int(state["max_elements"]), levels=levels,
        base=base, vectors=b64(vectors), labels=[] if ids == list(range(n)) else ids, deleted=gone)


METRICS = {faiss.METRIC_L2: "L2", faiss.METRIC_INNER_PRODUCT: "IP"}


def faiss_file(name, ix, kind, vectors=None, labels=None, **more):
    faiss.write_index(ix, os.path.join(out, name))
    e = dict(format="faiss", kind=kind, metric=METRICS.get(ix.metric_type, "?"), known=True, dim=ix.d, rows=ix.ntotal,
             labels=labels or [], **more)
    if vectors is not None:
        e["vectors"] = b64(vectors)
    expect[name] = e


def graph(ix):
    h = ix.hnsw
    levels = faiss.vector_to_array(h.levels)
    offsets = faiss.vector_to_array(h.offsets)
    neighbors = faiss.vector_to_array(h.neighbors)
    base, upper = [], []
    for i in range(ix.ntotal):
        lists = []
        for level in range(levels[i]):
            a, b = h.cum_nb_neighbors(level), h.cum_nb_neighbors(level + 1)
            slots = neighbors[offsets[i] + a:offsets[i] + b]
            lists.append([int(x) for x in slots[:next((j for j, x in enumerate(slots) if x < 0), len(slots))]])
        base.append(lists[0])
        upper.append(lists[1:])
    return dict(m=int(h.nb_neighbors(1)), m0=int(h.nb_neighbors(0)), ef_construction=h.efConstruction, ef_search=h.efSearch,
                max_level=h.max_level, entry=h.entry_point & 0xFFFFFFFF, levels=[int(x) - 1 for x in levels], base=base,
                upper=upper)


def lists(ix):
    il, ids, codes = ix.invlists, [], []
    for i in range(ix.nlist):
        n = il.list_size(i)
        ids.append([int(x) for x in faiss.rev_swig_ptr(il.get_ids(i), n)] if n else [])
        codes.append(b64(np.array(faiss.rev_swig_ptr(il.get_codes(i), n * 4 * ix.d)).view(np.float32)) if n else "")
    return dict(ids=ids, codes=codes, nprobe=ix.nprobe, centroids=b64(ix.quantizer.reconstruct_n(0, ix.nlist)))


hnsw_file("hnswlib_l2.bin", "l2", 120, 3, 4, deleted=(0, 5, 17, 119), room=150)
hnsw_file("hnswlib_ip_labels.bin", "ip", 60, 17, 2, labels=1000 + 7 * np.arange(60))
hnsw_file("hnswlib_cosine.bin", "cosine", 80, 5, 8)
hnsw_file("hnswlib_d1.bin", "l2", 50, 1, 3)
hnsw_file("hnswlib_one.bin", "l2", 1, 4, 16)
hnsw_file("hnswlib_empty.bin", "l2", 0, 4, 16, room=10)
hnsw_file("hnswlib_d128.bin", "l2", 40, 128, 16, efc=200)

x = rows(70, 6, 2)
for name, ix in (("faiss_flat_l2.bin", faiss.IndexFlatL2(6)), ("faiss_flat_ip.bin", faiss.IndexFlatIP(6))):
    ix.add(x)
    faiss_file(name, ix, "FLAT", x)
faiss_file("faiss_flat_empty.bin", faiss.IndexFlatL2(6), "FLAT", x[:0])

for name, metric, n in (("faiss_hnsw_l2.bin", faiss.METRIC_L2, 100), ("faiss_hnsw_ip.bin", faiss.METRIC_INNER_PRODUCT, 100),
                        ("faiss_hnsw_one.bin", faiss.METRIC_L2, 1), ("faiss_hnsw_empty.bin", faiss.METRIC_L2, 0)):
    faiss.omp_set_num_threads(1)
    ix = faiss.IndexHNSWFlat(7, 4, metric)
    v = rows(n, 7, 3)
    if n:
        ix.add(v)
    faiss_file(name, ix, "HNSW", v, **graph(ix))

ids = [int(i) for i in 5000 - 3 * np.arange(70)]
inner = faiss.IndexFlatL2(6)
ix = faiss.IndexIDMap(inner)
ix.add_with_ids(x, np.array(ids))
faiss_file("faiss_idmap_flat.bin", ix, "FLAT", x, labels=ids)
inner = faiss.IndexHNSWFlat(6, 3)
ix = faiss.IndexIDMap2(inner)
ix.add_with_ids(x, np.array(ids))
faiss_file("faiss_idmap2_hnsw.bin", ix, "HNSW", x, labels=ids, **graph(inner))


def ivf(metric, nlist, n, d=6):
    q = faiss.IndexFlat(d, metric) if metric == faiss.METRIC_L2 else faiss.IndexFlatIP(d)
    ix = faiss.IndexIVFFlat(q, d, nlist, metric)
    v = rows(n, d, 4)
    ix.cp.min_points_per_centroid = 1
    ix.train(v if n >= nlist else rows(nlist * 2, d, 5))
    ix.add(v)
    ix.nprobe = 3
    return ix


for name, ix in (("faiss_ivf_full.bin", ivf(faiss.METRIC_L2, 8, 100)), ("faiss_ivf_ip.bin", ivf(faiss.METRIC_INNER_PRODUCT, 8, 100)),
                 ("faiss_ivf_sparse.bin", ivf(faiss.METRIC_L2, 32, 5)), ("faiss_ivf_empty.bin", ivf(faiss.METRIC_L2, 4, 0))):
    faiss_file(name, ix, "IVF_FLAT", **lists(ix))
ix = ivf(faiss.METRIC_L2, 8, 100)
ix.make_direct_map()
faiss_file("faiss_ivf_array_map.bin", ix, "IVF_FLAT", **lists(ix))
ix = ivf(faiss.METRIC_L2, 8, 100)
ix.set_direct_map_type(faiss.DirectMap.Hashtable)
faiss_file("faiss_ivf_hash_map.bin", ix, "IVF_FLAT", **lists(ix))
inner = ivf(faiss.METRIC_L2, 8, 0)
ix = faiss.IndexIDMap(inner)
ix.add_with_ids(x, np.array(ids))
e = lists(inner)
e["ids"] = [[ids[i] for i in l] for l in e["ids"]]
faiss_file("faiss_idmap_ivf.bin", ix, "IVF_FLAT", **e)



def sq8(metric, residual, n=100, d=6, nlist=8):
    q = faiss.IndexFlat(d, metric)
    ix = faiss.IndexIVFScalarQuantizer(q, d, nlist, faiss.ScalarQuantizer.QT_8bit, metric, residual)
    v = rows(n, d, 4)
    ix.cp.min_points_per_centroid = 1
    ix.train(v if n >= nlist else rows(nlist * 2, d, 5))
    ix.add(v)
    ix.nprobe = 3
    return ix


def bytes_of_lists(ix):
    il, ids, codes = ix.invlists, [], []
    for i in range(ix.nlist):
        n = il.list_size(i)
        ids.append([int(x) for x in faiss.rev_swig_ptr(il.get_ids(i), n)] if n else [])
        codes.append(base64.b64encode(np.array(faiss.rev_swig_ptr(il.get_codes(i), n * il.code_size)).tobytes()).decode() if n else "")
    return dict(ids=ids, codes=codes, nprobe=ix.nprobe, centroids=b64(ix.quantizer.reconstruct_n(0, ix.nlist)))


for name, ix in (("faiss_sq8_l2.bin", sq8(faiss.METRIC_L2, True)), ("faiss_sq8_ip.bin", sq8(faiss.METRIC_INNER_PRODUCT, True)),
                 ("faiss_sq8_whole.bin", sq8(faiss.METRIC_L2, False)), ("faiss_sq8_empty.bin", sq8(faiss.METRIC_L2, True, n=0))):
    faiss_file(name, ix, "IVF_SQ8", residual=ix.by_residual, trained=b64(faiss.vector_to_array(ix.sq.trained)), **bytes_of_lists(ix))
with open(os.path.join(out, "faiss_sq8_l2.bin"), "rb") as f:  # the code of older releases has no flag
    b = f.read()
with open(os.path.join(out, "faiss_sq8_old.bin"), "wb") as f:
    f.write(b.replace(b"IwSq", b"IwSQ").replace(b"\x01ilar", b"ilar"))
expect["faiss_sq8_old.bin"] = expect["faiss_sq8_l2.bin"]

bits = np.random.default_rng(6).integers(0, 256, (40, 3), dtype=np.uint8)
ix = faiss.IndexBinaryFlat(24)
ix.add(bits)
faiss.write_index_binary(ix, os.path.join(out, "faiss_binary_flat.bin"))
expect["faiss_binary_flat.bin"] = dict(format="faiss", kind="FLAT", metric="HAMMING", known=True, dim=24, rows=40, labels=[],
                                       vectors=base64.b64encode(bits.tobytes()).decode())


bits = np.random.default_rng(8).integers(0, 256, (60, 3), dtype=np.uint8)
q = faiss.IndexBinaryFlat(24)
ix = faiss.IndexBinaryIVF(q, 24, 5)
ix.cp.min_points_per_centroid = 1
ix.train(bits)
ix.add(bits)
ix.nprobe = 2
faiss.write_index_binary(ix, os.path.join(out, "faiss_binary_ivf.bin"))
ids = [[int(i) for i in faiss.rev_swig_ptr(ix.invlists.get_ids(j), ix.invlists.list_size(j))] for j in range(5)]
expect["faiss_binary_ivf.bin"] = dict(
    format="faiss", kind="BIN_IVF_FLAT", metric="HAMMING", known=True, dim=24, rows=60, nprobe=2, ids=ids,
    codes=[base64.b64encode(bits[l].tobytes()).decode() for l in ids],
    centroids=base64.b64encode(faiss.vector_to_array(q.xb).tobytes()).decode())


def knowhere_file(name, source, metric, d, mark=b"", tail=None, convert=None):
    """The blob HNSW of Milvus 2.1 to 2.4, made of a file of hnswlib by the layout of knowhere's
    saveIndex: three fields before the header, no labels, label_offset never set."""
    e = dict(expect[source])
    with open(os.path.join(out, source), "rb") as f:
        b = f.read()
    size, label, data = (int(x) for x in np.frombuffer(b, np.uint64, 3, 24))
    n, m0 = e["rows"], e["m0"]
    head = np.frombuffer(b, np.uint8, 96).copy()
    vectors = [b[96 + i * size + data:96 + i * size + label] for i in range(n)]
    if convert:
        vectors = [convert(v) for v in vectors]
    head[8:16] = head[16:24]  # max_elements is the count
    head[24:32] = np.array([data + len(vectors[0])], np.uint64).view(np.uint8)
    head[32:40] = np.array([748456232048], np.uint64).view(np.uint8)  # seen in real files
    body = b"".join(b[96 + i * size:96 + i * size + data] + v for i, v in enumerate(vectors))
    blob = np.array([{"L2": 0, "IP": 1, "COSINE": 2}[metric], len(vectors[0]), d], np.uint64).tobytes() + mark + head.tobytes() + body
    if metric == "COSINE":
        norms = [float(np.sqrt(np.sum(np.frombuffer(v, np.float32) ** 2))) for v in vectors]
        blob += np.array(norms, np.float32).tobytes()
        e["norms"] = b64(norms)
    with open(os.path.join(out, name), "wb") as f:
        f.write(blob + b[96 + n * size:])
    e.update(format="knowhere (hnswlib)", metric=metric, known=True, max_elements=0)
    expect[name] = dict(refused="HNSW_SQ8") if mark else e


def knowhere_faiss(name, source, cosine, changes):
    """What knowhere's fork of faiss writes, made of a file of faiss: 0 or its flag for cosine in
    the 16 bytes that faiss does not use, its own codes, norms."""
    with open(os.path.join(out, source), "rb") as f:
        b = f.read()
    unused = np.array([1 << 20, 1 << 20], np.uint64).tobytes()
    b = b.replace(unused, np.array([1 if cosine else 0, 0], np.uint64).tobytes())
    for old, new in changes:
        assert old in b
        b = b.replace(old, new)
    e = dict(expect[source])
    e["format"] = "knowhere (faiss)"
    if cosine:
        e["metric"] = "COSINE"
        if "vectors" in e:
            norms = np.linalg.norm(np.frombuffer(base64.b64decode(e["vectors"]), np.float32).reshape(e["rows"], e["dim"]), axis=1)
            b += np.array([len(norms)], np.uint64).tobytes() + norms.astype(np.float32).tobytes()
            e["norms"] = b64(norms)
    with open(os.path.join(out, name), "wb") as f:
        f.write(b)
    expect[name] = e


hnsw_file("hnswlib_source.bin", "l2", 90, 4, 4)
knowhere_file("knowhere_l2.bin", "hnswlib_source.bin", "L2", 4)
knowhere_file("knowhere_ip.bin", "hnswlib_source.bin", "IP", 4)
knowhere_file("knowhere_cosine.bin", "hnswlib_source.bin", "COSINE", 4)
knowhere_file("refused_knowhere_sq8.bin", "hnswlib_source.bin", "L2", 4, mark=np.float32([2.5]).tobytes(),
              convert=lambda v: bytes(len(v) // 4))
knowhere_faiss("knowhere_faiss_hnsw.bin", "faiss_hnsw_l2.bin", False, [])
knowhere_faiss("knowhere_faiss_hnsw_cosine.bin", "faiss_hnsw_ip.bin", True, [(b"IHNf", b"IHN9"), (b"IxFI", b"IxF9")])
knowhere_faiss("knowhere_faiss_flat_cosine.bin", "faiss_flat_ip.bin", True, [])
knowhere_faiss("knowhere_faiss_flat_cosine9.bin", "faiss_flat_ip.bin", True, [(b"IxFI", b"IxF9")])
knowhere_faiss("knowhere_faiss_ivf.bin", "faiss_ivf_full.bin", False, [])


def lists_with_norms(name, source):
    """IVF_FLAT of knowhere under cosine: the norms follow the ids of each list, and only the
    outer header has the flag."""
    e = dict(expect[source])
    with open(os.path.join(out, source), "rb") as f:
        b = f.read()
    unused = np.array([1 << 20, 1 << 20], np.uint64).tobytes()
    b = b.replace(unused, np.array([1, 0], np.uint64).tobytes(), 1).replace(unused, bytes(16), 1)
    norms = []
    for ids, codes in zip(e["ids"], e["codes"]):
        code = base64.b64decode(codes)
        norm = np.linalg.norm(np.frombuffer(code, np.float32).reshape(-1, e["dim"]), axis=1).astype(np.float32)
        norms.append(b64(norm))
        if ids:
            entry = code + np.array(ids, np.int64).tobytes()
            assert entry in b
            b = b.replace(entry, entry + norm.tobytes(), 1)
    with open(os.path.join(out, name), "wb") as f:
        f.write(b)
    e.update(format="knowhere (faiss)", metric="COSINE", list_norms=norms)
    expect[name] = e


lists_with_norms("knowhere_faiss_ivf_cosine.bin", "faiss_ivf_ip.bin")
knowhere_faiss("knowhere_faiss_sq8.bin", "faiss_sq8_ip.bin", False, [])


def without_codes(name, source):
    """The form of IVF_FLAT of knowhere 1, whose vectors are in a blob RAW_DATA, here .raw."""
    e = dict(expect[source])
    with open(os.path.join(out, source), "rb") as f:
        b = f.read()
    raw = np.zeros((e["rows"], e["dim"]), np.float32)
    for ids, codes in zip(e["ids"], e["codes"]):
        code = base64.b64decode(codes)
        if ids:
            assert code in b
            b = b.replace(code, b"", 1)
            raw[ids] = np.frombuffer(code, np.float32).reshape(-1, e["dim"])
    with open(os.path.join(out, name), "wb") as f:
        f.write(b)
    with open(os.path.join(out, name + ".raw"), "wb") as f:
        f.write(raw.tobytes())
    expect[name] = e


without_codes("knowhere_ivf_ids.bin", "faiss_ivf_full.bin")


def refused(name, ix, kind):
    """Types that are named and not read; the file's first bytes are enough."""
    faiss.write_index(ix, os.path.join(out, name))
    with open(os.path.join(out, name), "rb+") as f:
        f.truncate(400)
    expect[name] = dict(refused=kind)


v = rows(300, 8, 7)
for name, factory, kind in (("refused_ivf_sq.bin", "IVF4,SQ4", "faiss IwSq with a scalar quantiser of type 4bit"), ("refused_ivf_pq.bin", "IVF4,PQ2x3", "IVF_PQ"),
                            ("refused_scann.bin", "IVF4,PQ2x4fs", "IVFPQFastScan"),
                            ("refused_lsh.bin", "LSH", "faiss IxHe"), ("refused_nsg.bin", "NSG4", "faiss INSf")):
    ix = faiss.index_factory(8, factory)
    ix.train(v)
    ix.add(v)
    refused(name, ix, kind)
ix = faiss.IndexFlat(8, faiss.METRIC_L1)
ix.add(v[:3])
refused("refused_l1.bin", ix, "faiss IxFl of metric 2")

with open(os.path.join(out, "expect.json"), "w") as f:
    json.dump(expect, f, separators=(",", ":"), sort_keys=True)
    f.write("\n")
