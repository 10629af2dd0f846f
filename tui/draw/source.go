package draw

import (
	"strings"

	"kitescope/internal/words"
)

// Source returns the name of a source: its root path, which identifies a cluster among several on one etcd, and its
// host or file.
func Source(location, root string) string {
	scheme, where, remote := strings.Cut(location, "://")
	switch {
	case !remote:
		where = location
	case where == root: // a source without a host, e.g. the demo
		where = scheme
	}
	if root == "" {
		return words.Sanitize(where)
	}
	return words.Sanitize(root + " @ " + strings.TrimSuffix(where, "/"+root))
}

// Offline returns the name of a kind of source that does not change.
func Offline(kind string) string {
	switch kind {
	case "etcd":
		return "once"
	case "etcd-snapshot":
		return "snapshot"
	case "birdwatcher-backup":
		return "backup"
	case "":
		return "file"
	}
	return kind
}
