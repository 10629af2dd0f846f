package objects

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// resourceGroupShort finds resource groups with fewer nodes than they ask for.
var resourceGroupShort = &check.Check{
	ID:       "resource-group-short",
	Title:    "A resource group has fewer query nodes than it asks for",
	Severity: check.Error,
	Since:    "0.3",
	Parts:    model.PartServing | model.PartSessions | model.PartObjects,
	Doc: `Compares the query nodes of each resource group that are registered with what it asks for: its requests (Milvus 2.4 and later), or its capacity (2.2 and 2.3; that of the default group, a million, stands for
"any"). A warning if there are fewer. An error if a group that holds replicas has none at all: their collections cannot be served.

Also an error: replicas in a group that does not exist. Skipped if no query node is registered at all.`,
	Remedy: "Start query nodes, or move some: `utility.transfer_node(SOURCE, TARGET, N)` up to 2.3, `utility.update_resource_groups(...)` from 2.4 on; the group that gives them serves with fewer then.\nWith labels, look whether new nodes carry them.",
	Run:    runResourceGroupShort,
	Roles:  []string{"querynode"},
}

func runResourceGroupShort(p *check.Pass) error {
	if facts.IsLegacy(p.Cluster) {
		return p.Skip("Milvus 2.1 has no resource groups")
	}
	if !facts.HasRole(p.Cluster, "querynode") {
		return p.Skip("no query node is registered")
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
			Severity: check.Error, Object: facts.RefReplica(r), Objects: []model.Ref{facts.RefCollection(p.Cluster, r.Collection)},
			Message: fmt.Sprintf("%s, of %s first, %s in resource group %s, which does not exist", words.Plural(len(replicas[r.ResourceGroup]), "replica"), facts.CollectionLabel(p.Cluster, r.Collection),
				words.Agree(len(replicas[r.ResourceGroup]), "is", "are"), r.ResourceGroup),
			Evidence: []check.Evidence{check.Fact("resource group of the replica", r.ResourceGroup, "etcd"), check.Count("resource groups", len(p.ResourceGroups), "etcd")},
			Impact:   "No node is given to them.", Hint: "create the group, or release the collection and load it into another",
		})
	}
	return nil
}

func judgeGroup(p *check.Pass, g *model.ResourceGroup, replicas []*model.Replica) {
	living := 0
	for _, id := range g.Nodes {
		if s := p.SessionIn(id, "querynode"); s != nil && !s.Stopping {
			living++
		}
	}
	asked := int(g.Requests)
	if g.Requests < 0 && g.Name != facts.DefaultGroup {
		asked = int(g.Capacity)
	}
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "resource-groups", ID: g.Name, Name: g.Name},
		Evidence: []check.Evidence{
			check.Count("query nodes asked for", max(0, asked), "etcd"),
			check.Count("query nodes assigned", len(g.Nodes), "etcd"),
			check.Count("of them registered", living, "etcd"),
			check.Count("replicas in the group", len(replicas), "etcd"),
		},
		Hint: check.Advise("start query nodes, or move some into %s; who is where: kitescope get resource-groups", g.Name),
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
		f.Message = fmt.Sprintf("resource group %s has no registered query node for its %s", g.Name, words.Plural(len(replicas), "replica"))
		f.Impact = "Their collections cannot be searched, unless another replica serves them."
		f.Cost = facts.Part(int64(len(replicas)), int64(len(p.Replicas)))
	case living < asked:
		f.Message = fmt.Sprintf("resource group %s asks for %s and has %s", g.Name, words.Plural(asked, "query node"), words.Number(living))
		f.Impact = "Its collections are served by fewer nodes than planned."
	default:
		return
	}
	p.Report(f)
}
