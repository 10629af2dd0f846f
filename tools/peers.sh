#!/usr/bin/env bash
# Makes a Python environment with the libraries that the engine is held against (hnswlib
# built from its source distribution for this CPU, faiss, numpy, pyarrow, h5py), once, and
# prints the path of its interpreter. How gcc tunes decides in which order hnswlib adds up where dimensions
# are no multiple of 16: -mtune is the same everywhere, so that bits are. The headers of hnswlib are kept beside it, in src: a
# test of engine/dist builds them as `pip install` does on other CPUs. Not from the cache of pip, which may have it with other flags. Needs python3 with venv, and a C++ compiler.
set -euo pipefail
venv=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/kitescope-bench/venv}
python=$venv/bin/python
wanted='import faiss, h5py, hnswlib, numpy, pyarrow; assert faiss.__version__ == "1.15.1", faiss.__version__'
if ! "$python" -c "$wanted" >/dev/null 2>&1; then
	python3 -m venv "$venv" >&2
	"$venv/bin/pip" install -q faiss-cpu==1.15.1 h5py numpy pyarrow pybind11 setuptools wheel >&2
	CFLAGS='-O3 -march=native -mtune=znver3' "$venv/bin/pip" install -q --no-cache-dir --no-binary :all: --no-build-isolation --no-deps hnswlib==0.8.0 >&2
	"$python" -c "$wanted" >&2
fi
if [ ! -d "$venv/src/hnswlib-0.8.0/hnswlib" ]; then
	mkdir -p "$venv/src"
	"$venv/bin/pip" download -q --no-binary :all: --no-build-isolation --no-deps -d "$venv/src" hnswlib==0.8.0 >&2
	tar -C "$venv/src" -xzf "$venv/src/hnswlib-0.8.0.tar.gz"
fi
echo "$python"
