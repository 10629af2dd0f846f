package layout

import (
	"maps"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/replay"
)

// nodes lists the query nodes that are registered, that were queried, or that a replica names.
func (b *builder) nodes() {
	found := make(map[model.NodeID]bool)
	for _, s := range b.Sessions {
		if s.Role == "querynode" {
			found[s.Node] = true
		}
	}
	for _, n := range b.Runtime.QueryNodes() {
		found[n.Node] = true
	}
	var gone []string
	for _, m := range b.members {
		for _, id := range m.all {
			if !found[id] {
				gone = append(gone, queryNodeName(id))
				found[id] = true
			}
		}
	}
	if len(gone) > 0 && b.Loaded.Has(model.PartSessions) && !b.assumedReplica() {
		slices.Sort(gone)
		b.note("%s: in a replica but not registered", strings.Join(slices.Compact(gone), ", "))
	}
	blindCores := 0
	for _, id := range slices.Sorted(maps.Keys(found)) {
		n := replay.Node{ID: int64(id), Name: queryNodeName(id), Cores: b.cores(id)}
		if n.Cores == 0 {
			blindCores++
		}
		b.l.Nodes = append(b.l.Nodes, n)
	}
	if blindCores > 0 {
		b.note("cores unknown for %d of %d query nodes", blindCores, len(b.l.Nodes))
	}
}

// queryNodeName returns the name of a query node in inspect.
func queryNodeName(id model.NodeID) string { return id.Name("querynode") }

// assumedReplica reports whether the only member was assumed by assumeReplica because no query node is known.
func (b *builder) assumedReplica() bool { return len(b.members) == 1 && b.members[0].assumed }

// cores returns the CPUs that a node reports: in its system information, in its response about segments (2.6), or
// as the number of threads of its Go runtime (automaxprocs sets it to the container's limit). It returns 0 if
// unknown.
func (b *builder) cores(id model.NodeID) float64 {
	n := b.Runtime.LiveNode("querynode", id)
	if n == nil {
		return 0
	}
	if n.System != nil && n.System.CPUs > 0 {
		return float64(n.System.CPUs)
	}
	if n.Distribution != nil && n.Distribution.CPUs > 0 {
		return float64(n.Distribution.CPUs)
	}
	if n.Process != nil {
		if v, ok := n.Process.Metrics.Sum("go_sched_gomaxprocs_threads"); ok && v > 0 {
			return v
		}
	}
	return 0
}
