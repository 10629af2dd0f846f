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

// recordDependency is a kind of records that need other records to work.
type recordDependency struct {
	// name names the pair, e.g. "alias on collection".
	name string
	// parts are the ranges of metadata that have to be read in full.
	parts    model.Part
	severity check.Severity
	impact   string
	// visit reports each record that lacks another.
	visit func(p *check.Pass, report lackReport)
}

// lackReport reports an object with a message, the missing record and the fix.
type lackReport func(ref model.Ref, message, missing string, fix ...check.Step)

// recordsMissing reports records that do not work because another record is missing. It is the opposite of
// orphan-records.
var recordsMissing = &check.Check{
	ID:       "records-missing",
	Title:    "A record that others depend on is missing",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.AfterUpgrade, check.Leftovers},
	Starts: "collection_created collection_dropped partition_dropped alias_created index_created database_dropped | " +
		"node_joined:rootcoord alias_altered collection_loading collection_released segment_flushed",
	Parts: model.PartObjects,
	Doc: `A deleted key keeps QueryCoord from finishing its recovery. The check looks for missing dependencies after
an interrupted write, an unfinished migration, or a deletion by hand:

- error: a collection in state Created without fields, partitions (where no segment is left of one) or vchannels, or
  in a database without a record;
- warning: an alias of a collection that has no record or is dropped: clients get "collection not found". Milvus
  refuses to drop a collection with aliases;
- warning: a load state or replica of a collection without a record, or a load state of a partition without one:
  QueryCoord tries to load these at each start and may not finish its recovery;
- warning, after 10 minutes: an index definition on a field that the collection does not have; flushed segments with
  rows and no insert log; segments on a vchannel that the collection does not list;
- info: a replica of a collection without a load state.

Not reported: objects that are dropped, being created or being dropped. Not judged: a range that was not read in full.
For the other direction see ` + "`orphan-records`" + `.`,
	Remedy: `Restore the keys from a snapshot of etcd (` + "`kitescope diff SNAPSHOT`" + ` shows which are missing), or
drop the object. QueryCoord removes some load states when it starts. kitescope only reads.`,
	Run: func(p *check.Pass) {
		for _, d := range recordDependencies() {
			if !p.Loaded.Has(d.parts) {
				p.NoteUnseen(d.name + ": the metadata could not be read")
				continue
			}
			d.visit(p, func(ref model.Ref, message, missing string, fix ...check.Step) {
				p.Report(check.Finding{
					Severity: d.severity, Object: ref, Message: message, Impact: d.impact, Fix: check.Fix(fix...),
					Evidence: []check.Evidence{
						check.Fact("missing", missing, "etcd"), check.Fact("relation", d.name, "etcd"),
					},
				})
			})
		}
	},
	Whole:       true,
	FollowsFrom: []check.Cause{{Check: "layout-older"}},
}

// restore returns the steps that restore the keys of a collection.
func restore(id model.CollectionID) []check.Step {
	return check.Fix(
		check.Shell(check.Kitescope("get keys").Arg("key~/"+id.String())).Does("lists its keys"),
		check.Do("compare with an earlier snapshot of etcd, and restore the keys with Milvus stopped: this cannot be "+
			"undone").
			Interrupting(0, "all requests while it is stopped"),
	)
}

// created calls visit for each collection that is neither being created nor being dropped.
func created(p *check.Pass, visit func(x *model.Collection, name string, ref model.Ref)) {
	for _, x := range p.Collections {
		if x.State == "Created" || x.State == "" {
			visit(x, facts.CollectionLabel(p.Cluster, x.ID), facts.RefCollection(p.Cluster, x.ID))
		}
	}
}

