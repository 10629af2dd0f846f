package objects

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// orphanAlias finds aliases of nothing.
var orphanAlias = &check.Check{
	ID:       "orphan-alias",
	Title:    "An alias leads to a collection that is gone",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartObjects,
	Doc: `Looks for aliases whose collection has no record, or is dropped or being dropped. A warning: whoever uses the alias gets "collection not found". Milvus refuses to drop a
collection that has aliases, so that these come from writes that were cut off, or from restored metadata. Aliases that are dropped themselves are left out.`,
	Remedy: "`utility.alter_alias(collection_name, alias)` points it to a collection that exists, `utility.drop_alias(alias)` removes it.",
	Run:    runOrphanAlias,
}

func runOrphanAlias(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
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
			Message:  fmt.Sprintf("alias %s leads to collection %s, which is %s", a.Name, facts.CollectionLabel(p.Cluster, a.Collection), state),
			Evidence: []check.Evidence{check.Fact("collection", a.Collection.String(), "etcd"), check.Fact("its state", state, "etcd")},
			Impact:   "Whoever uses the alias gets an error.",
			Hint:     check.Python("%sutility.alter_alias(collection_name, %s) points it to another collection, utility.drop_alias(%[2]s) removes it", check.UsingDatabase(p.DatabaseName(a.Database)), a.Name),
		})
	}
	return nil
}
