package check

import (
	"fmt"

	"kitescope/inspect/model"
)

// ReplicaShort finds loaded collections that have fewer working replicas than they were loaded with.
var ReplicaShort = &Check{
	ID:       "replica-short",
	Title:    "Collection has fewer working replicas than asked for",
	Severity: Error,
	Since:    "0.3",
	Doc: `
A collection is loaded with a number of replicas, each a group of query nodes that can answer alone. A finding is a collection to be loaded that has fewer replicas than that, or replicas without a single registered
query node that takes work: an error if none works, so that nothing can be searched; a warning if some do, so that they carry the others' load and there is
less left to lose.

Read from load states, replicas and sessions in etcd. Not looked at: metadata without a single session, and Milvus 2.1, which keeps its replicas elsewhere.
`,
	Remedy: `
Start query nodes in the resource group of the replica; QueryCoord gives them to it. If there are not enough machines for the number of replicas, release the collection and load it with
fewer: ` + "`Collection(NAME).load(replica_number=N)`" + `.
`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects,
	Run:   runReplicaShort,
	Roles: []string{"querycoord", "querynode"},
	FollowsFrom: []Cause{
		{Check: "replica-dead-node", Of: shares("replicas")},
	},
}

func runReplicaShort(p *Pass) error {
	if !alive(p.Cluster) {
		return p.Skip("no process is registered: the cluster is stopped, or the sessions were not saved")
	}
	if legacy(p.Cluster) {
		return p.Skip("Milvus 2.1 and older keep replicas in another form")
	}
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if x == nil || x.Dropped() || l.Status != "Loaded" && l.Status != "Loading" {
			continue
		}
		replicas := p.ReplicasOf(l.Collection)
		var empty []*model.Replica
		for _, r := range replicas {
			if p.survivors(r) == 0 {
				empty = append(empty, r)
			}
		}
		asked := max(int(l.Replicas), len(replicas))
		if working := len(replicas) - len(empty); working < asked {
			p.reportShort(l, empty, working, asked)
		}
	}
	return nil
}

func (p *Pass) reportShort(l *model.LoadState, empty []*model.Replica, working, asked int) {
	f := Finding{
		Severity: Warning, Object: refCollection(p.Cluster, l.Collection),
		Message: fmt.Sprintf("collection %s: %d of %s work", collectionLabel(p.Cluster, l.Collection), working, plural(asked, "replica")),
		Evidence: []Evidence{
			{"replicas that it was loaded with", number(l.Replicas), "etcd"},
			{"replicas", number(len(p.ReplicasOf(l.Collection))), "etcd"},
			{"of them with a query node that takes work", number(working), "etcd"},
		},
		Impact: "The others carry its searches; if one more goes, they fail sooner.",
		Hint:   "start query nodes",
		// Searches are answered; what is gone is room.
		Cost: p.losing(1-float64(working)/float64(asked)) / 2,
	}
	if working == 0 {
		f.Severity, f.Cost = Error, p.losing(1)
		f.Message = fmt.Sprintf("collection %s: none of %s works", collectionLabel(p.Cluster, l.Collection), plural(asked, "replica"))
		f.Impact = "Every search of the collection fails."
	}
	for _, r := range empty {
		f.Hint = advise("start query nodes in resource group %s", r.ResourceGroup)
		f.Objects = append(f.Objects, refReplica(r))
	}
	p.Report(f)
}
