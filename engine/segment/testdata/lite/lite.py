"""What the server in milvus-lite 2.5.1 answers over sparse vectors that are still growing: lite.py FILE.db (with pymilvus 2.5.6,
setuptools below 81); sparse.json.gz by the inner product, bm25.json.gz of texts: rows and queries are counts of words there."""
import gzip, json, sys
import numpy as np
from pymilvus import DataType, Function, FunctionType, MilvusClient
c = MilvusClient(sys.argv[1])
rng = np.random.default_rng(5)
def rows(n, dims, mean): 
    out=[]
    for _ in range(n):
        p=np.unique((dims*rng.random(max(1,int(rng.poisson(mean))))**3).astype(int)); out.append({int(d): float(np.float32(abs(rng.standard_normal()))) for d in p})
    return out
if c.has_collection('s'): c.drop_collection('s')
s = c.create_schema(); s.add_field('id', DataType.INT64, is_primary=True); s.add_field('v', DataType.SPARSE_FLOAT_VECTOR)
ix = c.prepare_index_params(); ix.add_index('v', index_type='SPARSE_INVERTED_INDEX', metric_type='IP')
c.create_collection('s', schema=s, index_params=ix)
b = rows(600, 500, 14); c.insert('s', [dict(id=i, v=r) for i, r in enumerate(b)])
q = rows(20, 500, 8)
listed = lambda rows: [[list(r), list(r.values())] for r in rows]
out = dict(rows=listed(b), queries=listed(q), searches=[])
for drop in (0, .3):
    r = c.search('s', q, limit=10, search_params=dict(metric_type='IP', params=dict(drop_ratio_search=drop)))
    out['searches'].append(dict(drop=drop, ids=[[h['id'] for h in x] for x in r], bits=[[int(np.float32(h['distance']).view(np.uint32)) for h in x] for x in r]))
with gzip.GzipFile('sparse.json.gz', 'wb', mtime=0) as f:
    f.write(json.dumps(out).encode())

rng = np.random.default_rng(6)
if c.has_collection('t'): c.drop_collection('t')
s = c.create_schema(); s.add_field('id', DataType.INT64, is_primary=True); s.add_field('t', DataType.VARCHAR, max_length=1000, enable_analyzer=True); s.add_field('v', DataType.SPARSE_FLOAT_VECTOR)
s.add_function(Function(name='f', function_type=FunctionType.BM25, input_field_names=['t'], output_field_names='v'))
ix = c.prepare_index_params(); ix.add_index('v', index_type='SPARSE_INVERTED_INDEX', metric_type='BM25')
c.create_collection('t', schema=s, index_params=ix)
words = 'alpha beta gamma delta epsilon zeta eta theta iota kappa'.split()
share = np.arange(1, 11) / 55.
text = [' '.join(rng.choice(words, int(rng.integers(3, 30)), p=share)) for i in range(300)]
c.insert('t', [dict(id=i, t=x) for i, x in enumerate(text)])
queries = [' '.join(rng.choice(words, int(rng.integers(2, 6)), replace=False)) for i in range(20)]
r = c.search('t', queries, limit=8, search_params=dict(metric_type='BM25'))
count = lambda t: [[words.index(w) for w in sorted(set(t.split()), key=words.index)], [float(t.split().count(w)) for w in sorted(set(t.split()), key=words.index)]]
out = dict(rows=[count(x) for x in text], queries=[count(x) for x in queries], ids=[[h['id'] for h in x] for x in r], bits=[[int(np.float32(h['distance']).view(np.uint32)) for h in x] for x in r])
with gzip.GzipFile('bm25.json.gz', 'wb', mtime=0) as f: f.write(json.dumps(out).encode())
