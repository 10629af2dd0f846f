package preflight

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

var newKinds = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-keys",
		Title:    "The old version does not read keys of the new one",
		Severity: check.Error,
		Parts:    layoutParts | model.PartTasks | model.PartChannels | model.PartUsers,
		Doc: `Counts keys in etcd whose kind is newer than the old version (docs/reference of Milvus's metadata). They
are ignored: tasks, statistics and WAL channels are lost. Warning, except:

- ` + "`predicate-deltalog`" + `, error: rows deleted by a condition come back (3.0; Milvus issue 50433, pull request
  50687).
- ` + "`snapshot`" + `, error: only 3.0 protects files of snapshots; older versions delete them after compaction (Milvus
  pull requests 47669 and 48022).
- ` + "`target`" + `, info: QueryCoord recomputes the segments to load.`,
		Remedy: `Save a snapshot of etcd before the rollback; the new version will read these keys again.`,
	},
	run: runNewKinds,
}

// loss is the effect of a kind of keys that the old version ignores.
type loss struct {
	severity  check.Severity
	keyPrefix string // the prefix of the keys, "" if several kinds share the loss
	impact    string
	fix       check.Step
}

// lossOf returns the loss for a kind of keys. Most kinds share one.
func lossOf(kind string) loss {
	switch kind {
	case "predicate-deltalog":
		return loss{
			check.Error, "datacoord-meta/predicate-deltalog/",
			"Rows that were deleted by a condition come back in searches.",
			check.Do("let the new version compact the segments until no predicate-deltalog keys are left"),
		}
	case "snapshot":
		return loss{
			check.Error, "datacoord-meta/snapshot/",
			"Garbage collection deletes files that only snapshots hold: they can no longer be restored.",
			check.Do("export the snapshots, or set dataCoord.enableGarbageCollection to false in the old version"),
		}
	case "target":
		return loss{
			check.Info, "queryCoord-Collection-Target/", "The old version recomputes which segments to load.",
			check.Step{},
		}
	}
	return loss{
		check.Warning, "", "The old version loses data that only these keys hold: tasks, statistics, WAL positions.",
		check.Step{},
	}
}

// runNewKinds reports one finding for each loss, identified by its object.
func runNewKinds(p *check.Pass, plan Plan) {
	found, totals := map[string]*check.Finding{}, map[string]int64{}
	var order []string
	for _, n := range facts.KindsByRelease() {
		if !plan.loses(Version{n.Release, n.Patch}) {
			continue
		}
		for _, kind := range n.Kinds {
			count := p.KeysByKind[kind]
			if count == 0 {
				continue
			}
			lost := lossOf(kind)
			f := found[lost.impact]
			if f == nil {
				f = &check.Finding{
					Severity: lost.severity, Impact: lost.impact,
					Fix: check.Fix(lost.fix, check.Do("save a snapshot of etcd before the rollback")),
				}
				if lost.keyPrefix != "" {
					prefix := path.Join(p.Origin.Root, p.Origin.MetaPath, lost.keyPrefix) + "/"
					f.Object = model.Ref{Resource: "etcd-prefixes", ID: prefix, Name: prefix}
				}
				found[lost.impact], order = f, append(order, lost.impact)
			}
			totals[lost.impact] += count
			f.Evidence = append(f.Evidence, check.Count("keys of kind "+kind+" (since "+n.Since()+")", count, "etcd"))
		}
	}
	for _, impact := range order {
		f := found[impact]
		f.Message = fmt.Sprintf("%s of kinds that %s does not know", words.Plural(totals[impact], "key"), plan.To)
		p.Report(*f)
	}
}

var features = rule{
	back: true,
	Check: check.Check{
		ID:       "upgrade-features",
		Title:    "Collections use features that the old version lacks",
		Severity: check.Error,
		Parts:    model.PartObjects | model.PartIndexes,
		Doc: `Looks for fields that need a newer release (milvus-proto's schema.proto and the release notes). Since
2.2.9: JSON, partition keys. Since 2.3: Array. Since 2.4: Float16Vector, BFloat16Vector, SparseFloatVector. Since 2.5:
nullable fields, default values, function output. Since 2.6: Int8Vector, ArrayOfStruct, ArrayOfVector, Geometry,
Timestamptz, Text, Mol. Error for each collection.`,
		Remedy: `Export or drop the collection before the rollback.`,
	},
	run: runFeatures,
}

// featureOf returns the feature that a field uses and the version that introduced it: the newest one if there are
// several.
func featureOf(x *model.Field) (Version, string) {
	since := func(minor int) Version { return Version{release(2, minor), 0} }
	jsonToo := Version{release(2, 2), 9} // release notes of 2.2.9; seen on a 2.2.16
	switch x.Type {
	case "ArrayOfStruct", "ArrayOfVector", "Geometry", "Timestamptz", "Int8Vector", "Text", "Mol":
		return since(6), x.Type
	case "Float16Vector", "BFloat16Vector", "SparseFloatVector":
		if x.FuncOutput {
			return since(5), "function output"
		}
		return since(4), x.Type
	}
	switch {
	case x.Nullable:
		return since(5), "nullable"
	case x.Default != "":
		return since(5), "default value"
	case x.Type == "Array":
		return since(3), x.Type
	case x.Type == "JSON":
		return jsonToo, x.Type
	case x.PartitionKey:
		return jsonToo, "partition key"
	}
	return Version{}, ""
}

func runFeatures(p *check.Pass, plan Plan) {
	for _, x := range p.Collections {
		if x.Dropped() {
			continue
		}
		var uses []string
		for _, field := range x.Fields {
			if first, what := featureOf(field); first.Known() && plan.loses(first) {
				uses = append(uses, field.Name+" ("+what+", since "+first.since()+")")
			}
		}
		if len(uses) == 0 {
			continue
		}
		slices.Sort(uses)
		p.Report(check.Finding{
			Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID),
			Message: fmt.Sprintf("%s uses features that %s lacks: %s",
				facts.CollectionLabel(p.Cluster, x.ID), plan.To, words.Summarize(uses)),
			Evidence: []check.Evidence{check.Fact("fields", strings.Join(uses, ", "), "etcd")},
			Impact:   "The collection cannot be loaded or read, and a coordinator may fail on its record.",
			Fix:      check.Fix(check.Do("export or drop %s before the rollback", x.Name)),
		})
	}
}
