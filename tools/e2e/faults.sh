#!/usr/bin/env bash
# faults.sh [SCENARIO...]   breaks a real Milvus 2.3.5 cluster, started with the scripts
# in ../shared/milvus, in one way after the other, and asks kitescope each time what is
# wrong. What it said is judged by TestFaults (cmd/kitescope), which also writes the
# table of docs/evidence/diagnosis.md if all scenarios ran. About an hour on two cores.
#
#   KEEP=DIR            keeps everything that was written, and a bundle of each look
#   BIRDWATCHER=FILE    asks a birdwatcher 1.1.1 too
#   RUNNING=1           takes the cluster that runs, without starting it anew
#   KITESCOPE=FILE      takes that binary instead of building one
#
# testdata/broken holds bundles of such a run, made with KEEP and LAB=/opt/milvus-labs (the
# lab's path is told in answers). TestBroken judges them in the same way, without a cluster.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab} PYTHONDONTWRITEBYTECODE=1
python=$LAB/v235/bin/python
proxy=127.0.0.1:20130 etcd=127.0.0.1:20379
out=${KEEP:-$(mktemp -d)}
mkdir -p "$out"
out=$(cd "$out" && pwd)
for tool in etcd etcdctl java mvn curl; do
	command -v $tool >/dev/null || { echo "e2e: $tool is missing; see ../shared/milvus/README.md" >&2; exit 1; }
done

finish() {
	(cd "$lab" && ./stop.sh) >/dev/null 2>&1 || true
	[ ! -f "$LAB/old/pid" ] || bash "$lab/stop-standalone.sh" "$LAB/old" >/dev/null 2>&1 || true
	[ -n "${KEEP:-}" ] || rm -rf "$out"
}
trap finish EXIT

# Milvus takes every variable of its environment for a configuration key, and tells
# all of them to whoever asks: it gets only what it needs.
clean() { env -i PATH="$PATH" HOME="$HOME" LAB="$LAB" STORAGE=local PYTHONDONTWRITEBYTECODE=1 "$@"; }
client() { clean "$python" -W ignore "$repo/tools/e2e/client.py" "$proxy" "$@"; }
state() { clean "$python" "$repo/tools/e2e/state.py" "$etcd" "$@"; }
settle() { state --settle "${1:-45}" --timeout "${2:-480}" -o "$out/settled.json"; }
put() { ETCDCTL_API=3 etcdctl --endpoints $etcd put "$@" >/dev/null; }
del() { ETCDCTL_API=3 etcdctl --endpoints $etcd del "$@" >/dev/null; }
node() { (cd "$lab" && clean "${@:2}" ./node.sh "$1"); }
stop() { (cd "$lab" && GRACE=${GRACE:-120} ./stop.sh "$@"); }
pid() { cat "$LAB/run/pid/$1.pid"; }

