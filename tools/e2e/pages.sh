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
page nodes profile nodes testdata/profiles/t3 -o html
profile=$(find testdata/profiles -name '*.pb.gz' | sort | head -1)
page flame profile flame "$profile" -o html

[ -f "$folder/package/axe.min.js" ] || (cd "$folder" && npm pack --silent axe-core@4 >/dev/null && tar xzf axe-core-*.tgz)
go test -count=1 -tags chromium ./render/webpage -run TestPagesInBrowser -pages "$folder/pages" -axe "$folder/package/axe.min.js" -screenshots "$folder/pictures"
