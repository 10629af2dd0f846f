package profile

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// maxKept is how much of the name of a function or a file is kept. Where a name is written once for each of its callers, a
// profile of some kilobytes could ask for gigabytes.
const maxKept = 4 << 10

const longNotes = "names of more than 4 KiB, of which the middle is left out"

// keptName is what is kept of a name: of a long one its ends, and what tells it from others with the same ends.
func keptName(name string) string {
	if len(name) <= maxKept {
		return name
	}
	const end = maxKept/2 - 50
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s...(%d bytes, %x)...%s",
		strings.ToValidUTF8(name[:end], ""), len(name), sum[:8], strings.ToValidUTF8(name[len(name)-end:], ""))
}

// kept is what is kept of a name of a table, which many may refer to.
func (n *names) kept(i uint64) string {
	if short, ok := n.long[i]; ok {
		return short
	}
	name := n.of(i)
	if len(name) <= maxKept {
		return name
	}
	if n.long == nil {
		n.long = map[uint64]string{}
	}
	n.long[i] = keptName(name)
	return n.long[i]
}

// noteLong notes that something was kept with less than its whole name.
func (b *Builder) noteLong(isCut bool) {
	if isCut {
		b.Note(longNotes, 1)
	}
}
