package preflight

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

var newKinds = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-keys",
		Title:    "The old version does not know keys of the new one",
		Severity: check.Warning,
		Since:    since,
		Parts:    layoutParts,
		Doc: `Counts the keys in etcd of kinds that the old version does not write yet (docs/reference of Milvus's metadata, which names the first version of each). It
ignores them, and with them tasks, statistics and channels of the WAL.`,
		Remedy: `Save a snapshot of etcd before going back; the newer version reads them again.`,
	},
	run: runNewKinds,
}

func runNewKinds(p *check.Pass, plan Plan) error {
	f := check.Finding{Severity: check.Warning, Impact: "The old version loses what only these keys have: tasks, statistics, positions in the WAL.", Fix: check.Fix(check.Do("save a snapshot of etcd before going back"))}
	total := int64(0)
	for _, n := range facts.KindsByRelease() {
		if !plan.loses(n.Release) {
			continue
		}
		for _, kind := range n.Kinds {
			if count := p.KeysByKind[kind]; count > 0 {
				total += count
				f.Evidence = append(f.Evidence, check.Count("keys of kind "+kind+" (since "+n.Release.String()+")", count, "etcd"))
			}
		}
	}
	if total == 0 {
		return nil
	}
	f.Message = fmt.Sprintf("%s of kinds that %s does not know", words.Plural(total, "key"), plan.To)
	p.Report(f)
	return nil
}

var features = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-features",
		Title:    "Collections use what the old version does not have",
		Severity: check.Error,
		Since:    since,
		Parts:    model.PartObjects | model.PartIndexes,
		Doc: `Looks at the fields and indexes of collections for types that a release has first (milvus-proto's schema.proto and the release notes): JSON, partition
keys and dynamic fields since 2.2.9, Array since 2.3; Float16Vector, BFloat16Vector and SparseFloatVector since 2.4; Int8Vector since 2.5 and 2.6; ArrayOfStruct,
ArrayOfVector, Geometry and Timestamptz since 2.6; fields that may be null, functions and text match since 2.5. Error for each collection.`,
		Remedy: `Export the collection, or drop it, before going back.`,
	},
	run: runFeatures,
}

// featureOf says which version has first what a field uses, and what that is; the newest of several.
func featureOf(x *model.Field) (Version, string) {
	since := func(minor int) Version { return Version{release(2, minor), 0} }
	jsonToo := Version{release(2, 2), 9} // the release notes of 2.2.9; seen on a 2.2.16
	switch x.Type {
	case "ArrayOfStruct", "ArrayOfVector", "Geometry", "Timestamptz", "Int8Vector", "Text", "Mol":
		return since(6), x.Type
	case "Float16Vector", "BFloat16Vector", "SparseFloatVector":
		if x.FuncOutput {
			return since(5), "a function"
		}
		return since(4), x.Type
	}
	switch {
	case x.Nullable:
		return since(5), "null"
	case x.Default != "":
		return since(5), "a default value"
	case x.Type == "Array":
		return since(3), x.Type
	case x.Type == "JSON":
		return jsonToo, x.Type
	case x.PartitionKey:
		return jsonToo, "partition key"
	}
	return Version{}, ""
}

func runFeatures(p *check.Pass, plan Plan) error {
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		var uses []string
		for _, field := range x.Fields {
			if first, what := featureOf(field); first.Known() && plan.Back && plan.To.Before(first) {
				uses = append(uses, field.Name+" ("+what+", since "+first.since()+")")
			}
		}
		if len(uses) == 0 {
			continue
		}
		slices.Sort(uses)
		p.Report(check.Finding{
			Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID),
			Message:  fmt.Sprintf("%s uses what %s does not have: %s", facts.CollectionLabel(p.Cluster, x.ID), plan.To, words.Few(uses)),
			Evidence: []check.Evidence{check.Fact("fields", strings.Join(uses, ", "), "etcd")},
			Impact:   "The collection cannot be loaded or read, and a coordinator may fail on its record.",
			Fix:      check.Fix(check.Do("export or drop %s before going back", x.Name)),
		})
	}
	return nil
}
