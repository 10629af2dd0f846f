package meta

import "kitescope/internal/words"

// maxName is the length to which names are truncated, in bytes. Milvus accepts 255 bytes (proxy.maxNameLength),
// but a file may hold anything, and a collection's name is written once for each of its segments.
const maxName = 1 << 10

func truncateName(name string) string { return words.Truncate(name, maxName) }
