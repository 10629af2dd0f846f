package pull

import (
	"fmt"
	"strings"
	"sync"
)

// names gives each file a name of its own, whatever nodes call themselves.
type names struct {
	mu   sync.Mutex
	used map[string]bool
}

// take is the name, or one like it if that is taken. Case does not tell files apart everywhere.
func (n *names) take(name string) string {
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

// fileName is what the profile of a node is called: "querynode-10.cpu.pb.gz".
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

// maxWord bounds a part of a file's name.
const maxWord = 80

// fileWord keeps of a word what every file system takes, and no part of a path.
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
