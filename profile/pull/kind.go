package pull

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of profile, named as in net/http/pprof, except "cpu" for its "profile". Kinds that end in
// "-delta" hold the difference between the two ends of the window.
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

// spec describes how a kind is requested.
type spec struct {
	// endpoint is the last part of the path.
	endpoint string
	// windowed is true if the response comes after the requested seconds.
	windowed bool
	// exclusive is true if a process can make only one such profile at a time, and other profiles disturb it.
	exclusive bool
}

// specOf returns the spec of a known kind. Deltas: net/http/pprof, profileSupportsDelta.
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

// Kinds returns all known kinds, including deltas.
func Kinds() []Kind {
	all := []Kind{CPU, Heap, Allocs, Goroutine, Mutex, Block, ThreadCreate, Trace}
	for _, k := range all[1 : len(all)-1] {
		all = append(all, k+delta)
	}
	return all
}

// ParseKinds parses a list such as "cpu,heap,allocs-delta". It removes duplicates.
func ParseKinds(list string) ([]Kind, error) {
	var kinds []Kind
	for word := range strings.SplitSeq(list, ",") {
		k := Kind(strings.ToLower(strings.TrimSpace(word)))
		if k == "profile" { // name of the endpoint
			k = CPU
		}
		if _, known := specOf(k); !known {
			return nil, fmt.Errorf("unknown kind of profile %q: expected some of %s", word, joinKinds(Kinds()))
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

// kindOfEndpoint returns the kind that an endpoint of net/http/pprof serves, or "" for other endpoints.
func kindOfEndpoint(name string) Kind {
	for _, k := range Kinds() {
		if s, _ := specOf(k); s.endpoint == name && !strings.HasSuffix(string(k), delta) {
			return k
		}
	}
	return ""
}
