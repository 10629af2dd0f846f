#!/usr/bin/env python3
"""What Milvus 2.3.5 answered over FLAT and BIN_FLAT collections of one sealed segment, with
the vectors and the queries: milvus-2.3.5.json.gz of engine/flat.

    milvus.py FIXTURE OUT.json.gz

FIXTURE is the folder of a captured server: NAME.npy, where row i has primary key i, and
search_truth.json, whose queries are default_rng(query_seed).normal(size=(nq, dim)), for bits
integers(0, 256, (nq, dim//8), uint8).
"""
import base64, gzip, json, sys
import numpy as np

truth = json.load(open(f"{sys.argv[1]}/search_truth.json"))
out = []
for name in ("truth_small", "types_all", "binvec"):
    t = truth[f"default/{name}"]
    r = np.random.default_rng(t["query_seed"])
    if t["binary"]:
        q = r.integers(0, 256, (t["nq"], t["dim"] // 8), dtype=np.uint8)
    else:
        q = r.normal(size=(t["nq"], t["dim"])).astype(np.float32)
    x = np.load(f"{sys.argv[1]}/{name}.npy")
    out.append({"name": name, "metric": t["metric"], "dim": t["dim"], "k": t["limit"],
                "rows": base64.b64encode(np.ascontiguousarray(x).tobytes()).decode(),
                "queries": base64.b64encode(q.tobytes()).decode(),
                "ids": [h["ids"] for h in t["hits"]],
                "bits": [[int(b) for b in np.array(h["distances"], np.float32).view(np.uint32)] for h in t["hits"]]})
with gzip.GzipFile(sys.argv[2], "wb", mtime=0) as f:
    f.write(json.dumps(out, separators=(",", ":")).encode())
