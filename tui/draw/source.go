package draw

import (
	"strings"

	"kitescope/internal/words"
)

// Source names a source: the root path, which tells clusters on one etcd apart, and the host or file.
func Source(location, root string) string {
	scheme, where, remote := strings.Cut(location, "://")
	switch {
	case !remote:
		where = location
	case where == root: // a source without a host, such as the demo
		where = scheme
	}
	if root == "" {
		return words.Harmless(where)
	}
	return words.Harmless(root + " @ " + strings.TrimSuffix(where, "/"+root))
}

// Offline names a source that does not change.
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
