package profile

import "kitescope/internal/words"

// maxKept is how much of the name of a function or a file is kept. Where a name is written once for each of its callers, a
// profile of some kilobytes could ask for gigabytes.
const maxKept = 4 << 10

const longNotes = "names longer than 4 KiB, shortened in the middle"

func keptName(name string) string { return words.Keep(name, maxKept) }

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
