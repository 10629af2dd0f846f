#!/usr/bin/env bash
# All kinds of pages that kitescope writes, looked at in a headless Chromium: axe-core finds nothing, none scrolls sideways at 375
# pixels, none fetches anything. Needs chromium and npm, which brings axe-core.
#
#   tools/e2e/pages.sh [FOLDER]    keeps the pages and pictures of them there
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:-$(mktemp -d)}
mkdir -p "$folder/pages" "$folder/pictures"
folder=$(cd "$folder" && pwd)
rm -f "$folder"/pages/*.html
go build -o "$folder/kitescope" ./cmd/kitescope
ks() { "$folder/kitescope" "$@"; }
page() { # NAME COMMAND...: findings are no failure
	local name=$1
	shift
	local code=0
	ks "$@" >"$folder/pages/$name.html" || code=$?
	[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || { echo "kitescope $*: exit $code" >&2; return 1; }
}

broken=testdata/broken
for bundle in "$broken"/*.kite; do
	page "report-$(basename "$bundle" .kite)" report --from "$bundle"
done
page report-demo report --from demo://
page diagnose diagnose --from "$broken/node-idle.kite" -o html
page diagnose-file diagnose --from "$broken/killed-60s.kite" --live=false -o html
page balance balance --plan --from "$broken/node-idle.kite" -o html
page latency latency --from "$broken/healthy-load-1.kite" -o html
page segments get segments --from "$broken/healthy-load-1.kite" -o html
page compare compare testdata/bench/webp-pgo/before.txt testdata/bench/webp-pgo/after.txt -o html
page top profile top testdata/profiles/milvus-cpu-hnsw.pb.gz -o html
profile=$(find testdata/profiles -name '*.pb.gz' | sort | head -1)
page flame profile flame "$profile" -o html
page flame-diff profile flame --base testdata/profiles/milvus-cpu-flat.pb.gz testdata/profiles/milvus-cpu-hnsw.pb.gz -o html
page judge pgo judge testdata/profiles/t3 -o html
page why why --from "$broken/healthy-load-1.kite" -o html
page history history --from testdata/snapshots/cluster-2.3.5-t1/etcd_snapshot.db.gz -n 40 -o html
page diff diff "$broken/healthy-load-1.kite" "$broken/node-idle.kite" -o html

# A replay, and what it predicts, of the vectors that are in the repository.
rm -rf "$folder/replay"
mkdir "$folder/replay"
from=testdata/snapshots/standalone-2.3.5/etcd_snapshot.db.gz
store=(--from "$from" --storage testdata/storage/2.3.5 --queries "$folder/replay/queries.jsonl")
ks replay sample hnsw_l2_parts --from "$from" --storage testdata/storage/2.3.5 -n 12 -k 3 --out "$folder/replay/queries.jsonl"
ks replay run hnsw_l2_parts "${store[@]}" --requests 24 --rounds 2 --warmup 0s --out "$folder/replay/run.json" >/dev/null
ks replay whatif hnsw_l2_parts "${store[@]}" --change ef=128 --out "$folder/replay/whatif.json" >/dev/null
page replay replay report "$folder/replay/run.json" "$folder/replay/whatif.json"
page report-replay report --from "$broken/node-idle.kite" --replay "$folder/replay/run.json" --replay "$folder/replay/whatif.json"

[ -f "$folder/package/axe.min.js" ] || (cd "$folder" && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz)
go test -count=1 -tags chromium ./render/webpage -run TestPagesInBrowser -pages "$folder/pages" -axe "$folder/package/axe.min.js" -screenshots "$folder/pictures"
