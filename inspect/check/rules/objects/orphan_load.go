package objects

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// orphanLoad finds load states of collections that are gone.
var orphanLoad = &check.Check{
	ID:       "orphan-load",
	Title:    "A collection that is gone is still to be loaded",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartServing,
	Doc: `Looks for load states and replicas (` + "`querycoord-collection-loadinfo/`" + `, ` + "`querycoord-replica/`" + `) of collections that have no record. A warning: QueryCoord tries to
load them at each start, and may not finish its recovery. Of a collection that is being dropped it is no finding: the drop releases it.`,
	Remedy: `Look again after a restart of QueryCoord, which clears some of it away. If it stays, the keys have to be deleted by hand, which is a write to Milvus's etcd that cannot be taken back: save a
snapshot of etcd first (` + "`etcdctl snapshot save FILE`" + `), stop QueryCoord, and delete only the keys that the hint lists. kitescope only reads.`,
	Run: runOrphanLoad,
}

func runOrphanLoad(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
	seen := make(map[model.CollectionID]bool)
	report := func(id model.CollectionID, what, key string) {
		if p.Collection(id) != nil || seen[id] {
			return
		}
		seen[id] = true
		p.Report(check.Finding{
			Severity: check.Warning, Object: model.Ref{Resource: "load-states", ID: id.String()},
			Message:  fmt.Sprintf("collection %s is gone and still has a %s", id, what),
			Evidence: []check.Evidence{check.Fact("record", what, "etcd"), check.Fact("key", key, "etcd")},
			Impact:   "QueryCoord tries to load a collection that does not exist.",
			Hint:     check.Advise("%s and look again; what it still tries to load: %s", check.RestartQueryCoord(p.Cluster), check.Kitescope("get keys").Arg("key~querycoord-.*/"+id.String())),
		})
	}
	for _, l := range p.LoadStates {
		report(l.Collection, "load state", l.Key)
	}
	for _, r := range p.Replicas {
		report(r.Collection, "replica", "querycoord-replica/"+r.Collection.String()+"/"+r.ID.String())
	}
	return nil
}
