package check

import (
	"fmt"

	"kitescope/inspect/model"
)

// OrphanLoad finds load states of collections that are gone.
var OrphanLoad = &Check{
	ID:       "orphan-load",
	Title:    "A collection that is gone is still to be loaded",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartServing,
	Doc: `Looks for load states and replicas (` + "`querycoord-collection-loadinfo/`" + `, ` + "`querycoord-replica/`" + `) of collections that have no record. A warning: QueryCoord tries to
load them at each start, and may not finish its recovery. Of a collection that is being dropped it is no finding: the drop releases it.`,
	Remedy: `Look again after a restart of QueryCoord, which clears some of it away. If it stays, the keys have to be deleted by hand, which is a write to Milvus's etcd that cannot be taken back: save a
snapshot of etcd first (` + "`etcdctl snapshot save FILE`" + `), stop QueryCoord, and delete only the keys that the hint lists. kitescope only reads.`,
	Run: runOrphanLoad,
}

func runOrphanLoad(p *Pass) error {
	if !p.whole() {
		return nil
	}
	seen := make(map[model.CollectionID]bool)
	report := func(id model.CollectionID, what, key string) {
		if p.Collection(id) != nil || seen[id] {
			return
		}
		seen[id] = true
		p.Report(Finding{
			Severity: Warning, Object: model.Ref{Resource: "load-states", ID: id.String()},
			Message:  fmt.Sprintf("collection %s is gone and still has a %s", id, what),
			Evidence: []Evidence{{"record", what, "etcd"}, {"key", key, "etcd"}},
			Impact:   "QueryCoord tries to load a collection that does not exist.",
			Hint:     advise("%s and look again; what it still tries to load: %s", restartQueryCoord(p.Cluster), kitescope("get keys").Arg("key~querycoord-.*/"+id.String())),
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
