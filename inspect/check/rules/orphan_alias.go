package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// orphanAlias finds aliases of nothing.
var orphanAlias = &check.Check{
	ID:       "orphan-alias",
	Title:    "An alias points to a collection that is gone",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesFail, check.Leftovers},
	Starts:   "collection_dropped alias_created | alias_altered",
	Parts:    model.PartObjects,
	Doc: `Looks for aliases whose collection has no record, or is dropped or being dropped. Warning: clients that use the alias get "collection not found".
Milvus refuses to drop a collection with aliases, so these come from interrupted writes or restored metadata. Aliases that are dropped themselves are
left out.`,
	Remedy: "`utility.alter_alias(collection_name, alias)`" + ` points it to an existing collection, ` + "`utility.drop_alias(alias)`" + ` removes it.`,
	Run:    runOrphanAlias,
	Whole:  true,
}

func runOrphanAlias(p *check.Pass) {
	for _, a := range p.Aliases {
		x := p.Collection(a.Collection)
		if a.State.Gone() || x != nil && !x.Dropped() {
			continue
		}
		state := "gone"
		if x != nil {
			state = string(x.State)
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: model.Ref{Resource: "aliases", ID: p.DatabaseName(a.Database) + "/" + a.Name, Name: a.Name},
			Message:  fmt.Sprintf("alias %s points to collection %s (%s)", a.Name, facts.CollectionLabel(p.Cluster, a.Collection), state),
			Evidence: []check.Evidence{check.Fact("collection", a.Collection.String(), "etcd"), check.Fact("its state", state, "etcd")},
			Impact:   "Clients that use the alias get an error.",
			Fix: check.Fix(
				check.Pymilvus(p.Cluster, a.Database, "utility.drop_alias(%s)", a.Name).Does("removes the alias").
					Interrupting(time.Minute, "nothing"),
				check.Pymilvus(p.Cluster, a.Database, "utility.alter_alias(\"COLLECTION\", %s)", a.Name).Does("or, if clients need it, points it to the collection of that name").
					Interrupting(time.Minute, "nothing"),
			),
		})
	}
}
