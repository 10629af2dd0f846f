package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// resourceGroupShort reports resource groups with fewer nodes than they request.
var resourceGroupShort = &check.Check{
	ID:       "resource-group-short",
	Title:    "A resource group has fewer query nodes than requested",
	Severity: check.Error,
	Symptoms: []string{check.LoadsHang},
	Starts: "node_lost:querynode node_left:querynode resource_group_changed resource_group_created | " +
		"node_stopping:querynode",
	Parts: model.PartServing | model.PartSessions | model.PartObjects,
	Doc: `A resource group without query nodes cannot serve its collections. The check compares its registered query
nodes with its requests (Milvus 2.4 and later), or its capacity (2.2 and 2.3; a million, as for the default group,
means "any"). Warning if there are fewer. Error if a group with replicas has none at all.

Also an error: replicas in a group that does not exist. Could not run if no query node is registered at all.`,
	Remedy: `Start query nodes, or move some: ` + "`utility.transfer_node(SOURCE, TARGET, N)`" + ` up to 2.3,
` + "`utility.update_resource_groups(...)`" + ` since 2.4. The group that gives nodes up serves with fewer. With labels,
check that new nodes carry them.`,
	Run:   runResourceGroupShort,
	Roles: []string{"querynode"},
}

func runResourceGroupShort(p *check.Pass) {
	if facts.IsLegacy(p.Cluster) {
		p.Skip("Milvus 2.1 has no resource groups")
		return
	}
	if !facts.HasRole(p.Cluster, "querynode") {
		p.Skip("no query node is registered")
		return
	}
	replicas := make(map[string][]*model.Replica)
	for _, r := range p.Replicas {
		if r.ResourceGroup != "" {
			replicas[r.ResourceGroup] = append(replicas[r.ResourceGroup], r)
		}
	}
	known := make(map[string]bool)
	for _, g := range p.ResourceGroups {
		known[g.Name] = true
		judgeGroup(p, g, replicas[g.Name])
	}
	reported := make(map[string]bool)
	for _, r := range p.Replicas {
		if r.ResourceGroup == "" || known[r.ResourceGroup] || reported[r.ResourceGroup] || len(p.ResourceGroups) == 0 {
			continue
		}
		reported[r.ResourceGroup] = true
		p.Report(check.Finding{
			Severity: check.Error, Object: facts.RefReplica(r),
			Objects: []model.Ref{facts.RefCollection(p.Cluster, r.Collection)},
			Message: fmt.Sprintf("%s (first of %s) %s in resource group %s, which does not exist",
				words.Plural(len(replicas[r.ResourceGroup]), "replica"), facts.CollectionLabel(p.Cluster, r.Collection),
				words.Agree(len(replicas[r.ResourceGroup]), "is", "are"), r.ResourceGroup),
			Evidence: []check.Evidence{
				check.Fact("resource group of the replica", r.ResourceGroup, "etcd"),
				check.Count("resource groups", len(p.ResourceGroups), "etcd"),
			},
			Impact: "They get no query nodes.",
			Fix: check.Fix(
				check.PymilvusIn(p.Cluster, "", "utility.create_resource_group(%s)", r.ResourceGroup).
					Does("creates the group").
					Interrupting(0, "nothing"),
				check.Do("then start query nodes for it or move some into it; or release the collections and load "+
					"them into another group").
					Interrupting(2*time.Minute, "nothing"),
			),
		})
	}
}

func judgeGroup(p *check.Pass, g *model.ResourceGroup, replicas []*model.Replica) {
	living, asked := livingIn(p, g), requestedNodes(g)
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "resource-groups", ID: g.Name, Name: g.Name},
		Evidence: []check.Evidence{
			check.Count("query nodes requested", max(0, asked), "etcd"),
			check.Count("query nodes assigned", len(g.Nodes), "etcd"),
			check.Count("registered query nodes among them", living, "etcd"),
			check.Count("replicas in the group", len(replicas), "etcd"),
		},
		Fix: check.Fix(
			check.Do("start query nodes for %s: QueryCoord assigns new ones to groups that lack some", g.Name).
				Interrupting(2*time.Minute, "nothing"),
			spareNodes(p, g, asked-living),
			check.Shell(check.Kitescope("get resource-groups")).
				Does("shows which nodes each group has: as many as it requests, once that is done"),
		),
	}
	seen := make(map[model.CollectionID]bool)
	for _, r := range replicas {
		if !seen[r.Collection] && len(f.Objects) < facts.MaxObjects {
			seen[r.Collection] = true
			f.Objects = append(f.Objects, facts.RefCollection(p.Cluster, r.Collection))
		}
	}
	switch {
	case living == 0 && len(replicas) > 0:
		f.Severity = check.Error
		f.Message = fmt.Sprintf("resource group %s has no registered query node for its %s", g.Name,
			words.Plural(len(replicas), "replica"))
		f.Impact = words.Agree(len(f.Objects), "The collection cannot be searched, unless another replica serves it.",
			"The collections cannot be searched, unless other replicas serve them.")
		f.Cost = facts.Ratio(int64(len(replicas)), int64(len(p.Replicas)))
	case living < asked:
		f.Message = fmt.Sprintf("resource group %s requests %s and has %s",
			g.Name, words.Plural(asked, "query node"), words.Number(living))
		f.Impact = "Its collections have fewer nodes than planned."
	default:
		return
	}
	p.Report(f)
}

// livingIn returns the number of registered query nodes in a group that are not stopping.
func livingIn(p *check.Pass, g *model.ResourceGroup) (living int) {
	for _, id := range g.Nodes {
		if s := p.SessionIn(id, "querynode"); s != nil && !s.Stopping {
			living++
		}
	}
	return living
}

// requestedNodes returns the number of query nodes that a group requests.
func requestedNodes(g *model.ResourceGroup) int {
	if g.Requests < 0 && g.Name != facts.DefaultGroup {
		return int(g.Capacity)
	}
	return int(g.Requests)
}

// spareNodes returns a step that moves query nodes into a group from the one with the most nodes beyond its
// request. It moves at most the number lacking. It applies up to 2.3, where groups are not filled
// automatically. The step is empty if no group has nodes to spare; the last node of a group is never moved.
func spareNodes(p *check.Pass, short *model.ResourceGroup, lacking int) check.Step {
	if !facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 4}) {
		return check.Step{}
	}
	var from *model.ResourceGroup
	spare := 0
	for _, g := range p.ResourceGroups {
		if n := livingIn(p, g) - max(1, requestedNodes(g)); g != short && n > spare {
			from, spare = g, n
		}
	}
	if from == nil {
		return check.Step{}
	}
	n := min(spare, max(1, lacking))
	return check.PymilvusIn(p.Cluster, "", "utility.transfer_node(%s, %s, %d)", from.Name, short.Name, n).
		Does("or moves %d from %s, which then serves with fewer", n, from.Name).
		Interrupting(2*time.Minute, "nothing, if the group can spare it")
}
