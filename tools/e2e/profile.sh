#!/usr/bin/env bash
# profile.sh   starts a real Milvus 2.3.5 cluster with the scripts in ../shared/milvus, with a
# fourth query node on which nothing is loaded, searches it, and pulls profiles of all processes
# (cmd/kitescope, TestPullsCluster): each process once, over the same window, as much CPU as
# the kernel counted for it, and one of them while somebody else profiles it. OUT=DIR keeps them.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab}
python=$LAB/v235/bin/python
out=$(mktemp -d)
load=
trap '[ -z "$load" ] || kill "$load" 2>/dev/null || true; (cd "$lab" && ./stop.sh) || true; rm -rf "$out"' EXIT
command -v etcd >/dev/null || { echo "e2e: etcd is missing: apt-get install etcd-server etcd-client" >&2; exit 1; }

go test -tags e2e -c -o "$out/test" ./cmd/kitescope
(cd "$lab" && FRESH=1 SEED=1 SEGMAX=2 STORAGE=local AUTOBALANCE=false ./cluster.sh) | tee "$out/cluster.log"
grep -q '^cluster up' "$out/cluster.log"
(cd "$lab" && bash ./node.sh querynode4)
run=$(cd "$lab" && . ./ports.env && echo "$RUN")
for _ in $(seq 120); do
	[ "$(curl -s -m 2 http://127.0.0.1:20191/healthz)" = OK ] && break
	sleep 0.5
done

"$python" -W ignore "$lab/search-load.py" 127.0.0.1:20130 120 3 items_hnsw_l2 docs_hnsw_cos users_flat_ip logs_ivf_l2 >"$out/load.log" 2>&1 &
load=$!
sleep 10
kill -0 "$load" || { cat "$out/load.log" >&2; exit 1; }

pids=
while read -r name port; do pids="$pids $port=$(cat "$run/pid/$name.pid")"; done <<-PORTS
	rootcoord 20101
	datacoord 20111
	querycoord 20121
	proxy 20131
	datanode 20141
	indexnode 20151
	querynode1 20161
	querynode2 20171
	querynode3 20181
	querynode4 20191
PORTS
export KITESCOPE_E2E_FROM=etcd://127.0.0.1:20379 KITESCOPE_E2E_PIDS="$pids" KITESCOPE_E2E_PROXY=20131 KITESCOPE_E2E_IDLE=20191 KITESCOPE_E2E_OUT=${OUT:+$(realpath -m "$OUT")}
cd cmd/kitescope
"$out/test" -test.v -test.run 'TestPullsCluster$'
