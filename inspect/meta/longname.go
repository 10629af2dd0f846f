package meta

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// maxName is how much of a name is kept. Milvus takes 255 bytes (proxy.maxNameLength); in a file can be anything, and the name
// of a collection is written once for each of its segments.
const maxName = 1 << 10

// keptName is what is kept of a name: of a long one its ends, and what tells it from others with the same ends.
func keptName(name string) string {
	if len(name) <= maxName {
		return name
	}
	const end = maxName/2 - 50
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s...(%d bytes, %x)...%s",
		strings.ToValidUTF8(name[:end], ""), len(name), sum[:8], strings.ToValidUTF8(name[len(name)-end:], ""))
}
