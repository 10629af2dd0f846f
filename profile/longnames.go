package profile

import "kitescope/internal/words"

// maxStoredName is the maximum stored length in bytes of a function or file name. Where a name is written once per
// caller, a profile of some kilobytes could otherwise produce gigabytes.
const maxStoredName = 4 << 10

const longNotes = "names longer than 4 KiB, shortened in the middle"

func truncateName(name string) string { return words.Truncate(name, maxStoredName) }

// truncated returns a name of the table, shortened if necessary. Many entries may share it.
func (n *names) truncated(i uint64) string {
	if short, ok := n.long[i]; ok {
		return short
	}
	name := n.at(i)
	if len(name) <= maxStoredName {
		return name
	}
	if n.long == nil {
		n.long = map[uint64]string{}
	}
	n.long[i] = truncateName(name)
	return n.long[i]
}

// noteLong adds a Note if a name was shortened.
func (b *Builder) noteLong(isCut bool) {
	if isCut {
		b.Note(longNotes, 1)
	}
}
