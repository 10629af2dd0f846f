"""Makes the vectors of engine.txtar: clusters, queries near them, the true neighbours, ids of which two are swapped, and fields of the rows."""
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

rng = np.random.default_rng(7)
centres = rng.normal(size=(20, 8))
base = (centres[rng.integers(0, 20, 400)] + 0.4 * rng.normal(size=(400, 8))).astype("<f4")
queries = (centres[rng.integers(0, 20, 20)] + 0.4 * rng.normal(size=(20, 8))).astype("<f4")
near = np.argsort(((queries[:, None, :].astype("f8") - base) ** 2).sum(-1), axis=1)[:, :10].astype("<i4")
np.save("base.npy", base)
np.save("queries.npy", queries)
np.hstack([np.full((20, 1), 10, "<i4"), near]).tofile("truth.ivecs")
np.save("swapped.npy", np.r_[1, 0, 2:400])
pq.write_table(pa.table({
    "year": pa.array([2000 + i % 25 for i in range(400)], pa.int32()),
    "price": pa.array([None if i % 11 == 0 else i / 4 for i in range(400)], pa.float64()),
    "tag": pa.array([["a", "b", "ab", "100%"][i % 4] for i in range(400)]),
    "sold": pa.array([i % 3 == 0 for i in range(400)]),
}), "fields.parquet")
