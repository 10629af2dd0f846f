"""record-profiles.py SESSIONS.json PROFILES OUT

Makes a folder as `kitescope profile pull` does of profiles that were taken by hand: files
called PROCESS.KIND.pb.gz in the folder PROFILES, of the processes of a lab cluster, whose
sessions SESSIONS.json has. The files are copied byte for byte; what the manifest says of them
is what the profiles say themselves.

cmd/kitescope/demo.kite was made so, of the capture with four query nodes (cluster-2.3.5-t7):

    cd testdata/snapshots/cluster-2.3.5-t7
    python3 ../../../tools/e2e/record-profiles.py sessions.json CAPTURE/pprof ../profiles
    kitescope snapshot save demo.kite --from etcd_snapshot.db.gz --runtime runtime.jsonl.gz --runtime metrics --profiles ../profiles
"""

import gzip
import hashlib
import json
import os
import re
import sys
from datetime import datetime, timezone

from wire import fields

# gRPC port of each process in the lab; its HTTP server is at the next one, the proxy's before its
# internal port (20132).
PORTS = {
    20100: "rootcoord", 20110: "datacoord", 20120: "querycoord", 20132: "proxy", 20140: "datanode", 20150: "indexnode",
    20160: "querynode1", 20170: "querynode2", 20180: "querynode3", 20190: "querynode4",
}
HTTP = {"proxy": 20131}
NAME = re.compile(r"([a-z]+[0-9]*)\.(cpu|heap|goroutine)\.pb\.gz$")


def said(data):
    """When a profile was taken, for how long (profile.proto: 9, 10), and of which build (mapping 3, build_id 6)."""
    taken = lasted = 0
    mapping, strings = None, []
    for number, kind, value, _ in fields(data):
        if number == 9 and kind == 0:
            taken = value
        elif number == 10 and kind == 0:
            lasted = value
        elif number == 3 and mapping is None:
            mapping = {n: v for n, k, v, _ in fields(value) if k == 0}
        elif number == 6:
            strings.append(value)
    build = strings[mapping.get(6, 0)].decode() if mapping else ""
    return taken, lasted, build


def moment(ns):
    at = datetime.fromtimestamp(ns // 10**9, timezone.utc)
    return at.strftime("%Y-%m-%dT%H:%M:%S") + f".{ns % 10**9:09d}Z"


def processes(sessions):
    found = {}
    for session in sessions.values():
        if not isinstance(session, dict):
            continue
        port = int(session["Address"].rsplit(":", 1)[1])
        name = PORTS[port]
        p = found.setdefault(name, {"roles": [], "id": str(session["ServerID"]), "version": session["Version"]})
        p["roles"].append(session["ServerName"])
        p["address"] = "127.0.0.1:%d" % HTTP.get(name, port + 1)
    return found


def main():
    with open(sys.argv[1]) as f:
        found = processes(json.load(f))
    source, target = sys.argv[2:4]
    os.mkdir(target)
    entries = []
    for name in sorted(os.listdir(source)):
        match = NAME.match(name)
        if not match:
            continue
        p, kind = found[match[1]], match[2]
        role = re.sub("[0-9]+$", "", match[1])
        node = "%s-%s" % (role, p["id"])
        with open(os.path.join(source, name), "rb") as f:
            packed = f.read()
        taken, lasted, build = said(gzip.decompress(packed))
        file = "%s.%s.pb.gz" % (node, kind)
        with open(os.path.join(target, file), "wb") as f:
            f.write(packed)
        entry = {
            "node": node, "roles": sorted(p["roles"]), "node_ids": [p["id"]], "address": p["address"],
            "url": "http://%s/debug/pprof/%s" % (p["address"], "profile" if kind == "cpu" else kind),
            "milvus_version": p["version"], "build_id": build, "kind": kind, "from": moment(taken), "to": moment(taken + lasted),
            "file": file, "bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest(), "profile_time": moment(taken),
            "outcome": "ok", "attempts": 1,
        }
        if lasted:
            entry["seconds"] = round(lasted / 10**9)
            entry["profile_seconds"] = lasted / 10**9
        entries.append(entry)
    times = [e["from"] for e in entries]
    manifest = {
        "format": "kitescope-profiles", "version": 1, "root": "by-dev", "started": min(times), "ended": max(e["to"] for e in entries),
        "seconds": max(e.get("seconds", 0) for e in entries), "profiles": entries,
    }
    with open(os.path.join(target, "manifest.json"), "w") as f:
        json.dump(manifest, f, indent=2)
        f.write("\n")
    print(len(entries), "profiles of", len({e["node"] for e in entries}), "processes")


main()
