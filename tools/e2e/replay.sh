#!/usr/bin/env bash
# replay.sh growing|idle   what replay predicts, held against a real Milvus 2.3.5 cluster (../shared/milvus):
#
# growing  30,000 rows are indexed, GROW (40,000) grow. The engine's answers against Milvus's, hit by hit; what `whatif --change index`
#          says; then the rows are flushed and indexed, and the same load is measured again.
# idle     120,000 rows searched row by row on one query node, two more are added with auto-balance off. What
#          `whatif --change balance` says; then the moves of `balance --plan` are made, and the load is measured again. Each
#          query node has CPUS of a core (cgroup v1 below CGROUP, as root), so that nodes and not this machine are what is short.
#
# Results stay in OUT. KITESCOPE names the binary.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab} RUN=${RUN:-${LAB:-$HOME/.cache/milvus-lab}/run}
python=$LAB/v235/bin/python
out=${OUT:-$(mktemp -d)}
mkdir -p "$out"
: "${KITESCOPE:=}"
if [ -z "$KITESCOPE" ]; then
	go build -pgo=auto -o "$out/kitescope" ./cmd/kitescope
	KITESCOPE=$out/kitescope
fi
proxy=127.0.0.1:20130 etcd=127.0.0.1:20379
data() { GROW=${GROW:-40000} "$python" -W ignore "$repo/tools/e2e/replay_data.py" $proxy "$1"; }
ks() { echo "\$ kitescope $*" >&2; "$KITESCOPE" "$@" --from etcd://$etcd; }
storage=(--storage "$RUN/data")
group=${CGROUP:-/sys/fs/cgroup/cpu}

# limit gives a query node a part of a core.
limit() {
	mkdir -p "$group/kitescope-$1"
	echo 20000 >"$group/kitescope-$1/cpu.cfs_period_us"
	awk -v c="$CPUS" 'BEGIN { print int(c * 20000) }' >"$group/kitescope-$1/cpu.cfs_quota_us"
	cat "$RUN/pid/$1.pid" >"$group/kitescope-$1/cgroup.procs"
}

stop() {
	(cd "$lab" && ./stop.sh) || true
	for g in "$group"/kitescope-*; do [ -d "$g" ] && rmdir "$g"; done || true
}
trap stop EXIT

# keep saves the cluster and its files, so that a prediction can be made again later: replay whatif --from OUT/before.kite --storage OUT/data.
keep() {
	ks snapshot save "$out/before.kite" --live --force
	rm -rf "$out/data" && cp -r "$RUN/data" "$out/data"
}

live=(--target $proxy --warmup 2s --round 10s --rounds 3 --truth none)
case ${1:-} in
growing)
	: "${CPUS:=0.4}"
	(cd "$lab" && FRESH=1 QN=2 SEGMAX=512 STORAGE=local AUTOBALANCE=false DATACOORD_ENABLECOMPACTION=false DATANODE_SEGMENT_SYNCPERIOD=15 ./cluster.sh) | tail -1
	data seal
	data grow
	sleep 60 # rows get into storage
	for n in querynode1 querynode2; do limit $n; done
	ks replay info load "${storage[@]}" --node-cores "$CPUS"
	ks replay sample load "${storage[@]}" --count 2000 --k 10 --ef 64 --out "$out/queries.jsonl" --force
	ks replay run load "${storage[@]}" --queries "$out/queries.jsonl" -O "$out/engine-before.json" --force
	ks replay run load "${storage[@]}" --queries "$out/queries.jsonl" --target $proxy --warmup 0 --requests 2000 --rounds 1 -O "$out/agree-before.json" --force
	ks replay sweep load "${storage[@]}" --queries "$out/queries.jsonl" "${live[@]}" --concurrency 1,2,4,8 -O "$out/live-before.json" --force
	keep
	ks replay whatif load "${storage[@]}" --node-cores "$CPUS" --queries "$out/queries.jsonl" --change index --calibrate "$out/live-before.json" --concurrency 1,2,4,8 -O "$out/whatif.json" --force
	data flush
	ks replay info load "${storage[@]}" --node-cores "$CPUS"
	ks replay run load "${storage[@]}" --queries "$out/queries.jsonl" --target $proxy --warmup 0 --requests 2000 --rounds 1 -O "$out/agree-after.json" --force
	ks replay run load "${storage[@]}" --queries "$out/queries.jsonl" -O "$out/engine-after.json" --force
	;;
idle)
	: "${CPUS:=0.25}"
	(cd "$lab" && FRESH=1 QN=1 SEGMAX=512 STORAGE=local AUTOBALANCE=false DATACOORD_ENABLECOMPACTION=false ./cluster.sh) | tail -1
	data brute
	(cd "$lab" && ./node.sh querynode2 && ./node.sh querynode3)
	sleep 15
	for n in querynode1 querynode2 querynode3; do limit $n; done
	ks replay info brute "${storage[@]}" --node-cores "$CPUS"
	ks replay sample brute "${storage[@]}" --count 2000 --k 10 --out "$out/queries.jsonl" --force
	ks replay run brute "${storage[@]}" --queries "$out/queries.jsonl" --target $proxy --warmup 0 --requests 500 --rounds 1 -O "$out/agree-before.json" --force
	ks replay sweep brute "${storage[@]}" --queries "$out/queries.jsonl" "${live[@]}" --concurrency 1,2,4,8 -O "$out/live-before.json" --force
	keep
	ks replay whatif brute "${storage[@]}" --queries "$out/queries.jsonl" --node-cores "$CPUS" --change balance --calibrate "$out/live-before.json" --concurrency 1,2,4,8 -O "$out/whatif.json" --force
	ks balance brute --plan -o json >"$out/plan.json"
	"$python" - "$out/plan.json" >"$out/calls.json" <<'P'
import json, sys
print(json.dumps([c for r in json.load(open(sys.argv[1]))["items"] for c in r["plan"]["calls"]]))
P
	"$python" -W ignore "$repo/tools/e2e/client.py" $proxy apply "$out/calls.json"
	sleep 30
	ks replay info brute "${storage[@]}" --node-cores "$CPUS"
	;;
*)
	echo "usage: replay.sh growing|idle" >&2
	exit 2
	;;
esac
name=load
[ "$1" = idle ] && name=brute
ks replay sweep $name "${storage[@]}" --queries "$out/queries.jsonl" "${live[@]}" --concurrency 1,2,4,8 -O "$out/live-after.json" --force
"$KITESCOPE" replay show "$out/live-after.json" --baseline "$out/live-before.json"
"$KITESCOPE" replay show "$out/whatif.json"
"$KITESCOPE" replay report "$out/live-before.json" "$out/live-after.json" "$out/whatif.json" --out "$out/replay.html" --force
echo "results are in $out"
