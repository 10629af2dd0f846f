"""state.py etcd-host:port [--settle SECONDS [--timeout SECONDS]] [-o FILE]

What a cluster of Milvus 2.3 is in, by its own etcd and the nodes' GetDataDistribution, read
without kitescope: the fault runs use it to know that a fault was really there, and that the
cluster was quiet before and after. With --settle it waits until no segment has moved for so
long, every index is built and what is flushed is what is served; exit 1 if that takes too long.
"""

import argparse
import base64
import collections
import json
import os
import subprocess
import sys
import time

import grpc
from wire import Message, put_bytes, put_int

SEGMENT_STATES = {1: "NotExist", 2: "Growing", 3: "Sealed", 4: "Flushed", 5: "Flushing", 6: "Dropped", 7: "Importing"}
INDEX_STATES = {0: "None", 1: "Unissued", 2: "InProgress", 3: "Finished", 4: "Failed", 5: "Retry"}
OLD_LAYOUT = ("indexes", "root-coord/index", "root-coord/segment-index", "root-coord/collection", "queryCoord-segmentMeta", "queryCoord-collectionMeta", "queryCoord-ReplicaMeta")
TOMBSTONE = b"\xe2\x9b\xbc"
DISTRIBUTION = "/milvus.proto.query.QueryNode/GetDataDistribution"


def keys(etcd, root):
    command = ["etcdctl", "--endpoints", etcd, "--command-timeout", "60s", "get", "--prefix", root + "/", "-w", "json"]
    answer = json.loads(subprocess.run(command, capture_output=True, check=True, env={"PATH": os.environ["PATH"], "ETCDCTL_API": "3"}).stdout)
    found = [(base64.b64decode(k["key"]).decode(), base64.b64decode(k.get("value", ""))) for k in answer.get("kvs", [])]
    return answer["header"]["revision"], found


def distribution(address, node):
    with grpc.insecure_channel(address) as channel:
        call = channel.unary_unary(DISTRIBUTION, request_serializer=lambda x: x, response_deserializer=lambda x: x)
        answer = Message(call(put_bytes(1, put_int(5, node)), timeout=3))
    leaders = {}
    for data in answer.all(5):
        view = Message(data)
        growing = sorted(Message(entry).int(1) for entry in view.all(5))
        leaders[view.text(2)] = {"growing": [str(g) for g in growing], "growing_rows": view.int(7), "target": view.int(6)}
    status = Message(answer.bytes(1))
    return {
        "error": status.text(2) if status.int(3) else "",
        "sealed": sorted(str(Message(data).int(1)) for data in answer.all(3)),
        "leaders": leaders,
    }


def take(etcd, root="by-dev"):
    now = time.time()
    revision, found = keys(etcd, root)
    state = {"at": now, "revision": revision, "names": {}, "sessions": {}, "checkpoints": {}, "segments": {}, "indexes": {}, "loaded": [], "collections": [], "config": {}, "nodes": {}}
    state["old_keys"] = sum(key.startswith(tuple(f"{root}/meta/{k}/" for k in OLD_LAYOUT)) for key, _ in found)
    for key, value in found:
        parts = key.split("/")
        if "/meta/session/" in key and parts[-1] != "id":
            session = json.loads(value)
            state["sessions"][parts[-1]] = {"id": session["ServerID"], "address": session["Address"], "stopping": bool(session.get("Stopping"))}
        elif "/datacoord-meta/channel-cp/" in key:
            at = (Message(value).int(4) >> 18) / 1000
            state["checkpoints"][parts[-1]] = round(now - at, 1) if at > 0 else None
        elif "/datacoord-meta/s/" in key:
            s = Message(value)
            state["segments"][parts[-1]] = {"collection": parts[-3], "state": SEGMENT_STATES.get(s.int(6), str(s.int(6))), "rows": s.int(5), "channel": s.text(4)}
        elif "/meta/segment-index/" in key:
            s = Message(value)
            if not s.int(12):
                state["indexes"][parts[-1]] = {"segment": parts[-2], "state": INDEX_STATES.get(s.int(9), str(s.int(9)))}
        elif "/meta/querycoord-collection-loadinfo/" in key:
            state["loaded"].append(parts[-1])
        elif "/meta/root-coord/database/collection-info/" in key or "/meta/root-coord/collection/" in key:
            # What is dropped stays: in a state of its own (Dropping 2, Dropped 3), then as a tombstone.
            if value != TOMBSTONE and Message(value).int(13) < 2:
                state["collections"].append(parts[-1])
                state["names"][parts[-1]] = Message(Message(value).bytes(2)).text(1)
        elif key.startswith(root + "/config/"):
            state["config"][key[len(root) + 8 :]] = value.decode()
    for name, session in state["sessions"].items():
        if name.startswith("querynode-"):
            try:
                state["nodes"][name] = distribution(session["address"], session["id"])
            except grpc.RpcError as err:
                state["nodes"][name] = {"error": f"{err.code().name}: {err.details()}", "sealed": [], "leaders": {}}
    return state