# serving NODE waits until a process of the lab is healthy.
serving() {
	local port
	port=$(cd "$lab" && . ./ports.env && echo "${METR[$1]}")
	for _ in $(seq 120); do
		[ "$(curl -s -m 2 "http://127.0.0.1:$port/healthz" || true)" != OK ] || return 0
		sleep 0.5
	done
	echo "e2e: $1 is not healthy" >&2
	return 1
}

up() {
	(cd "$lab" && ./stop.sh) >/dev/null 2>&1 || true
	(cd "$lab" && clean FRESH=1 SEED=1 SEGMAX=2 AUTOBALANCE=true ./cluster.sh) >"$out/cluster.log" 2>&1
	grep '^cluster up' "$out/cluster.log"
	client flush
	settle 60 600
}

# look NAME   what is wrong now, as each tool sees it, and what is the case.
look() {
	local code=0
	clean "$python" "$repo/tools/e2e/state.py" "${3:-$etcd}" -o "$out/$1.state.json" || true
	clean "$out/kitescope" diagnose --from "${2:-etcd://$etcd/by-dev}" -o json >"$out/$1.json" 2>"$out/$1.err" || code=$?
	echo $code >"$out/$1.exit"
	if [ -n "${BIRDWATCHER:-}" ]; then
		for command in healthz-check explain-balance; do
			(cd "$out" && HOME=$out clean timeout 60 "$BIRDWATCHER" -olc "connect --etcd ${3:-$etcd} --rootPath by-dev,$command,exit") >"$out/$1.$command.txt" 2>&1 || true
		done
	fi
	clean "$out/kitescope" snapshot save --live --force -q --from "${2:-etcd://$etcd/by-dev}" "$out/$1.kite" || true
	echo "e2e: looked: $1 (exit $code)"
}

# Some scenarios go on from the one before: a node that comes back costs minutes until
# the balancer has come to rest.

scenario_healthy_idle() { look healthy-idle; }

# querynode3 comes back with settings of its own.
scenario_other_config() {
	stop querynode3
	node querynode3 QUERYNODE_SCHEDULER_CPURATIO=1 QUERYNODE_SCHEDULER_MAXREADCONCURRENTRATIO=4
	serving querynode3
	settle
	look other-config
}

# It is told to stop, and comes back as it was.
scenario_sigterm() {
	clean "$python" -W ignore "$lab/probe.py" 30 items_hnsw_l2 >"$out/sigterm-probe.log" 2>&1 &
	local probe=$!
	sleep 2
	kill -TERM "$(pid querynode3)"
	sleep 1
	look sigterm-during
	wait $probe || true
	while kill -0 "$(pid querynode3)" 2>/dev/null; do sleep 1; done
	sleep 60
	look sigterm-after
	node querynode3
	serving querynode3
	settle
}

# querynode2 dies. Two nodes are left.
scenario_kill() {
	clean "$python" -W ignore "$lab/probe.py" 75 items_hnsw_l2 >"$out/killed-probe.log" 2>&1 &
	local probe=$! at
	sleep 2
	at=$SECONDS
	kill -9 "$(pid querynode2)"
	sleep 5
	look killed-5s
	sleep $((60 - (SECONDS - at)))
	look killed-60s
	wait $probe || true
	settle 30
}

# A third one joins them, and nothing is moved to it.
scenario_node_idle() {
	put by-dev/config/queryCoord/autoBalance false
	sleep 10
	node querynode4
	serving querynode4
	sleep 150
	look node-idle
	del by-dev/config/queryCoord/autoBalance
	settle
}

scenario_no_index() {
	stop indexnode
	client no-index
	sleep 200
	look no-index
	node indexnode
	serving indexnode
	client drop no_index
	settle
}

scenario_dropped() {
	client dropped
	sleep 60
	look dropped
}

scenario_unflushed() {
	client small
	sleep 240
	look unflushed
	client flush
	settle 30
}

scenario_healthy_load() {
	client insert 170 &
	local inserts=$! n
	clean "$python" -W ignore "$lab/search-load.py" $proxy 170 4 items_hnsw_l2 docs_hnsw_cos users_flat_ip logs_ivf_l2 >"$out/search.log" 2>&1 &
	local searches=$!
	for n in 1 2 3; do
		sleep 45
		look healthy-load-$n
	done
	wait $inserts $searches
}

# One partition of a loaded collection is released by hand, which is no fault.
scenario_partition_released() {
	client release-partition items_hnsw_l2 d20240104
	sleep 30
	look partition-released
	client reload items_hnsw_l2
	settle 30
}

# A query node dies with QueryCoord, which forgets it: the resource group in etcd does not.
scenario_group_names_lost_node() {
	kill -9 "$(pid querynode3)" "$(pid querycoord)"
	sleep 5
	node querycoord
	serving querycoord
	settle 60
	look group-names-lost-node
	node querynode3
	serving querynode3
	settle
}

# Each coordinator dies, and its session ends; all that ended itself meanwhile is started again.
scenario_coordinators() {
	local role p
	for role in querycoord rootcoord datacoord; do
		kill -9 "$(pid $role)"
		sleep 35
		look $role-gone
		for p in rootcoord datacoord querycoord proxy datanode indexnode querynode1 querynode3; do
			kill -0 "$(pid $p)" 2>/dev/null || { node $p && serving $p; }
		done
		settle 30
	done
}

scenario_kafka() {
	kill -9 "$(pid kafka)"
	sleep 60
	look kafka-down
}

# The metadata that Milvus 2.1.0 wrote, under a server of 2.3.5.
scenario_old_metadata() {
	(cd "$lab" && ./stop.sh) >/dev/null 2>&1 || true
	local dir=$LAB/old base=20040
	rm -rf "$dir" "$out/old.db"
	mkdir -p "$dir"
	gzip -dc "$repo/testdata/snapshots/standalone-2.1.0/etcd_snapshot.db.gz" >"$out/old.db"
	ETCDCTL_API=3 etcdctl snapshot restore "$out/old.db" --data-dir "$dir/etcd" --name default --initial-cluster default=http://127.0.0.1:$((base + 12)) \
		--initial-advertise-peer-urls http://127.0.0.1:$((base + 12)) >/dev/null 2>&1
	# Its coordinators take over when the sessions in the snapshot have expired; its proxy never gets
	# healthy, for which a minute is waited.
	clean WAIT=120 bash "$lab/standalone.sh" 2.3.5 "$dir" $base
	sleep 60
	look old-metadata etcd://127.0.0.1:$((base + 2))/by-dev 127.0.0.1:$((base + 2))
	bash "$lab/stop-standalone.sh" "$dir"
}

all="healthy_idle other_config sigterm kill node_idle no_index dropped unflushed healthy_load partition_released group_names_lost_node coordinators kafka old_metadata"
chosen=${*:-$all}
if [ -n "${KITESCOPE:-}" ]; then
	cp "$KITESCOPE" "$out/kitescope"
else
	CGO_ENABLED=0 go build -o "$out/kitescope" ./cmd/kitescope
fi
[ "$chosen" = old_metadata ] || [ -n "${RUNNING:-}" ] || up
for s in $chosen; do
	echo "e2e: scenario $s"
	"scenario_$s"
done
report=
[ "$chosen" != "$all" ] || report=$repo/docs/evidence/diagnosis.md
KITESCOPE_FAULTS=$out KITESCOPE_FAULTS_REPORT=$report go test -tags e2efaults -count 1 -v -run TestFaults ./cmd/kitescope
