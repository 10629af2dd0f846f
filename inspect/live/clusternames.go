package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/model"
)

// clusterNames holds the reactions of processes to the cluster name that is sent with calls. The name is a
// guess from the names of channels (clusterKey). If all processes refuse it and report one and the same other
// name, the guess is wrong, and it is unknown which processes are foreign.
type clusterNames struct {
	mu sync.Mutex
	// accepted: a process accepted the name that was sent.
	accepted bool
	// reported holds the names that processes reported as their own.
	reported map[string]bool
	// refused holds the refusals until their meaning is known.
	refused map[*server][]Record
}

func newNames() clusterNames {
	return clusterNames{reported: map[string]bool{}, refused: map[*server][]Record{}}
}

// accept notes that a process responded, so it accepted the name if it checks names at all.
func (n *clusterNames) accept() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.accepted = true
}

// refuse stores a refusal for later.
func (n *clusterNames) refuse(s *server, r Record, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.reported[reportedCluster(text)] = true
	n.refused[s] = append(n.refused[s], r)
}

// refusedBy reports whether a server has refused the name; it will refuse it again.
func (n *clusterNames) refusedBy(s *server) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.refused[s]) > 0
}

// otherName returns the name that every process that responded reports as its own, or "" if they differ.
func (n *clusterNames) otherName() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.accepted || len(n.reported) != 1 {
		return ""
	}
	for name := range n.reported {
		return name
	}
	return ""
}

// servers returns the servers that refused, sorted by address.
func (n *clusterNames) servers() []*server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.SortedFunc(maps.Keys(n.refused), func(a, b *server) int {
		return strings.Compare(a.address, b.address)
	})
}

// reportedCluster parses a process's own name from its refusal: "cross cluster
// routing[expectedCluster=theirs][actualCluster=ours]", or in 2.2 "expectedCluster=theirs,
// actualCluster=ours: cross cluster routing" (pkg/util/merr: WrapErrServiceCrossClusterRouting, and
// internal/util/interceptor before it). It returns "" if the refusal has no name.
func reportedCluster(refusal string) string {
	_, rest, _ := strings.Cut(refusal, "expectedCluster=")
	end := strings.IndexAny(rest, "],")
	if end < 0 {
		return ""
	}
	return rest[:end]
}

// resolveRefusals decides the meaning of refusals. The servers that refused belong to another cluster, unless every
// process that responded refused and reports the same other name. In that case resolveRefusals returns the servers,
// to be queried again without a name.
func (a *askState) resolveRefusals() (again []*server) {
	refused, other := a.names.servers(), a.names.otherName()
	if other != "" && other != a.cluster {
		a.skip("check of the cluster's name",
			fmt.Sprintf("every process that responded reports cluster %q, but the channels in etcd have %q: "+
				"queried again without a name: processes are identified only by server id. "+
				"Either the name was changed (common.chanNamePrefix.cluster), or this etcd is a copy and these are "+
				"the other cluster's processes", other, a.cluster))
		a.cluster = ""
		return refused
	}
	for _, s := range refused {
		for _, r := range a.names.refused[s] {
			a.keep(r)
		}
		a.advance()
	}
	return nil
}

// checkClusterName evaluates the outcome of a call for the cluster name, and reports whether its record is held back.
func (a *askState) checkClusterName(s *session, r *Record, f *failure) bool {
	if a.cluster == "" {
		return false
	}
	switch {
	case f == nil, f.outcome == model.Stale, f.outcome != model.OtherCluster && len(r.Response) > 0:
		a.names.accept() // the name is checked before anything else
	case f.outcome == model.OtherCluster:
		a.names.refuse(s.server, *r, f.reason)
		return true
	}
	return false
}
