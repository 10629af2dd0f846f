#!/usr/bin/env bash
# mariadb.sh start DIR PORT   puts a MariaDB with vectors (11.7 or later) together in DIR, if it is not there yet, and starts it on loopback;
#                             the database kite, of user kite with password sesame, is empty
# mariadb.sh stop DIR
#
# As root, on Debian: the server is that of Debian 13 (11.8), taken by apt from the place that this machine's own packages come from, with the
# libraries that it needs. It runs in a folder of its own (chroot): nothing is installed, and apt's own lists stay as they are.
set -euo pipefail

assemble() {
	local dir=$1 place deb
	mkdir -p "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" "$dir/root"
	place=$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/$' | sort -u | head -1)
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $place trixie main" >"$dir/apt/sources.list"
	: >"$dir/apt/status"
	printf '%s "%s";\n' Dir::Etc::sourcelist "$dir/apt/sources.list" Dir::Etc::sourceparts - Dir::State::lists "$dir/apt/lists" \
		Dir::State::status "$dir/apt/status" Dir::Cache "$dir/apt/cache" >"$dir/apt/apt.conf"
	export APT_CONFIG=$dir/apt/apt.conf
	apt-get update -q >"$dir/apt/log"
	apt-get install -y --no-install-recommends --download-only mariadb-server-core >>"$dir/apt/log"
	unset APT_CONFIG
	for deb in "$dir"/apt/cache/archives/*.deb; do dpkg -x "$deb" "$dir/root"; done
	cd "$dir/root"
	for deb in bin sbin lib lib64; do [ -e $deb ] || ln -s usr/$deb $deb; done
	mkdir -p tmp data dev
	mknod -m 666 dev/null c 1 3
	mknod -m 666 dev/urandom c 1 9
	echo 'root:x:0:0:root:/:/bin/sh' >etc/passwd
	{
		printf 'CREATE DATABASE mysql;\nUSE mysql;\n'
		cat usr/share/mariadb/mariadb_{system_tables,performance_tables,system_tables_data}.sql
		printf "%s;\n" 'FLUSH PRIVILEGES' 'CREATE DATABASE kite' "CREATE USER kite@'127.0.0.1' IDENTIFIED BY 'sesame'" "GRANT ALL ON kite.* TO kite@'127.0.0.1'"
	} | chroot "${server[@]}" --bootstrap --skip-networking >"$dir/log" 2>&1
	touch "$dir/assembled"
}

server=(. /usr/sbin/mariadbd --no-defaults --user=root --datadir=/data --lc-messages-dir=/usr/share/mariadb)

start() {
	local dir=$1 port=$2
	[ -e "$dir/assembled" ] || (assemble "$dir")
	cd "$dir/root"
	chroot "${server[@]}" --bind-address=127.0.0.1 --port="$port" --socket=/tmp/sock --skip-name-resolve >"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
	for _ in $(seq 120); do
		! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
		kill -0 "$(cat "$dir/pid")" || { tail -20 "$dir/log" >&2 && return 1; }
		sleep 0.5
	done
	echo "MariaDB does not answer: $dir/log" >&2
	return 1
}

stop() {
	local pid
	pid=$(cat "$1/pid")
	kill "$pid" 2>/dev/null || return 0
	for _ in $(seq 60); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.5
	done
	kill -9 "$pid"
}

case ${1:-} in
start | stop) "$@" ;;
*) echo "usage: mariadb.sh start DIR PORT | stop DIR" >&2 && exit 2 ;;
esac
