#!/usr/bin/env bash
# replay.sh [SITUATION...]   what replay predicts, held against a real Milvus 2.3.5 cluster (../shared/milvus). Without one, all of them:
#
# growing  30,000 rows are indexed, GROW (40,000) grow on two query nodes. `whatif --change index`, then they are flushed and indexed.
# idle     120,000 rows searched row by row on one query node, two more are there with auto-balance off. `whatif --change balance`, then the
#          moves of `balance --plan`.
# index    60,000 rows behind IVF_FLAT on two query nodes. `whatif --change type=HNSW`, then the index is dropped and another one built.
# node     120,000 rows searched row by row on two query nodes. `whatif --change nodes=+1,balance`, then a third one is started, and the moves of
#          `balance --plan` made.
# ef       60,000 rows behind HNSW on two query nodes. `whatif --change ef=256`, then the same queries with it.
# merge    60,000 rows in 24 segments behind HNSW on one query node. `whatif --change segment-rows=60000`, then a compaction.
#
# Each query node has CPUS of a core (cgroup v1 below CGROUP, as root), given to it PERIOD microseconds by PERIOD, so that nodes and not this machine are what is
# short. Results stay in OUT/SITUATION: with what is there (before.kite, data) a prediction can be made again later. KITESCOPE names the
# binary. With TABLE=FILE the tables between the marks of that document are written anew.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab} RUN=${RUN:-${LAB:-$HOME/.cache/milvus-lab}/run}
python=$LAB/v235/bin/python
all=${OUT:-$(mktemp -d)}
mkdir -p "$all"
: "${KITESCOPE:=}"
if [ -z "$KITESCOPE" ]; then
	go build -o "$all/kitescope" ./cmd/kitescope
	KITESCOPE=$all/kitescope
fi
: "${PERIOD:=5000}" "${SESSIONS:=1,4,8}" "${ROUND:=10s}"
proxy=127.0.0.1:20130 etcd=127.0.0.1:20379
group=${CGROUP:-/sys/fs/cgroup/cpu}
data() { GROW=${GROW:-40000} "$python" -W ignore "$repo/tools/e2e/replay_data.py" $proxy "$@"; }
# Every process of this cluster has its metrics at a port of its own; the proxy does not tell its.
ks() { echo "\$ kitescope $*" >&2; "$KITESCOPE" "$@" --from etcd://$etcd --metrics-port 20131; }
storage=(--storage "$RUN/data")

# limit gives query nodes a part of a core each.
limit() {
	for n in "$@"; do
		mkdir -p "$group/kitescope-$n"
		echo "$PERIOD" >"$group/kitescope-$n/cpu.cfs_period_us"
		awk -v c="$CPUS" -v p="$PERIOD" 'BEGIN { print int(c * p) }' >"$group/kitescope-$n/cpu.cfs_quota_us"
		cat "$RUN/pid/$n.pid" >"$group/kitescope-$n/cgroup.procs"
	done
}

stop() {
	(cd "$lab" && ./stop.sh) || true
	for g in "$group"/kitescope-*; do [ -d "$g" ] && rmdir "$g"; done || true
}
trap stop EXIT

# cluster starts one with so many query nodes.
cluster() {
	stop
	(cd "$lab" && FRESH=1 QN=$1 SEGMAX=512 STORAGE=local AUTOBALANCE=false DATACOORD_ENABLECOMPACTION=true DATACOORD_COMPACTION_ENABLEAUTOCOMPACTION=false \
		DATANODE_SEGMENT_SYNCPERIOD=15 ./cluster.sh) | tail -1
}

# before measures the present cluster, keeps it, and predicts.
before() {
	local name=$1 change=$2
	shift 2
	ks replay info "$name" "${storage[@]}" --node-cores "$CPUS"
	ks replay sample "$name" "${storage[@]}" --count 2000 --k 10 --out "$out/queries.jsonl" --force "$@"
	agree "$name" before
	live "$name" before
	ks snapshot save "$out/before.kite" --live --force
	rm -rf "$out/data" && cp -r "$RUN/data" "$out/data"
	local n
	for n in ${SESSIONS//,/ }; do
		ks replay whatif "$name" "${storage[@]}" --node-cores "$CPUS" --queries "$out/queries.jsonl" --change "$change" \
			--calibrate "$out/live-before.json" --at "$n" -O "$out/whatif-$n.json" --force
	done
}

# agree holds the server's answers against the engine's, hit by hit, each query once.
agree() {
	ks replay run "$1" "${storage[@]}" --queries "$out/queries.jsonl" --target $proxy --warmup 0 --requests 500 --rounds 1 -O "$out/agree-$2.json" --force
}

live() {
	ks replay sweep "$1" "${storage[@]}" --queries "$out/queries.jsonl" --target $proxy --warmup 2s --round "$ROUND" --rounds 3 --truth none \
		--concurrency "$SESSIONS" -O "$out/live-$2.json" --force "${@:3}"
}

# moves makes those of balance --plan.
moves() {
	ks balance "$1" --plan -o json >"$out/plan.json"
	"$python" - "$out/plan.json" >"$out/calls.json" <<'P'
import json, sys
print(json.dumps([c for r in json.load(open(sys.argv[1]))["items"] for c in r["plan"]["calls"]]))
P
	"$python" -W ignore "$repo/tools/e2e/client.py" $proxy apply "$out/calls.json"
	sleep 20
}

growing() {
	CPUS=${CPUS:-0.4}
	cluster 2
	data seal
	data grow
	sleep 60 # rows get into storage
	limit querynode1 querynode2
	before load index --ef 64
	data flush
	agree load after
	live load after
}

idle() {
	CPUS=${CPUS:-0.25}
	cluster 1
	data brute
	(cd "$lab" && ./node.sh querynode2 && ./node.sh querynode3)
	sleep 15
	limit querynode1 querynode2 querynode3
	before brute balance
	moves brute
	live brute after
}

index() {
	CPUS=${CPUS:-0.4}
	cluster 2
	data ivf
	limit querynode1 querynode2
	before load type=HNSW --nprobe 16 --ef 64
	data rebuild
	agree load after
	live load after
}

node() {
	CPUS=${CPUS:-0.25}
	cluster 2
	data brute
	limit querynode1 querynode2
	before brute nodes=+1,balance
	(cd "$lab" && ./node.sh querynode3)
	sleep 15
	limit querynode3
	moves brute
	live brute after
}

ef() {
	CPUS=${CPUS:-0.4}
	cluster 2
	data graph
	limit querynode1 querynode2
	before load ef=256 --ef 64
	live load after --ef 256
}

merge() {
	CPUS=${CPUS:-0.4}
	cluster 1
	data small
	limit querynode1
	before load segment-rows=60000 --ef 64
	data compact
	agree load after
	live load after
}

for situation in "${@:-growing idle index node ef merge}"; do
	for s in $situation; do
		out=$all/$s
		mkdir -p "$out"
		(
			trap - EXIT
			case $s in
			growing | idle | index | node | ef | merge) "$s" ;;
			*)
				sed -n '2,/^set/p' "$0" | grep '^#' >&2
				exit 2
				;;
			esac
			echo "$CPUS" >"$out/cpus"
			"$KITESCOPE" replay show "$out/live-after.json" --baseline "$out/live-before.json"
			for n in ${SESSIONS//,/ }; do "$KITESCOPE" replay show "$out/whatif-$n.json"; done
		)
	done
done
python3 tools/e2e/replay_table.py "$all" ${TABLE:+"$TABLE"}
echo "results are in $all"
