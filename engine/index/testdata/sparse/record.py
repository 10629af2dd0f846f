"""Records what knowhere answers over sparse vectors, and its index files: of 2.3.12 and 2.6.9 by sparse_inverted_index.h alone (peer.cpp),
of 2.5.6 by the libknowhere.so of milvus-lite 2.5.1 (shim.cpp).

    record.py OUT SEED ROWS QUERIES
"""
import ctypes, gzip, json, os, sys
import numpy as np
from kw import CSR, Index, P, bits, brute

out, seed, nrows, nq = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
os.makedirs(out, exist_ok=True)
rng = np.random.default_rng(seed)
here = os.path.dirname(os.path.abspath(__file__))
peers = {v: ctypes.CDLL(f'{here}/libpeer{v}.so') for v in ('23', '26')}
F = ctypes.c_float; N = ctypes.c_int64
ALGOS = ('TAAT_NAIVE', 'DAAT_WAND', 'DAAT_MAXSCORE')

class Peer:
    def __init__(s, v, algo, bm25, k1=1.2, b=.75, avgdl=100.):
        s.l = peers[v]; s.l.p_new.restype = ctypes.c_void_p
        s.h = ctypes.c_void_p(s.l.p_new(algo, bm25, F(k1), F(b), F(avgdl), F(1.05)))
    def add(s, x): s.l.p_add(s.h, N(x.n), N(x.dim), P(x.ptr), P(x.idx), P(x.val), F(0))
    def save(s, path, v0): s.l.p_save(s.h, path.encode(), int(v0))
    def load(s, path, v0): s.l.p_load(s.h, path.encode(), int(v0))
    def search(s, q, k, mask, drop, refine, ratio, k1=1.2, b=.75, avgdl=100.):
        w, n = bits(mask); ids = np.zeros((q.n, k), np.int64); d = np.zeros((q.n, k), np.float32)
        s.l.p_search(s.h, N(q.n), P(q.ptr), P(q.idx), P(q.val), N(k), F(drop), refine, F(ratio), F(k1), F(b), F(avgdl), P(w), N(n), P(ids), P(d))
        return ids, d

def rows(n, dims, mean, values):
    list = []
    for i in range(n):
        m = 0 if i % 97 == 5 else int(rng.poisson(mean))
        p = np.unique((dims * rng.random(m) ** 3).astype(np.int64))
        p = np.where(p % 7 == 3, p * 1000003 % (1 << 31), p); p = np.unique(p)
        list.append((p, values(len(p))))
    return CSR(list)

def small(n): return rng.integers(1, 4, n).astype(np.float32)  # many ties
def real(n): return np.abs(rng.standard_normal(n)).astype(np.float32)
def signed(n): return rng.standard_normal(n).astype(np.float32)
def holed(n): return np.where(rng.random(n) < .2, 0, real(n)).astype(np.float32)

lines = []
def listed(x): return [[x.row(i)[0].tolist(), [float(v) for v in x.row(i)[1]]] for i in range(x.n)]
def record(**a):
    ids, d = a.pop('answer')
    a['ids'] = [[int(v) for v in r if v >= 0] for r in ids]
    a['bits'] = [[int(v) for v in r.view(np.uint32)][:len(i)] for r, i in zip(d, a['ids'])]
    lines.append(a)