func recordDependencies() []recordDependency { //nolint:funlen // a table of rows
	const objects, serving, segments = model.PartObjects, model.PartServing, model.PartSegments
	return []recordDependency{
		{
			name: "collection on fields, partitions, vchannels", parts: objects | segments, severity: check.Error,
			impact: "It cannot be loaded, searched or inserted into.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(x *model.Collection, name string, ref model.Ref) {
					var lacks []string
					if len(x.Fields) == 0 {
						lacks = append(lacks, "fields")
					}
					if len(p.PartitionsOf(x.ID))+len(p.SegmentsIn(x.ID, facts.StrayPartitionSegs)) == 0 {
						lacks = append(lacks, "partitions")
					}
					if len(x.VChannels) == 0 {
						lacks = append(lacks, "vchannels")
					}
					if missing := words.Summarize(lacks); len(lacks) > 0 {
						report(ref, fmt.Sprintf("collection %s has no %s in etcd", name, missing), missing,
							restore(x.ID)...)
					}
				})
			},
		},
		{
			name: "collection on database", parts: objects, severity: check.Error,
			impact: "Clients cannot name it: every request for it fails.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(x *model.Collection, _ string, ref model.Ref) {
					if x.Database > 1 && p.Database(x.Database) == nil {
						message := fmt.Sprintf("collection %s is in database %s, which has no record", x.Name,
							x.Database)
						report(ref, message, "database "+x.Database.String(), restore(x.ID)...)
					}
				})
			},
		},
		{
			name: "alias on collection", parts: objects, severity: check.Warning,
			impact: "Clients that use the alias get an error.", visit: danglingAliases,
		},
		{
			name: "load on collection", parts: serving, severity: check.Warning,
			impact: "QueryCoord tries to load a collection that does not exist.",
			visit: func(p *check.Pass, report lackReport) {
				seen := map[model.CollectionID]bool{}
				lacks := func(id model.CollectionID, what string) {
					if p.Collection(id) == nil && !seen[id] {
						seen[id] = true
						ref := model.Ref{Resource: "load-states", ID: id.String()}
						report(ref, fmt.Sprintf("collection %s is gone but still has a %s", id, what),
							"collection "+id.String(), unload(p, id)...)
					}
				}
				for _, l := range p.LoadStates {
					lacks(l.Collection, "load state")
				}
				for _, r := range p.Replicas {
					lacks(r.Collection, "replica")
				}
			},
		},
		{
			name: "load on partition", parts: serving, severity: check.Warning,
			impact: "QueryCoord tries to load a partition that does not exist: the load may never end.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(c *model.Collection, name string, _ model.Ref) {
					l := p.LoadState(c.ID)
					if l == nil {
						return
					}
					for _, x := range l.Partitions {
						if id := x.Partition.String(); p.Partition(x.Partition) == nil {
							message := fmt.Sprintf("partition %s of %s is gone but still has a load state", id, name)
							report(model.Ref{Resource: "partitions", ID: id}, message, "partition "+id,
								unload(p, c.ID)...)
						}
					}
				})
			},
		},
		{
			name: "replica on load", parts: serving, severity: check.Info,
			impact: "Its query nodes are assigned to a collection that should not be loaded.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(x *model.Collection, name string, _ model.Ref) {
					for _, r := range p.ReplicasOf(x.ID) {
						if p.LoadState(x.ID) == nil {
							report(facts.RefReplica(r), fmt.Sprintf("replica %s of %s has no load state", r.ID, name),
								"load state", unload(p, x.ID)...)
						}
					}
				})
			},
		},
		{
			name: "index on field", parts: objects | model.PartIndexes, severity: check.Warning,
			visit:  indexesWithoutField,
			impact: "It is never built, and a load that waits for it never finishes.",
		},
		{
			name: "segment on logs", parts: segments | model.PartLogs, severity: check.Warning,
			impact: "Searches miss their rows, or the collection does not load.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(x *model.Collection, name string, ref model.Ref) {
					n, rows := 0, int64(0)
					for _, s := range p.SegmentsIn(x.ID, facts.UnloggedSegs) {
						if x.ExternalSource == "" && facts.UnchangedSince(s, p.Before(createGrace)) {
							n, rows = n+1, rows+s.Rows
						}
					}
					if n > 0 {
						message := fmt.Sprintf("%s of %s with %s rows %s no insert logs",
							words.Plural(n, "flushed segment"), name, words.Number(rows), words.Agree(n, "has", "have"))
						report(ref, message, "insert logs", restore(x.ID)...)
					}
				})
			},
		},
		{
			name: "segment on vchannel", parts: segments | objects, severity: check.Warning,
			impact: "No shard has them: searches miss their rows.",
			visit: func(p *check.Pass, report lackReport) {
				created(p, func(x *model.Collection, name string, ref model.Ref) {
					listed := 0
					for _, v := range x.VChannels {
						listed += p.VChannelTotals(v).Segments
					}
					if len(x.VChannels) == 0 || listed >= p.CollectionTotals(x.ID).Segments {
						return
					}
					missing := map[string]int{}
					for _, s := range p.SegmentsOf(x.ID) {
						if s.State.Healthy() && !s.Fake && !slices.Contains(x.VChannels, s.VChannel) &&
							facts.UnchangedSince(s, p.Before(createGrace)) {
							missing[s.VChannel]++
						}
					}
					if channel := facts.MostCommon(missing); channel != "" {
						n := missing[channel]
						message := fmt.Sprintf("%s of %s %s on vchannel %s, which the collection does not list",
							words.Plural(n, "segment"), name, words.Agree(n, "is", "are"), channel)
						report(ref, message, "vchannel "+channel, restore(x.ID)...)
					}
				})
			},
		},
	}
}

