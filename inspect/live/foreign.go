package live

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/model"
)

// clusterNames is what processes say of the cluster's name that is sent along, which is a guess
// from the names of channels (clusterKey). If all refuse it, and name one and the same
// other, the guess is wrong, and nothing is known of who is foreign.
type clusterNames struct {
	mu sync.Mutex
	// taken: a process answered to the name that was sent.
	taken bool
	// theirs are the names that processes gave as their own.
	theirs map[string]bool
	// refused are the refusals, held back until it is known what they mean.
	refused map[*server][]Record
}

func newNames() clusterNames {
	return clusterNames{theirs: map[string]bool{}, refused: map[*server][]Record{}}
}

// take notes that a process answered, to the name as far as it looks at it.
func (n *clusterNames) take() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = true
}

// refuse holds a refusal back.
func (n *clusterNames) refuse(s *server, r Record, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.theirs[ownCluster(text)] = true
	n.refused[s] = append(n.refused[s], r)
}

// refusedBy reports whether a server has refused the name: it will do so again.
func (n *clusterNames) refusedBy(s *server) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.refused[s]) > 0
}

// other is the one name that every process that answered gives as its own, "" if there is none such.
func (n *clusterNames) other() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.taken || len(n.theirs) != 1 {
		return ""
	}
	for name := range n.theirs {
		return name
	}
	return ""
}

// servers are those that refused, in order.
func (n *clusterNames) servers() []*server {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.SortedFunc(maps.Keys(n.refused), func(a, b *server) int { return strings.Compare(a.address, b.address) })
}

// ownCluster reads a process's own name out of its refusal: "cross cluster
// routing[expectedCluster=theirs][actualCluster=ours]", in 2.2 "expectedCluster=theirs,
// actualCluster=ours: cross cluster routing" (pkg/util/merr: WrapErrServiceCrossClusterRouting,
// and internal/util/interceptor before it). "" if it does not say.
func ownCluster(refusal string) string {
	_, rest, _ := strings.Cut(refusal, "expectedCluster=")
	end := strings.IndexAny(rest, "],")
	if end < 0 {
		return ""
	}
	return rest[:end]
}

// settleNames decides what refusals mean: those who refuse are of another cluster, unless
// nobody knows the name. Then they are asked again without it.
func (a *asking) settleNames() (again []*server) {
	refused, other := a.names.servers(), a.names.other()
	if other != "" && other != a.cluster {
		a.skip("check of the cluster's name", fmt.Sprintf("every process that answered reports cluster %q, but the channels in etcd have %q: "+
			"queried again without a name: processes are identified only by server id. "+
			"Either the name was changed (common.chanNamePrefix.cluster), or this etcd is a copy and these are the other cluster's processes", other, a.cluster))
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

// heed looks at how a question ended for what it says of the cluster's name, and reports
// whether its record is held back.
func (a *asking) heed(s *session, r *Record, f *failure) bool {
	if a.cluster == "" {
		return false
	}
	switch {
	case f == nil, f.outcome == model.Stale, f.outcome != model.OtherCluster && len(r.Response) > 0:
		a.names.take() // the name is looked at before anything else
	case f.outcome == model.OtherCluster:
		a.names.refuse(s.at, *r, f.reason)
		return true
	}
	return false
}
