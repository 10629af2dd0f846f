#!/bin/bash
# Records profiles of programs that are not Go, as a person would, and opens them with kitescope:
#
#   tools/e2e/perf.sh [-r] [cpp] [postgres] [java]
#
# cpp       a C++ program with a stripped library, which is given its names back
# postgres  a PostgreSQL of this machine under two loads
# java      a Java Flight Recording
#
# Without -r it works in a temporary folder. With -r it writes the recordings that the tests
# read, into testdata/profiles, each below 1 MB.
#
# Wants perf, g++, binutils; postgresql and a user postgres; a JDK. Run it as root, or where
# kernel.perf_event_paranoid lets perf sample other users' processes. Programs are built in
# /opt/bench, so that recordings name the same paths wherever they are made.
set -euo pipefail

repo=$(cd "$(dirname "$0")/../.." && pwd)
source=$repo/tools/e2e/profiled
record=
if [ "${1-}" = -r ]; then
	record=1
	shift
fi
[ $# -gt 0 ] || set -- cpp postgres java

work=$(mktemp -d)
bench=/opt/bench
server=
cleanup() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	rm -rf "$work"
}
trap cleanup EXIT
out=$work/out
mkdir -p "$out/perf" "$out/jfr" "$bench"

say() { printf '\n== %s\n' "$*"; }
fail() {
	echo "perf.sh: $*" >&2
	exit 1
}

# Software clocks need no counters of the processor, which virtual machines mostly lack.
clock() { perf record -q -e cpu-clock "$@"; }

# period FILE is the sum of periods of a perf script, added up by awk.
period() { awk '/ cpu-clock: *$/ { s += $(NF - 1) } END { printf "%.0f", s }' "$1"; }

cpp() {
	say "C++: a program with a stripped library"
	local flags="-std=c++17 -O2 -g -fno-omit-frame-pointer -ffile-prefix-map=$source=/usr/src/bench"
	(
		cd "$bench"
		g++ $flags -fPIC -shared -Wl,--build-id -o libdistance.so "$source/distance.cpp"
		strip libdistance.so
		g++ $flags -Wl,--build-id -pthread -o index "$source/index.cpp" -L. -ldistance -Wl,-rpath,'$ORIGIN'
		clock -F 199 -g -o "$work/cpp.data" ./index 6
	)
	{
		perf buildid-list -i "$work/cpp.data"
		perf script -i "$work/cpp.data" --show-mmap-events
	} >"$out/perf/cpp.txt"
	perf script -i "$work/cpp.data" -G -F comm,pid,tid,cpu,time,event,ip,sym,dso,period >"$out/perf/cpp-flat.txt" 2>/dev/null ||
		perf script -i "$work/cpp.data" -G >"$out/perf/cpp-flat.txt"
	perf report -i "$work/cpp.data" --stdio --no-children -g none --percent-limit 0 2>/dev/null >"$out/perf/cpp-report.txt"
	echo "sum of periods: $(period "$out/perf/cpp.txt") ns"
}

# load NAME SQL... runs pgbench for some seconds and records the server meanwhile.
load() {
	local name=$1
	shift
	"$pg/pgbench" -n -h "$work/pg" -U postgres -c 2 -T 8 "$@" bench >"$work/$name.out" 2>&1 &
	local bencher=$!
	sleep 1
	# perf gives up when a process of the user ends while it looks for them.
	local try=0
	until clock -F 199 -u postgres --call-graph dwarf,8192 -o "$work/$name.data" -- sleep 4 2>"$work/perf.err"; do
		try=$((try + 1))
		[ "$try" -lt 5 ] || fail "perf record: $(head -n 1 "$work/perf.err")"
	done
	wait "$bencher" || fail "pgbench: $(tail -n 3 "$work/$name.out")"
	grep -E '^tps' "$work/$name.out"
	perf script -i "$work/$name.data" --no-inline -F comm,tid,time,event,ip,sym,dso,period 2>/dev/null >"$work/$name.txt"
	# What is kept is cut behind a sample.
	awk -v most=400000 '{ size += length($0) + 1 } size > most && /^$/ { exit } { print } size > most + 50000 { exit }' "$work/$name.txt" >"$out/perf/postgres-$name.txt"
	echo "sum of periods: $(period "$out/perf/postgres-$name.txt") ns in what is kept, $(period "$work/$name.txt") in all"
}