func danglingAliases(p *check.Pass, report lackReport) {
	for _, a := range p.Aliases {
		x := p.Collection(a.Collection)
		if a.State.Dropped() || a.State == "Creating" || x != nil && !x.Dropped() {
			continue
		}
		state := "gone"
		if x != nil {
			state = string(x.State)
		}
		ref := model.Ref{Resource: "aliases", ID: p.DatabaseName(a.Database) + "/" + a.Name, Name: a.Name}
		message := fmt.Sprintf("alias %s points to collection %s (%s)", a.Name,
			facts.CollectionLabel(p.Cluster, a.Collection), state)
		report(ref, message, "collection "+a.Collection.String(),
			check.Pymilvus(p.Cluster, a.Database, "utility.drop_alias(%s)", a.Name).
				Does("removes the alias").Interrupting(time.Minute, "nothing"),
			check.Pymilvus(p.Cluster, a.Database, "utility.alter_alias(\"COLLECTION\", %s)", a.Name).
				Does("or, if clients need it, points it to the collection of that name").
				Interrupting(time.Minute, "nothing"))
	}
}

// unload returns the steps that remove QueryCoord's records of a collection.
func unload(p *check.Pass, id model.CollectionID) []check.Step {
	return check.Fix(
		check.Do("restart QueryCoord: it removes some of these records when it starts").
			Restarting(p.Cluster, 2*time.Minute, "querycoord"),
		check.Shell(check.Kitescope("get keys").Arg("key~querycoord-.*/"+id.String())).
			Does("lists the remaining keys, if any"),
		check.Do(
			"delete those by hand only with QueryCoord stopped and a snapshot of etcd saved: this cannot be undone",
		).
			Interrupting(0, "searches and loads while it is stopped"),
	)
}

func indexesWithoutField(p *check.Pass, report lackReport) {
	for _, i := range p.Indexes {
		x := p.Collection(i.Collection)
		if i.Deleted || x == nil || x.Dropped() || len(x.Fields) == 0 ||
			slices.ContainsFunc(x.Fields, func(f *model.Field) bool { return f.ID == i.Field }) ||
			!p.OlderThan(i.CreatedAt, createGrace, true) {
			continue
		}
		message := fmt.Sprintf("index %s is on field %s, which %s does not have", i.Name, i.Field,
			facts.CollectionLabel(p.Cluster, x.ID))
		report(facts.RefIndex(i), message, "field "+i.Field.String(),
			check.Pymilvus(p.Cluster, x.Database, "Collection(%s).drop_index(index_name=%s)", x.Name, i.Name).
				Does("drops the index").
				Interrupting(time.Minute, "nothing"))
	}
}
