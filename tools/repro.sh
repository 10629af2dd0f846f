#!/usr/bin/env bash
# Builds the released binary twice, in two copies of the tree under different paths, each with an empty build cache,
# and compares the bytes: what is built follows from the sources alone.
set -euo pipefail
repo=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

for copy in first a-longer/second; do
	mkdir -p "$scratch/$copy"
	git -C "$repo" ls-files -z --cached --others --exclude-standard | (cd "$repo" && tar --null -T - -cf -) | tar -C "$scratch/$copy" -xf -
	GOCACHE="$scratch/cache-${copy##*/}" make -C "$scratch/$copy" build BIN="$scratch/$copy/bin"
	rm -rf "$scratch/cache-${copy##*/}"
	(cd "$scratch/$copy/bin" && sha256sum kitescope && go version -m kitescope | grep -E 'build.-pgo' || true)
done
cmp "$scratch/first/bin/kitescope" "$scratch/a-longer/second/bin/kitescope"
echo "bit-identical: $(wc -c <"$scratch/first/bin/kitescope") bytes"
