#!/usr/bin/env bash
# mariadb.sh start DIR PORT   puts a Debian 13 with MariaDB 11.8 and PostgreSQL 17 with pgvector into DIR (debootstrap), if it is not there yet,
#                             and starts both on loopback: MariaDB at PORT, with the databases kite and test_kite of user kite with
#                             password sesame, PostgreSQL at PORT+1, with user postgres and no password
# mariadb.sh measure DIR PORT OUT [ROWS DIM]   fills both with the same vectors, sweeps both, and writes OUT.mariadb.json, OUT.postgres.json
#                             and the comparison; PYTHON has numpy, PyMySQL and psycopg, KITESCOPE is the binary
# mariadb.sh stop DIR
#
# As root. The servers run in a folder of their own (chroot): nothing of it is installed. SCHEDULE="chrt -r 1" runs servers and client ahead of
# whatever else the machine does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

assemble() {
	local dir=$1 root=$1/root place
	command -v debootstrap >/dev/null || apt-get install -y debootstrap >/dev/null
	place=$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/$' | sort -u | head -1)
	mkdir -p "$dir"
	debootstrap --variant=minbase --include=mariadb-server-core,mariadb-client-core,mariadb-common,postgresql-17,postgresql-17-pgvector \
		trixie "$root" "$place" >"$dir/debootstrap.log"
	mkdir -p "$root/data" "$root/pg"
	chroot "$root" mariadb-install-db --no-defaults --user=root --datadir=/data --basedir=/usr --skip-test-db \
		--auth-root-authentication-method=normal --force >"$dir/install.log" 2>&1
	chroot "$root" chown postgres:postgres /pg
	as_postgres "$root" initdb -D /pg -A trust >>"$dir/install.log" 2>&1
	touch "$dir/assembled"
}

as_postgres() { chroot --userspec=postgres:postgres "$1" "/usr/lib/postgresql/17/bin/$2" "${@:3}"; }

sql() { chroot "$1/root" mariadb --no-defaults --socket=/tmp/maria.sock -uroot -e "$2"; }

start() {
	local dir=$1 port=$2
	[ -e "$dir/assembled" ] || assemble "$dir"
	${SCHEDULE:-} chroot "$dir/root" /usr/sbin/mariadbd --no-defaults --user=root --datadir=/data --bind-address=127.0.0.1 --port="$port" \
		--socket=/tmp/maria.sock --skip-name-resolve --mhnsw-max-cache-size=1073741824 >"$dir/mariadb.log" 2>&1 &
	echo $! >"$dir/pids"
	${SCHEDULE:-} chroot --userspec=postgres:postgres "$dir/root" /usr/lib/postgresql/17/bin/postgres -D /pg -c listen_addresses=127.0.0.1 \
		-p $((port + 1)) -c unix_socket_directories=/tmp >"$dir/postgres.log" 2>&1 &
	echo $! >>"$dir/pids"
	for _ in $(seq 120); do
		if sql "$dir" 'SELECT 1' >/dev/null 2>&1 && as_postgres "$dir/root" pg_isready -q -h 127.0.0.1 -p $((port + 1)); then
			sql "$dir" "CREATE DATABASE IF NOT EXISTS kite; CREATE DATABASE IF NOT EXISTS test_kite;
				CREATE USER IF NOT EXISTS kite@'127.0.0.1' IDENTIFIED BY 'sesame';
				GRANT ALL ON kite.* TO kite@'127.0.0.1'; GRANT ALL ON \`test_%\`.* TO kite@'127.0.0.1'"
			return 0
		fi
		sleep 0.5
	done
	tail -5 "$dir/mariadb.log" "$dir/postgres.log" >&2
	return 1
}

measure() {
	local dir=$1 port=$2 out=$3 uri=postgresql://postgres@127.0.0.1:$(($2 + 1))/postgres name
	"${PYTHON:-python3}" "$here/replay_targets.py" measured "127.0.0.1:$port" "$uri" "$out" "${4:-20000}" "${5:-64}"
	for name in mariadb postgres; do
		local target="mariadb://kite:sesame@127.0.0.1:$port/kite?table=measured"
		[ $name = mariadb ] || target="postgres://postgres@127.0.0.1:$((port + 1))/postgres?sslmode=disable"
		${SCHEDULE:-} "${KITESCOPE:-kitescope}" replay sweep measured --vectors "$out.npy" --metric L2 --queries "$out-queries.npy" --target "$target" \
			--ef 20,40,100 --concurrency 1,2,4 --rounds 3 --round 1s --warmup 500ms -O "$out.$name.json" --force >"$out.$name.txt"
	done
	"${KITESCOPE:-kitescope}" replay show "$out.mariadb.json" "$out.postgres.json" # side by side
}

stop() {
	local pid
	kill "$(sed -n 1p "$1/pids")" 2>/dev/null || true
	kill -INT "$(sed -n 2p "$1/pids")" 2>/dev/null || true # PostgreSQL: at once, without waiting for clients
	for pid in $(cat "$1/pids"); do
		for _ in $(seq 60); do
			kill -0 "$pid" 2>/dev/null || continue 2
			sleep 0.5
		done
		kill -9 "$pid"
	done
}

case ${1:-} in
start | measure | stop) "$@" ;;
*) echo "usage: mariadb.sh start DIR PORT | measure DIR PORT OUT [ROWS DIM] | stop DIR" >&2 && exit 2 ;;
esac
