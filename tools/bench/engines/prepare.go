package main

import (
	"context"
	"os"
	"path/filepath"
)

// cacheDir returns the directory of data sets, index files and the peers' environment. XDG_CACHE_HOME moves
// it.
func cacheDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "kitescope-bench")
	return dir, os.MkdirAll(filepath.Join(dir, "engine"), 0o755)
}

// missing reports whether a file must be created.
func missing(path string) bool {
	_, err := os.Stat(path)
	return err != nil
}

// ensureHNSWLib makes hnswlib build the index file of a set unless it exists. It builds on one thread, so its
// bytes can be reproduced. The harder set takes long and is built on two.
func (b *bench) ensureHNSWLib(ctx context.Context, f files) error {
	if err := f.ensureData(ctx); err != nil || !missing(f.hnswlib) {
		return err
	}
	threads := 1
	if f.overlap {
		threads = 2
	}
	b.logf("hnswlib builds %s on %d threads; it is kept", f.name(), threads)
	_, err := b.peer.do("hnswlib_build", args{
		"vectors": f.vectors, "m": linksM, "ef_construction": buildEF, "threads": threads, "file": f.hnswlib,
	})
	return err
}

func (b *bench) ensureFaiss(ctx context.Context, f files) error {
	if err := f.ensureData(ctx); err != nil || !missing(f.faiss) {
		return err
	}
	b.logf("faiss builds %s; it is kept", f.name())
	_, err := b.peer.do("faiss_build", args{
		"vectors": f.vectors, "m": linksM, "ef_construction": buildEF, "file": f.faiss,
	})
	return err
}

// ensure returns the function that creates the index file of a peer.
func (b *bench) ensure(kind fileKind) func(context.Context, files) error {
	if kind == fileFaiss {
		return b.ensureFaiss
	}
	return b.ensureHNSWLib
}
