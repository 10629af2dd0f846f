#!/bin/sh
# Writes inspect/check/preflight/settings.tsv and internal/redact/settings.txt anew: the keys of Milvus's configuration
# (pkg/util/paramtable) at three releases.
#   tools/settings/settings.sh
# It needs the Go module proxy and a few minutes: each release is compiled once.
set -eu
home=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for version in v2/2.5.14 v2/2.6.22 v3/3.0.1; do
	major=${version%%/*} number=${version##*/}
	mkdir "$work/$number" && cd "$work/$number"
	printf 'module keys\n\ngo 1.26\n\nrequire github.com/milvus-io/milvus/pkg/%s v%s\n' "$major" "$number" >go.mod
	sed "s|PARAMTABLE|github.com/milvus-io/milvus/pkg/$major/util/paramtable|" "$home/keys.go.txt" >main.go
	GOFLAGS=-mod=mod go mod tidy
	GOFLAGS=-mod=mod CGO_ENABLED=0 go run . >"$work/$number.json"
done
for out in settings.tsv settings.txt; do
	text= && [ "$out" = settings.tsv ] || text=-text
	go run -C "$home/.." ./settings $text "$work/2.5.14.json" "$work/2.6.22.json" "$work/3.0.1.json" >"$work/$out"
done
cp "$work/settings.tsv" "$home/../../inspect/check/preflight/settings.tsv"
cp "$work/settings.txt" "$home/../../internal/redact/settings.txt"
