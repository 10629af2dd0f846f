#!/usr/bin/env bash
# milvus.sh standalone|cluster   starts a real Milvus 2.3.5 with the scripts in
# ../shared/milvus, seeds it, asks the official client what is in it, and holds what
# kitescope shows of its etcd against that (cmd/kitescope, TestTruth). Then it
# inserts while the same etcd is followed (TestFollowsInserts). Of a cluster it also
# holds the balance against the nodes' own answers (TestBalance), adds a query node
# (TestSeesNewNode) and applies a plan through the Milvus API (TestPlan).
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab}
python=$LAB/v235/bin/python
out=$(mktemp -d)
command -v etcd >/dev/null || { echo "e2e: etcd is missing: apt-get install etcd-server etcd-client" >&2; exit 1; }

case ${1:-standalone} in
standalone)
	export DIR=$out/milvus
	trap 'bash "$lab/stop-standalone.sh" "$DIR"; rm -rf "$out"' EXIT
	bash "$lab/standalone.sh" 2.3.5 "$DIR" 22000
	proxy=127.0.0.1:22000 etcd=127.0.0.1:22002
	"$python" -W ignore "$lab/seed-versions.py" "$out/seed" "$proxy" >"$out/seed.log"
	;;
cluster)
	trap '(cd "$lab" && ./stop.sh) || true; rm -rf "$out"' EXIT
	(cd "$lab" && FRESH=1 SEED=1 SEGMAX=2 STORAGE=local ./cluster.sh) | tee "$out/cluster.log"
	grep -q '^cluster up' "$out/cluster.log"
	proxy=127.0.0.1:20130 etcd=127.0.0.1:20379
	;;
*)
	echo "usage: milvus.sh standalone|cluster" >&2
	exit 2
	;;
esac

go test -tags e2e -c -o "$out/test" ./cmd/kitescope
export KITESCOPE_E2E_FROM=etcd://$etcd KITESCOPE_E2E_TRUTH=$out/truth/truth.json
export KITESCOPE_E2E_INSERT="$python -W ignore $repo/tools/e2e/insert.py $proxy"
ask() { "$python" -W ignore "$lab/truth.py" "$out/$1" "$proxy" >"$out/$1.log"; }
facts() { "$python" -c 'import json, sys; d = json.load(open(sys.argv[1])); d.pop("captured_at"); print(json.dumps(d["dbs"], sort_keys=True))' "$out/$1/truth.json"; }

# Milvus compacts on its own for minutes after an insert. A difference counts only
# when the client says the same before and after kitescope looked.
cd cmd/kitescope
for try in 1 2 3 4 5 6 7 8; do
	ask truth
	if "$out/test" -test.v -test.run TestTruth >"$out/test.log" 2>&1; then
		grep -- '--- PASS' "$out/test.log"
		echo "e2e: kitescope and the client agree (try $try)"
		break
	fi
	ask again
	if [ "$(facts truth)" = "$(facts again)" ] || [ "$try" = 8 ]; then
		cat "$out/test.log"
		exit 1
	fi
	echo "e2e: the cluster changed during the comparison: trying again"
	sleep 30
done
"$out/test" -test.v -test.run TestFollowsInserts
[ "${1:-standalone}" = cluster ] || exit 0

client="$python -W ignore $repo/tools/e2e/client.py $proxy"
export PYTHONDONTWRITEBYTECODE=1 ETCDCTL_API=3 KITESCOPE_E2E_CLIENT=$client KITESCOPE_E2E_DISTRIBUTION="$python $lab/querynode-distribution.py"
export KITESCOPE_E2E_QUERYNODES="127.0.0.1:20160 127.0.0.1:20170 127.0.0.1:20180"
export KITESCOPE_E2E_SESSIONS="etcdctl --endpoints $etcd get --keys-only --prefix by-dev/meta/session/"
export KITESCOPE_E2E_ADDNODE="bash $lab/node.sh querynode4"
$client small
"$out/test" -test.v -test.run 'TestBalance$'
etcdctl --endpoints $etcd put by-dev/config/queryCoord/autoBalance false >/dev/null
sleep 10
"$out/test" -test.v -test.run TestSeesNewNode
"$python" "$repo/tools/e2e/state.py" $etcd --settle 20
"$out/test" -test.v -test.run TestPlan
