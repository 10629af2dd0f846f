#!/usr/bin/env bash
# Makes the pictures of docs/PROFILES.md from the profiles in testdata, with the commands that
# stand beside them. The screenshot of the page wants Chromium and is left as it is without.
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
to=$repo/docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/kitescope" ./cmd/kitescope
kitescope() { "$work/kitescope" --quiet "$@"; }
cd testdata/profiles
mkdir -p "$to"
kitescope profile flame t3 --nodes --force -O "$to/t3-nodes.svg"
kitescope profile flame milvus-cpu-hnsw.pb.gz --force -O "$to/hnsw.svg"
kitescope profile flame milvus-cpu-hnsw.pb.gz --base milvus-cpu-flat.pb.gz --normalize --force -O "$to/diff.svg"
kitescope profile flame perf/cpp.txt --force -O "$to/perf-cpp.svg"
kitescope profile flame perf/postgres-totals.txt --force -O "$to/postgres.svg"
if command -v chromium >/dev/null; then
	kitescope profile flame milvus-cpu-hnsw.pb.gz --base milvus-cpu-flat.pb.gz --normalize -O "$work/page.html"
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1200,900 \
		--screenshot="$to/page.png" "file://$work/page.html" >"$work/chromium.log" 2>&1 || { cat "$work/chromium.log" >&2; exit 1; }
fi
