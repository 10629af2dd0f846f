#!/usr/bin/env bash
# Makes kitescope's own default.pgo: a trial of the loads of bench-inspect and bench-profile (tools/bench/ownload), whose
# report goes into docs/evidence/pgo.md, the examples into docs/PGO.md, between their marks. Needs Go and a quiet machine, half an hour. What an interrupted run
# left is gone on with; FRESH=1 begins anew.
set -euo pipefail
repo=$(cd "$(dirname "$0")/../.." && pwd)
cd "$repo"
export CGO_ENABLED=0 OWN="${XDG_CACHE_HOME:-$HOME/.cache}/kitescope-bench/own"
[ -z "${FRESH:-}" ] || rm -rf "$OWN" bin/pgo-trial
mkdir -p "$OWN"

go build -pgo=off -o "$OWN/kitescope" ./cmd/kitescope
go -C tools/bench build -o "$OWN/ownload" ./ownload
rm -f "$OWN/data/etcd.address"
"$OWN/ownload" -prepare "$OWN/data" >"$OWN/served" &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true' EXIT
until [ -s "$OWN/data/etcd.address" ]; do
	kill -0 "$server"
	sleep 1
done

"$OWN/kitescope" pgo trial --dir . --package ./cmd/kitescope -O bin/pgo-trial --pairs "${PAIRS:-30}" --control="${CONTROL:-15}" --write -o markdown \
	--build "go build -trimpath -ldflags='-s -w' -o {bin} {pgo} ./cmd/kitescope" \
	--load "sh -c '\$OWN/ownload -data \$OWN/data {bin}'" \
	--profile-load "sh -c '\$OWN/ownload -data \$OWN/data -profile {profile} {bin}'" >"$OWN/report.md"

# insert NAME COMMAND... puts a command and what it prints between the marks of a name.
insert() {
	local name=$1 shown
	shift
	shown=$(printf '%s ' "$@" | sed -e "s|$OWN/kitescope|kitescope|g; s|bin/pgo-trial/||g; s| *$||")
	{
		printf '```\n$ %s\n' "$shown"
		"$@" | sed -e "s|bin/pgo-trial/||g; s|$repo/||g" || true # exit codes 3 and 4 are answers
		printf '```\n'
	} | go -C tools/bench run ./insert "$repo/docs/PGO.md" "$name"
}

trial=bin/pgo-trial
cp "$trial/distributions.svg" docs/pictures/pgo-trial.svg
sed -e 's/^#/###/; s|(distributions.svg)|(../pictures/pgo-trial.svg)|' "$OWN/report.md" | go -C tools/bench run ./insert "$repo/docs/evidence/pgo.md" pgo-trial
insert pgo-judge-milvus "$OWN/kitescope" pgo judge testdata/profiles/milvus-cpu-flat.pb.gz -n 3
"$OWN/kitescope" profile merge -q --collapse --force -O "$trial/first.pb.gz" "$trial"/profiles/profile-*[13579]-a.pb.gz
"$OWN/kitescope" profile merge -q --collapse --force -O "$trial/second.pb.gz" "$trial"/profiles/profile-*[02468]-a.pb.gz
insert pgo-judge-own "$OWN/kitescope" pgo judge "$trial/first.pb.gz" "$trial/second.pb.gz" --dir . --package ./cmd/kitescope
insert pgo-pack "$OWN/kitescope" pgo pack "$trial/first.pb.gz" "$trial/second.pb.gz" -O "$trial/packed.pgo" --force
insert pgo-verify "$OWN/kitescope" pgo verify "$trial/bin/b/program" --profile "$trial/default.pgo"
insert pgo-compare "$OWN/kitescope" compare testdata/bench/milvus-pgo.md
