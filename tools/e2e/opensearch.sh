#!/usr/bin/env bash
# opensearch.sh start DIR PORT [2.19.6]   puts an OpenSearch with the k-NN plugin together in DIR, if it is not there yet, and starts it on
#                                         loopback; transport listens at PORT+100
# opensearch.sh stop DIR
#
# No distribution is needed: server, modules and plugin come from Maven's repository (org.opensearch:opensearch and what it depends on,
# two modules without which no node starts, k-NN's zip), and are laid out as a distribution has them. The native libraries of faiss and
# nmslib are in no repository: only Lucene's engine works, which is Java. 2.19 runs on Java 17. The k-NN plugin of 3.5 needs a module
# for gRPC that Maven's repository does not have.
set -euo pipefail

# jars OUT GROUP:ARTIFACT:VERSION   copies an artifact and what it depends on
jars() {
	local pom
	pom=$(mktemp -d)
	cat >"$pom/pom.xml" <<-POM
		<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version>
		<dependencies><dependency><groupId>$(cut -d: -f1 <<<"$2")</groupId><artifactId>$(cut -d: -f2 <<<"$2")</artifactId><version>$(cut -d: -f3 <<<"$2")</version></dependency></dependencies></project>
	POM
	mvn -q -B -f "$pom/pom.xml" dependency:copy-dependencies -DoutputDirectory="$1" -DincludeScope=runtime
	rm -r "$pom"
}
jar() { mvn -q -B dependency:copy -Dartifact="$2" -DoutputDirectory="$1"; }

# module DIR NAME CLASS VERSION   describes a module, and lets it do what it does: the policies of a distribution are in none of the jars
module() {
	printf '%s\n' "description=$2" "version=$4" "name=$2" "classname=$3" java.version=11 "opensearch.version=$4" extended.plugins= \
		has.native.controller=false >"$1/modules/$2/plugin-descriptor.properties"
	cat >"$1/modules/$2/plugin-security.policy" <<-'POLICY'
		grant {
		  permission java.lang.RuntimePermission "*";
		  permission java.lang.reflect.ReflectPermission "suppressAccessChecks";
		  permission java.net.SocketPermission "*", "accept,connect,resolve,listen";
		  permission java.util.PropertyPermission "*", "read,write";
		};
	POLICY
	# What the server has already, a module may not have again.
	local file
	for file in "$1/modules/$2"/*.jar; do
		[ ! -e "$1/lib/${file##*/}" ] || rm "$file"
	done
}

assemble() {
	local dir=$1 version=$2 log4j
	jars "$dir/lib" "org.opensearch:opensearch:$version"
	log4j=$(basename "$dir"/lib/log4j-api-*.jar .jar)
	jar "$dir/lib" "org.apache.logging.log4j:log4j-core:${log4j#log4j-api-}"
	jar "$dir/lib" "org.opensearch:opensearch-plugin-classloader:$version"
	jars "$dir/modules/transport-netty4" "org.opensearch.plugin:transport-netty4-client:$version"
	jars "$dir/modules/lang-painless" "org.opensearch.plugin:lang-painless:$version"
	module "$dir" transport-netty4 org.opensearch.transport.Netty4Plugin "$version"
	module "$dir" lang-painless org.opensearch.painless.PainlessPlugin "$version"
	jar "$dir/zip" "org.opensearch.plugin:opensearch-knn:$version.0:zip"
	python3 -m zipfile -e "$dir/zip/opensearch-knn-$version.0.zip" "$dir/plugins/opensearch-knn"
	mkdir -p "$dir/config" "$dir/run"
	cat >"$dir/config/opensearch.yml" <<-'YML'
		cluster.name: lab
		node.name: lab
		discovery.type: single-node
		network.host: 127.0.0.1
		bootstrap.system_call_filter: false
	YML
	printf '%s\n' 'status = error' 'appender.c.type = Console' 'appender.c.name = c' 'appender.c.layout.type = PatternLayout' \
		'appender.c.layout.pattern = [%d][%p] %m%n' 'rootLogger.level = warn' 'rootLogger.appenderRef.c.ref = c' >"$dir/config/log4j2.properties"
	touch "$dir/assembled"
}

start() {
	local dir=$1 port=$2 version=${3:-2.19.6} as=()
	[ -e "$dir/assembled" ] || assemble "$dir" "$version"
	# A node refuses to run as root.
	if [ "$(id -u)" = 0 ]; then
		chown -R nobody "$dir"
		as=(setpriv --reuid=nobody --clear-groups)
	fi
	cd "$dir"
	"${as[@]}" env -i PATH="$PATH" HOME="$dir/run" java -Xms1g -Xmx1g -Djava.security.manager=allow -Dopensearch.path.home="$dir" \
		-Dopensearch.path.conf="$dir/config" -Djava.io.tmpdir="$dir/run" -Dopensearch.distribution.type=tar -Dopensearch.bundled_jdk=false \
		-cp 'lib/*' org.opensearch.bootstrap.OpenSearch -Epath.data="$dir/run/data" -Epath.logs="$dir/run/logs" -Ehttp.port="$port" \
		-Etransport.port=$((port + 100)) >"$dir/log" 2>&1 &
	echo $! >"$dir/pid"
	for _ in $(seq 240); do
		! curl -sf "http://127.0.0.1:$port/" >/dev/null || return 0
		kill -0 "$(cat "$dir/pid")" || { tail -20 "$dir/log" >&2 && return 1; }
		sleep 0.5
	done
	echo "OpenSearch is not responding: $dir/log" >&2
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
*) echo "usage: opensearch.sh start DIR PORT [VERSION] | stop DIR" >&2 && exit 2 ;;
esac