def unrest(state):
    """What is still going on; empty if nothing is."""
    why = []
    served = collections.Counter(s for n in state["nodes"].values() for s in n["sealed"])
    segments = state["segments"]
    live = {s for s, v in segments.items() if v["state"] in ("Flushed", "Sealed", "Flushing")}
    pending = [i for i in state["indexes"].values() if i["state"] != "Finished" and i["segment"] in live]
    unserved = [s for s in live if segments[s]["collection"] in state["loaded"] and s not in served]
    stray = [s for s in served if s not in live]
    growing = {g for n in state["nodes"].values() for v in n["leaders"].values() for g in v["growing"]}
    for what, count in [
        ("indexes are not built", len(pending)),
        ("flushed segments are not served", len(unserved)),
        ("served segments are not live", len(stray)),
        ("segments are on two nodes", sum(c > 1 for c in served.values())),
        ("growing segments are no more", sum(segments.get(g, {}).get("state") != "Growing" for g in growing)),
        ("query nodes do not answer", sum(bool(n["error"]) for n in state["nodes"].values())),
        ("query nodes are stopping", sum(v["stopping"] for k, v in state["sessions"].items() if k.startswith("querynode-"))),
    ]:
        if count:
            why.append(f"{count} {what}")
    return why


def settle(etcd, quiet, timeout):
    began = since = time.time()
    before, why = None, []
    while time.time() - began < timeout:
        state = take(etcd)
        why = unrest(state)
        placed = {(name, s) for name, n in state["nodes"].items() for s in n["sealed"]}
        led = {(name, c) for name, n in state["nodes"].items() for c in n["leaders"]}
        if why or before != (placed, led):
            before, since = (placed, led), time.time()
        if time.time() - since >= quiet:
            print(f"state: quiet for {quiet:.0f} s after {time.time() - began:.0f} s: " + placement(state), file=sys.stderr)
            return state
        time.sleep(2)
    sys.exit(f"state: not settled after {timeout:.0f} s: " + ("; ".join(why) or "segments still move"))


def placement(state):
    return ", ".join(f"{name} {len(n['sealed'])} sealed {sum(len(v['growing']) for v in n['leaders'].values())} growing" for name, n in sorted(state["nodes"].items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("etcd")
    parser.add_argument("--settle", type=float)
    parser.add_argument("--timeout", type=float, default=420)
    parser.add_argument("-o", dest="out")
    args = parser.parse_args()
    state = settle(args.etcd, args.settle, args.timeout) if args.settle else take(args.etcd)
    state["unrest"] = unrest(state)
    if args.out:
        with open(args.out, "w") as out:
            json.dump(state, out, indent=1)
    elif not args.settle:
        json.dump(state, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
