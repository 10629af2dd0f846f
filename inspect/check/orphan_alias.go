package check

import (
	"fmt"

	"kitescope/inspect/model"
)

// OrphanAlias finds aliases of nothing.
var OrphanAlias = &Check{
	ID:       "orphan-alias",
	Title:    "An alias leads to a collection that is gone",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartObjects,
	Doc: `Looks for aliases whose collection has no record, or is dropped or being dropped. A warning: whoever uses the alias gets "collection not found". Milvus refuses to drop a
collection that has aliases, so that these come from writes that were cut off, or from restored metadata. Aliases that are dropped themselves are left out.`,
	Remedy: "`utility.alter_alias(collection_name, alias)` points it to a collection that exists, `utility.drop_alias(alias)` removes it.",
	Run:    runOrphanAlias,
}

func runOrphanAlias(p *Pass) error {
	if !p.whole() {
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
		p.Report(Finding{
			Severity: Warning, Object: model.Ref{Resource: "aliases", ID: p.DatabaseName(a.Database) + "/" + a.Name, Name: a.Name},
			Message:  fmt.Sprintf("alias %s leads to collection %s, which is %s", a.Name, collectionLabel(p.Cluster, a.Collection), state),
			Evidence: []Evidence{{"collection", a.Collection.String(), "etcd"}, {"its state", state, "etcd"}},
			Impact:   "Whoever uses the alias gets an error.",
			Hint:     python("%sutility.alter_alias(collection_name, %s) points it to another collection, utility.drop_alias(%[2]s) removes it", usingDatabase(p.DatabaseName(a.Database)), a.Name),
		})
	}
	return nil
}