queries = {}
for kind, values, mean in (('small', small, 6), ('real', real, 30), ('signed', signed, 10), ('holed', holed, 12)):
    dims = 400 if kind != 'small' else 60
    base = rows(nrows, dims, mean * 2, values)
    q = rows(nq, dims, mean, values)
    queries[kind] = listed(q)
    masks = [None, rng.random(base.n) < .3, rng.random(base.n) < .97]
    asks = [(k, m, drop, refine, ratio) for k, m, drop, refine, ratio in (
        (1, None, 0, 1, 1.05), (10, None, 0, 1, 1.05), (10, 1, 0, 1, 1.05), (50, 2, 0, 1, 1.05), (10, None, 0, 1, .6), (10, None, 0, 1, 1.3),
        (10, None, .3, 1, 1.05), (10, None, .5, 3, 1.05), (5, 1, .9, 4, .8), (10, 2, .6, 10, 1.05))]
    if nrows > 1000: asks.append((1000, None, 0, 1, 1.05))
    def each(library, metric, algo, path, search, extra):
        for k, m, drop, refine, ratio in asks:
            mask = None if m is None else masks[m]
            record(library=library, metric=metric, algorithm=algo, file=os.path.basename(path), queries=kind, k=k, drop=drop, refine=refine, ratio=ratio,
                   filter=None if mask is None else np.nonzero(mask)[0].tolist(), answer=search(k, mask, drop, refine, ratio), **extra)
    # 2.4
    path = f'{out}/{kind}.23.ip'
    p = Peer('23', 0, 0); p.add(base); p.save(path, True)
    for algo in (0, 1):
        p = Peer('23', algo, 0); p.load(path, True)
        each('knowhere-2.3', 'IP', ALGOS[algo], path, lambda k, m, dr, re, ra: p.search(q, k, m, dr, re, ra), {})
    # 2.5
    for metric in ('IP', 'BM25') if kind == 'small' else ('IP',):
        load = dict(metric_type=metric)
        extra = {}
        if metric == 'BM25': load.update(bm25_k1=1.5, bm25_b=.6, bm25_avgdl=9.5); extra = dict(k1=1.5, b=.6, avgdl=9.5)
        path = f'{out}/{kind}.25.{metric.lower()}'
        x = Index('SPARSE_INVERTED_INDEX'); x.build(base, inverted_index_algo='DAAT_WAND', **load); x.save(path); os.rename(path + '.SPARSE_INVERTED_INDEX', path)
        for algo in ALGOS:
            x = Index('SPARSE_INVERTED_INDEX'); x.load(path, inverted_index_algo=algo, **load)
            for now in (0, 13.25) if metric == 'BM25' else (0,):
                ask = dict(metric_type=metric)
                if metric == 'BM25': ask['bm25_avgdl'] = now or 9.5
                each('knowhere-2.5', metric, algo, path, lambda k, m, dr, re, ra: x.search(q, k, m, drop_ratio_search=dr, refine_factor=re, dim_max_score_ratio=ra, **ask), dict(extra, now=now))
        # 2.6
        paths = {False: f'{out}/{kind}.26.{metric.lower()}', True: path}
        p = Peer('26', 2, metric == 'BM25', 1.5, .6, 9.5); p.add(base); p.save(paths[False], False)
        for v0, path6 in paths.items():
            for algo in range(3):
                p = Peer('26', algo, metric == 'BM25', 1.5, .6, 9.5); p.load(path6, v0)
                each('knowhere-2.6', metric, ALGOS[algo], path6, lambda k, m, dr, re, ra: p.search(q, k, m, dr, re, ra, 1.5, .6, 9.5), extra)
        # row by row
        for k, m in ((10, None), (20, 1)):
            mask = None if m is None else masks[m]
            ask = dict(metric_type=metric)
            if metric == 'BM25': ask.update(bm25_k1=1.5, bm25_b=.6, bm25_avgdl=9.5)
            record(library='rows', metric=metric, file=kind + '.rows', queries=kind, k=k, drop=0, refine=0, ratio=0,
                   filter=None if mask is None else np.nonzero(mask)[0].tolist(), answer=brute(base, q, k, mask, **ask), **extra)
    with gzip.GzipFile(f'{out}/{kind}.rows.json.gz', 'wb', mtime=0) as f: f.write(json.dumps(listed(base)).encode())
with gzip.GzipFile(f'{out}/truth.json.gz', 'wb', mtime=0) as f: f.write(json.dumps(dict(queries=queries, searches=lines)).encode())
print(len(lines), 'searches')
