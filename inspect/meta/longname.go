package meta

import "kitescope/internal/words"

// maxName is how much of a name is kept. Milvus takes 255 bytes (proxy.maxNameLength); in a file can be anything, and the name
// of a collection is written once for each of its segments.
const maxName = 1 << 10

func keptName(name string) string { return words.Keep(name, maxName) }
