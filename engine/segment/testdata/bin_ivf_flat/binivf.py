"""Builds BIN_IVF_FLAT indexes in a running Milvus and writes down what it answers: binivf.py OUT.json HOST:PORT.
The files beside this one were written by a standalone Milvus 2.3.5 (v2.3.5-lite of PyPI, pymilvus 2.3.6)."""
import json, sys, time
import numpy as np
from pymilvus import connections, utility, Collection, CollectionSchema, FieldSchema, DataType
out, hp = sys.argv[1:3]
host, port = hp.split(':')
connections.connect(host=host, port=port)
truth = {'server': utility.get_server_version(), 'collections': []}

def random_bits(seed, rows, dim, density):
    """Rows around 12 centres, so that lists differ in length and many distances are equal."""
    rng = np.random.default_rng(seed)
    centres = rng.random((12, dim)) < density
    bits = centres[rng.integers(0, 12, rows)] ^ (rng.random((rows, dim)) < 0.12)
    return np.packbits(bits, axis=1)

for name, metric, dim, rows, nlist in [('bin_hamming', 'HAMMING', 128, 3000, 24), ('bin_jaccard', 'JACCARD', 72, 3000, 16)]:
    if utility.has_collection(name):
        utility.drop_collection(name)
    c = Collection(name, CollectionSchema([
        FieldSchema('id', DataType.INT64, is_primary=True), FieldSchema('vec', DataType.BINARY_VECTOR, dim=dim)]), shards_num=1)
    v = random_bits(dim, rows, dim, 0.4)
    c.insert([list(range(rows)), [x.tobytes() for x in v]])
    c.flush()
    c.create_index('vec', {'index_type': 'BIN_IVF_FLAT', 'metric_type': metric, 'params': {'nlist': nlist}}, index_name='idx')
    utility.wait_for_index_building_complete(name, index_name='idx')
    c.load()
    time.sleep(1)
    q = random_bits(dim, rows + 30, dim, 0.4)[rows:]
    entry = {'name': name, 'metric': metric, 'dim': dim, 'rows': rows, 'nlist': nlist,
             'collection': utility.get_query_segment_info(name)[0].collectionID,
             'queries': [x.tobytes().hex() for x in q], 'searches': []}
    for k, nprobe, expr in [(10, 1, ''), (10, 4, ''), (10, nlist, ''), (100, 3, ''), (1, 2, ''), (10, 4, 'id % 3 != 0'), (10, 8, 'id < 40')]:
        r = c.search([x.tobytes() for x in q], 'vec', {'metric_type': metric, 'params': {'nprobe': nprobe}}, limit=k, expr=expr or None)
        entry['searches'].append({'k': k, 'nprobe': nprobe, 'expr': expr, 'ids': [list(h.ids) for h in r],
                                  'bits': [[int(np.float32(d).view(np.uint32)) for d in h.distances] for h in r]})
    for radius, inner in ([(30, None), (40, 20)] if metric == 'HAMMING' else [(0.5, None), (0.62, 0.3)]):
        params = {'radius': radius, 'nprobe': 4}
        if inner is not None:
            params['range_filter'] = inner
        try:
            r = c.search([x.tobytes() for x in q], 'vec', {'metric_type': metric, 'params': params}, limit=16384)
        except Exception as e:
            print('range', metric, radius, inner, e)
            continue
        entry['searches'].append({'k': 16384, 'nprobe': 4, 'radius': radius, 'range_filter': inner, 'expr': '', 'ids': [list(h.ids) for h in r],
                                  'bits': [[int(np.float32(d).view(np.uint32)) for d in h.distances] for h in r]})
    truth['collections'].append(entry)
    print(name, c.num_entities, utility.index_building_progress(name, 'idx'), utility.get_query_segment_info(name))
json.dump(truth, open(out, 'w'))
