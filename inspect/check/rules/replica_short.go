package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// replicaShort reports loaded collections with fewer working replicas than requested.
var replicaShort = &check.Check{
	ID:       "replica-short",
	Title:    "Collection has fewer working replicas than requested",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang},
	Starts: "node_lost node_left | node_stopping replica_created replica_changed resource_group_changed " +
		"collection_loading",
	Doc: `A replica has lost its query nodes, and the others carry its load. Each replica is a group of query nodes
that can answer alone. Reported: a loaded (or loading) collection with fewer replicas than requested, or replicas
without a single registered query node that takes work. Error if none works, because nothing can be searched. Warning
if some do, because there is less redundancy.

Read from load states, replicas and sessions in etcd. Not judged: metadata without a single session, and Milvus 2.1,
which stores replicas differently.`,
	Remedy: `If the record of a replica is missing, release the collection and load it again. Else start query nodes
in the resource group of the replica; QueryCoord assigns the replica to them. If there are not enough machines for the
number of replicas, release the collection and load it with fewer: ` + "`Collection(NAME).load(replica_number=N)`" +
		`.`,
	Parts:       model.PartSessions | model.PartServing | model.PartObjects,
	Run:         runReplicaShort,
	Roles:       []string{"querycoord", "querynode"},
	FollowsFrom: check.CausedBy(check.Shares("replicas"), "replica-dead-node"),
}

func runReplicaShort(p *check.Pass) {
	if !facts.Alive(p.Cluster) {
		p.Skip("no process is registered: the cluster is stopped, or its sessions were not saved")
		return
	}
	if facts.IsLegacy(p.Cluster) {
		p.Skip("Milvus 2.1 and older store replicas differently")
		return
	}
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if x == nil || x.Dropped() || l.Status != "Loaded" && l.Status != "Loading" {
			continue
		}
		replicas := p.ReplicasOf(l.Collection)
		var empty []*model.Replica
		for _, r := range replicas {
			if survivors(p, r) == 0 {
				empty = append(empty, r)
			}
		}
		asked := max(int(l.Replicas), len(replicas))
		if working := len(replicas) - len(empty); working < asked {
			reportShort(p, l, empty, working, asked)
		}
	}
}

func reportShort(p *check.Pass, l *model.LoadState, empty []*model.Replica, working, asked int) {
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, l.Collection),
		Message: fmt.Sprintf("collection %s: %d of %s work", facts.CollectionLabel(p.Cluster, l.Collection), working,
			words.Plural(asked, "replica")),
		Evidence: []check.Evidence{
			check.Count("replicas requested", l.Replicas, "etcd"),
			check.Count("replicas", len(p.ReplicasOf(l.Collection)), "etcd"),
			check.Count("replicas with a working query node", working, "etcd"),
		},
		Impact: "The remaining replicas carry its searches, with less redundancy.",
		// Half of the loss, because searches still succeed and only capacity is lost.
		Cost: p.ClusterLoss(1-float64(working)/float64(asked)) / 2,
	}
	if working == 0 {
		f.Severity, f.Cost = check.Error, p.ClusterLoss(1)
		f.Message = fmt.Sprintf("collection %s: none of %s works", facts.CollectionLabel(p.Cluster, l.Collection),
			words.Plural(asked, "replica"))
		f.Impact = "Every search of the collection fails."
	}
	if x := p.Collection(l.Collection); x != nil && len(p.ReplicasOf(l.Collection)) < int(l.Replicas) {
		f.Fix = append(f.Fix,
			check.Reload(p.Cluster, x).
				Does("creates its replicas again: QueryCoord creates them only when it loads a collection"))
	}
	var groups []string
	for _, r := range empty {
		groups = append(groups, r.ResourceGroup)
		f.Objects = append(f.Objects, facts.RefReplica(r))
	}
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		f.Fix = append(f.Fix,
			check.Do("start query nodes in resource group %s: QueryCoord assigns the replica to them", group).
				Interrupting(2*time.Minute, "nothing"))
	}
	p.Report(f)
}
