"""Makes the vectors of engine.txtar: clusters, queries near them, the true neighbours, and ids of which two are swapped."""
import numpy as np

rng = np.random.default_rng(7)
centres = rng.normal(size=(20, 8))
base = (centres[rng.integers(0, 20, 400)] + 0.4 * rng.normal(size=(400, 8))).astype("<f4")
queries = (centres[rng.integers(0, 20, 20)] + 0.4 * rng.normal(size=(20, 8))).astype("<f4")
near = np.argsort(((queries[:, None, :].astype("f8") - base) ** 2).sum(-1), axis=1)[:, :10].astype("<i4")
np.save("base.npy", base)
np.save("queries.npy", queries)
np.hstack([np.full((20, 1), 10, "<i4"), near]).tofile("truth.ivecs")
np.save("swapped.npy", np.r_[1, 0, 2:400])