postgres() {
	say "PostgreSQL under two loads"
	pg=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
	install -d -o postgres -m 755 "$work/pg"
	chmod 755 "$work"
	local as="runuser -u postgres --"
	$as "$pg/initdb" -D "$work/pg/data" -A trust >"$work/initdb.out"
	$as "$pg/postgres" -D "$work/pg/data" -k "$work/pg" -c listen_addresses= -c fsync=off >"$work/server.out" 2>&1 &
	server=$!
	for _ in $(seq 50); do
		"$pg/pg_isready" -q -h "$work/pg" && break
		sleep 0.2
	done
	"$pg/createdb" -h "$work/pg" -U postgres bench
	"$pg/pgbench" -h "$work/pg" -U postgres -q -i -s 5 bench 2>/dev/null
	load lookups -S
	echo 'SELECT bid, count(*), avg(abalance), max(md5(filler)) FROM pgbench_accounts WHERE aid % 7 <> 0 GROUP BY bid ORDER BY 2 DESC;' >"$work/totals.sql"
	load totals -f "$work/totals.sql"
	kill "$server"
	wait "$server" || true
	server=
}

java() {
	say "Java Flight Recording"
	javac -d "$work" "$source/Words.java"
	cat >"$work/samples.jfc" <<'JFC'
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
  <event name="jdk.ExecutionSample"><setting name="enabled">true</setting><setting name="period">20 ms</setting></event>
  <event name="jdk.NativeMethodSample"><setting name="enabled">true</setting><setting name="period">20 ms</setting></event>
</configuration>
JFC
	command java "-XX:StartFlightRecording=filename=$work/words.jfr,settings=$work/samples.jfc" -Xlog:disable -cp "$work" Words 2 >/dev/null
	jfr print --json --stack-depth 2048 --events jdk.ExecutionSample,jdk.NativeMethodSample "$work/words.jfr" >"$work/words.json"
	# Not all of what jfr prints is small enough to be kept: the first events are.
	python3 - "$work/words.json" "$out/jfr/words.json" <<'PY'
import json, sys
recording = json.load(open(sys.argv[1]))
recording["recording"]["events"] = recording["recording"]["events"][:40]
json.dump(recording, open(sys.argv[2], "w"), indent=1)
PY
	jfr summary "$work/words.jfr" | grep -E 'ExecutionSample|NativeMethodSample'
}

# look opens what was recorded.
look() {
	local kitescope=$work/kitescope
	(cd "$repo" && go build -o "$kitescope" ./cmd/kitescope)
	for f in "$out"/perf/*.txt "$out"/perf/*.report "$out"/jfr/*.json; do
		[ -e "$f" ] || continue
		say "$(basename "$f")"
		"$kitescope" profile top "$f" | head -n 12
	done
	if [ -e "$out/perf/cpp.txt" ]; then
		"$kitescope" profile flame -o html "$out/perf/cpp.txt" >"$work/cpp.html"
		grep -q 'bench::words::count' "$work/cpp.html" || fail "the flame graph lacks bench::words::count"
	fi
}

command -v perf >/dev/null || fail "perf is not installed"
clock -o "$work/try.data" true 2>"$work/try.err" || fail "perf may not record here: $(head -n 1 "$work/try.err")"
for what in "$@"; do
	"$what"
done
find "$out" -size +1000k -type f | grep . && fail "these are too large to be kept"
if [ -n "$record" ]; then
	cp -r "$out/." "$repo/testdata/profiles/"
else
	look
fi
