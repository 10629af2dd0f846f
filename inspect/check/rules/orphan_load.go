package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// orphanLoad finds load states of collections that are gone.
var orphanLoad = &check.Check{
	ID:       "orphan-load",
	Title:    "A load state belongs to a collection that is gone",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang, check.Leftovers},
	Starts:   "collection_dropped collection_loading | collection_released",
	Parts:    model.PartObjects | model.PartServing,
	Doc: `Looks for load states and replicas (` + "`querycoord-collection-loadinfo/`" + `, ` + "`querycoord-replica/`" + `) of collections without a record. Warning: QueryCoord
tries to load them at each start and may not finish its recovery. Not a finding while the collection is being dropped: the drop releases it.`,
	Remedy: `Check again after a restart of QueryCoord, which removes some of them. If any stay, their keys have to be deleted by hand. Such a write to etcd cannot
be undone: save a snapshot first (` + "`etcdctl snapshot save FILE`" + `), stop QueryCoord, and delete only the keys listed by the fix. kitescope only reads.`,
	Run:   runOrphanLoad,
	Whole: true,
}

func runOrphanLoad(p *check.Pass) {
	seen := make(map[model.CollectionID]bool)
	report := func(id model.CollectionID, what, key string) {
		if p.Collection(id) != nil || seen[id] {
			return
		}
		seen[id] = true
		p.Report(check.Finding{
			Severity: check.Warning, Object: model.Ref{Resource: "load-states", ID: id.String()},
			Message:  fmt.Sprintf("collection %s is gone but still has a %s", id, what),
			Evidence: []check.Evidence{check.Fact("record", what, "etcd"), check.Fact("key", key, "etcd")},
			Impact:   "QueryCoord tries to load a collection that does not exist.",
			Fix: check.Fix(
				check.Do("restart QueryCoord: it removes some of these records at its start").
					Restarting(p.Cluster, 2*time.Minute, "querycoord"),
				check.Shell(check.Kitescope("get keys").Arg("key~querycoord-.*/"+id.String())).Does("lists the keys that are left, if any"),
				check.Do("delete those by hand only with QueryCoord stopped and a snapshot of etcd saved: it cannot be undone").
					Interrupting(0, "searches and loads while it is stopped"),
			),
		})
	}
	for _, l := range p.LoadStates {
		report(l.Collection, "load state", l.Key)
	}
	for _, r := range p.Replicas {
		report(r.Collection, "replica", "querycoord-replica/"+r.Collection.String()+"/"+r.ID.String())
	}
}
