package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// dynamicUnset reports collections with a dynamic field whose record does not set enable_dynamic_field.
var dynamicUnset = &check.Check{
	ID:       "dynamic-mismatch",
	Title:    "A collection has a dynamic field, but its record does not enable it",
	Severity: check.Warning,
	Symptoms: []string{check.AfterUpgrade},
	Starts:   "collection_altered | collection_created node_joined",
	Parts:    model.PartObjects,
	Doc: `Inserts with undeclared fields work until RootCoord restarts, then they are refused and the collection is
reported not to load. The check compares ` + "`enable_dynamic_field`" + ` in a collection's record with its fields.
Warning if one of the fields is dynamic (` + "`$meta`" + `) and the setting is false.

Up to 2.6.5 a dynamic field that was added to an existing collection was not stored in the record (Milvus issue 45614,
pull request 45616).

Not reported: the opposite, a record that allows dynamic fields without a field for them. Not seen on a server.`,
	Remedy: `Do not restart RootCoord (MixCoord) before the rows are safe. Copy them into a new collection that has
the dynamic field from the beginning.`,
	Run: runDynamicUnset,
}

func runDynamicUnset(p *check.Pass) {
	for _, x := range p.Collections {
		if !x.DynamicUndeclared || x.Dropped() {
			continue
		}
		label := facts.CollectionLabel(p.Cluster, x.ID)
		p.Report(check.Finding{
			Severity: check.Warning, Object: facts.RefCollection(p.Cluster, x.ID),
			Message: fmt.Sprintf("%s has the dynamic field %s, but its record does not enable it", label,
				dynamicField(x)),
			Evidence: []check.Evidence{
				check.Fact("dynamic field", dynamicField(x), "etcd"),
				check.Fact("enable_dynamic_field", "false", "etcd"),
			},
			Impact: "After a restart of RootCoord the collection may not load, and undeclared fields are refused.",
			Fix: check.Fix(
				check.Do("copy its rows into a new collection that has the dynamic field from the beginning, before "+
					"RootCoord is restarted").
					Interrupting(0, "nothing"),
				check.Do("upgrade to a release after 2.6.5: "+
					"earlier ones do not record the dynamic field of the next collection either").
					Interrupting(0, "each process while it restarts"),
				check.Shell(check.Kitescope("describe collection").Arg(x.ID.String())).Does("shows the fields"),
			),
		})
	}
}

func dynamicField(x *model.Collection) string {
	for _, f := range x.Fields {
		if f.Dynamic {
			return f.Name
		}
	}
	return ""
}
