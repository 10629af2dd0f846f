#!/usr/bin/env bash
# The S3 store against a real MinIO, which is built once (ten minutes on two cores).
set -euo pipefail
cd "$(dirname "$0")/../.."
export LAB="${LAB:-${XDG_CACHE_HOME:-$HOME/.cache}/milvus-lab}"
minio=$LAB/gobuild/bin/minio
[ -x "$minio" ] || ../shared/milvus/build-minio.sh
go test -tags e2e -count=1 -run 'S3$' "$@" ./engine/object -minio "$minio"
