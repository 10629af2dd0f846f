"""Makes VERSION.json here of the captures of real Milvus servers: what the official client said of
each collection, and the queries that it sent (numpy's default_rng of the recorded seed) with the
answers. Usage: truth.py FIXTURES, the folder that has standalone-VERSION/truth.json. Of the cluster, whose
storage is large, one collection is in testdata/storage."""
import base64
import json
import pathlib
import sys

import numpy as np

here = pathlib.Path(__file__).parent


def queries(s):
    rng = np.random.default_rng(s["query_seed"])
    if s["binary"]:
        return rng.integers(0, 256, (s["nq"], s["dim"] // 8), dtype=np.uint8)
    return rng.normal(size=(s["nq"], s["dim"])).astype("<f4")


for version, place in [("2.1.0", "standalone-2.1.0"), ("2.2.16", "standalone-2.2.16"), ("2.3.5", "standalone-2.3.5"),
                       ("cluster-2.3.5", "cluster-2.3.5/t1_three_nodes")]:
    folder = pathlib.Path(sys.argv[1]) / place
    searches = json.loads((folder / "search_truth.json").read_text())
    out = []
    for database, collections in json.loads((folder / "truth.json").read_text())["dbs"].items():
        for name, c in collections.items():
            d = c["describe"]
            if version.startswith("cluster") and name != "small_truth":
                continue
            key = next(f for f in d["fields"] if f.get("is_primary"))
            vector = next((f for f in d["fields"] if f["type"] in (100, 101)), None)
            if vector is None or not c["persistent_segments"] or isinstance(c["persistent_segments"], dict):
                continue
            index = c["indexes"][0]["params"] if c["indexes"] else {}
            entry = {
                "name": f"{database}/{name}", "id": d["collection_id"], "key": key["field_id"], "vector": vector["field_id"],
                "metric": index.get("metric_type", "L2"), "index": index.get("index_type", ""), "dim": vector["params"]["dim"],
                "segments": [int(s["segmentID"]) for s in c["persistent_segments"] if s["state"] == "Flushed"], "rows": c["num_entities"],
            }
            s = searches.get(f"{database}/{name}", {})
            if "hits" in s:
                entry |= {"ef": s["params"].get("ef", 0), "limit": s["limit"], "queries": base64.b64encode(queries(s).tobytes()).decode(),
                          "hits": s["hits"]}
            out.append(entry)
    (here / f"{version}.json").write_text("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in out) + "\n]\n")
