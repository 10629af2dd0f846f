package pull

import (
	"fmt"
	"strings"
	"sync"
)

// names assigns unique file names, whatever the names of nodes are.
type names struct {
	mu   sync.Mutex
	used map[string]bool
}

// reserve returns name, or a variant if it is taken. It ignores case, because some file systems do.
func (n *names) reserve(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.used == nil {
		n.used = map[string]bool{}
	}
	stem, ending, _ := strings.Cut(name, ".")
	for i := 2; n.used[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s_%d.%s", stem, i, ending)
	}
	n.used[strings.ToLower(name)] = true
	return name
}

// fileName returns the file name for the profile of a node, e.g. "querynode-10.cpu.pb.gz".
func fileName(node string, k Kind, packed bool) string {
	name := strings.ReplaceAll(fileWord(node), ".", "_") + "." + fileWord(string(k))
	switch {
	case k == Trace:
		return name + ".out"
	case packed:
		return name + ".pb.gz"
	}
	return name + ".pb"
}

// maxWord is the maximum length of a part of a file name, in bytes.
const maxWord = 80

// fileWord replaces characters that some file systems reject, including path separators.
func fileWord(word string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, word)
	safe = strings.Trim(safe[:min(len(safe), maxWord)], ".")
	if safe == "" {
		return "_"
	}
	return safe
}
