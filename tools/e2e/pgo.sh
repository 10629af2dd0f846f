#!/usr/bin/env bash
# pgo.sh   holds "kitescope pgo trial" and "pgo verify" against modules of others, which come from the module proxy: what
# each gains or loses is found out by hand first (pgo_hand.py: the go command, pairs in random order, a test of its own),
# then by kitescope (pgo_trial.py). The table of both goes into docs/evidence/pgo.md. It takes some two minutes for each program by
# hand and four by kitescope, on two cores.
#
# OUT=DIR keeps everything, and goes on with what is there; notes.md in it is put below the table: what was thrown away and
# measured again has to be told there. ONLY='png encoder' tries one, and leaves docs/evidence/pgo.md alone.
# PAIRS=25, SEED=1.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
out=${OUT:-}
if [ -z "$out" ]; then
	out=$(mktemp -d)
	trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
go build -o "$out/kitescope" ./cmd/kitescope
names=()
while read -r name; do
	if [ -z "${ONLY:-}" ] || [ "$ONLY" = "$name" ]; then names+=("$name"); fi
done < <(cd tools/e2e && python3 -c 'import pgo_loads; print(*(x["name"] for x in pgo_loads.LOADS), sep="\n")')
for name in "${names[@]}"; do
	[ -e "$out/$name/hand.json" ] || python3 tools/e2e/pgo_hand.py "$name" "$out/$name" "${PAIRS:-25}" "${SEED:-1}"
	[ -e "$out/$name/trial.json" ] || python3 tools/e2e/pgo_trial.py "$out/kitescope" "$name" "$out/$name" "${PAIRS:-25}" "${SEED:-1}"
done
python3 tools/e2e/pgo_table.py "$out" "${names[@]}" >"$out/table.md"
[ ! -e "$out/notes.md" ] || { echo && cat "$out/notes.md"; } >>"$out/table.md"
cat "$out/table.md"
[ -n "${ONLY:-}" ] || go -C tools/bench run ./insert ../../docs/evidence/pgo.md e2e-pgo <"$out/table.md"
