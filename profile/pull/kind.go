package pull

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of profile, in the words of net/http/pprof, but "cpu" for what it serves as "profile".
// Kinds that end in "-delta" are what was added between the two ends of the window.
type Kind string

// The kinds that net/http/pprof serves.
const (
	CPU          Kind = "cpu"
	Heap         Kind = "heap"
	Allocs       Kind = "allocs"
	Goroutine    Kind = "goroutine"
	Mutex        Kind = "mutex"
	Block        Kind = "block"
	ThreadCreate Kind = "threadcreate"
	Trace        Kind = "trace"

	delta = "-delta"
)

// spec is how a kind is asked for.
type spec struct {
	// endpoint is the last part of the path.
	endpoint string
	// windowed: the answer comes after the seconds that are asked for.
	windowed bool
	// alone: a process makes only one such profile at a time, and others disturb it.
	alone bool
}

// specOf is how one of the known kinds is asked for. Deltas: net/http/pprof, profileSupportsDelta.
func specOf(k Kind) (spec, bool) {
	switch base, isDelta := strings.CutSuffix(string(k), delta); Kind(base) {
	case CPU:
		return spec{"profile", true, true}, !isDelta
	case Trace:
		return spec{"trace", true, true}, !isDelta
	case Heap, Allocs, Goroutine, Mutex, Block, ThreadCreate:
		return spec{base, isDelta, false}, true
	}
	return spec{}, false
}

// Kinds are all that can be named, deltas included.
func Kinds() []Kind {
	all := []Kind{CPU, Heap, Allocs, Goroutine, Mutex, Block, ThreadCreate, Trace}
	for _, k := range all[1 : len(all)-1] {
		all = append(all, k+delta)
	}
	return all
}

// ParseKinds reads a list such as "cpu,heap,allocs-delta". Each kind is pulled once.
func ParseKinds(list string) ([]Kind, error) {
	var kinds []Kind
	for word := range strings.SplitSeq(list, ",") {
		k := Kind(strings.ToLower(strings.TrimSpace(word)))
		if k == "profile" { // as the endpoint is called
			k = CPU
		}
		if _, known := specOf(k); !known {
			return nil, fmt.Errorf("no kind of profile %q: want some of %s", word, joinKinds(Kinds()))
		}
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}

func joinKinds(kinds []Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = string(k)
	}
	return strings.Join(words, ", ")
}

// kindOfEndpoint is the kind that an endpoint of net/http/pprof serves, "" for others.
func kindOfEndpoint(name string) Kind {
	for _, k := range Kinds() {
		if s, _ := specOf(k); s.endpoint == name && !strings.HasSuffix(string(k), delta) {
			return k
		}
	}
	return ""
}
