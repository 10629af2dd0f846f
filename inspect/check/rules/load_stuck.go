package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// loadStuck reports loads of collections and partitions that make no progress.
var loadStuck = &check.Check{
	ID:       "load-stuck",
	Title:    "Load of a collection or partition makes no progress",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang},
	Starts:   "1h collection_loading | node_lost node_left index_dropped partition_loaded",
	Doc: `A load stays at the same percentage in QueryCoord. Reported: a collection in state Loading in etcd without a
new segment or channel on any query node in the last 10 minutes, after which QueryCoord itself gives up
(` + "`queryCoord.loadTimeoutSeconds`" + `: 600; Milvus issues 21745, 39436, 45108). The time of the last progress is
the newest version of the collection's data on the nodes. If little is left to load, 2 minutes are enough (plus a
second per 10 MiB), provided that no node was given anything of any collection meanwhile; the finding lists the
segments that DataCoord wants served and no node has.

A partition that is loaded into a loaded collection has its own state and is judged in the same way: the collection
stays Loaded, and searches that name the partition fail.

Info: a collection or partition without anything on any node yet, because it may have been requested just now. Without
answers from the nodes, progress is unknown.`,
	Remedy: `Check whether the query nodes have the memory (` + "`kitescope balance`" + `), whether DataCoord and the
indexes are ready (index-missing, index-stuck), and QueryCoord's log for the collection. Release the collection, then
load it again.`,
	Parts: model.PartServing | model.PartObjects | model.PartSegments | model.PartIndexes,
	Needs: check.NeedDistribution,
	Run:   runLoadStuck,
	Roles: []string{"querycoord", "querynode", "datacoord", "indexcoord", "rootcoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		{Check: "files-missing", Applies: check.Shares("collections")},
		check.StorageFails("querynode"),
		check.SevereCause("cache-loads-failing", check.Serves),
		{Check: "node-unreachable", Applies: check.Shares("collections")},
		{Check: "replica-short", Applies: check.Shares("collections")},
		{Check: "index-missing", Applies: check.Shares("collections")},
		{Check: "index-stuck", Applies: check.Shares("collections")},
	},
}

func runLoadStuck(p *check.Pass) {
	asked := p.AskedAt()
	var patience time.Duration
	var last *lastLoads
	for _, l := range p.LoadStates {
		x := p.Collection(l.Collection)
		if x == nil || x.Dropped() {
			continue
		}
		loads := loadsOf(l)
		if len(loads) > 0 && last == nil {
			last = findLastLoads(p)
			patience = min(p.SettingSeconds("queryCoord.loadTimeoutSeconds", 10*time.Minute, "querycoord", "mixcoord"),
				facts.LoadGrace)
		}
		var stuck, nothing []load
		for _, one := range loads {
			at, began := last.lookup(l.Collection, one.partition)
			one.at, one.left = at, leftToLoad(p, l.Collection, one.partition)
			switch {
			case !began:
				nothing = append(nothing, one)
			case at.IsZero():
				p.NoteUnseen(loadName(p, l.Collection, loads[:1]) + ": time of its last progress")
			case asked.Sub(at) > patience, asked.Sub(last.newest()) > one.left.timeout(patience):
				stuck = append(stuck, one)
			}
		}
		for _, list := range [][]load{stuck, nothing} {
			if len(list) > 0 {
				reportLoading(p, l, list, asked)
			}
		}
	}
}

// load is a collection or a partition that is being loaded.
type load struct {
	partition model.PartitionID // everyPartition for a whole collection
	at        time.Time         // time of the last progress on any node; zero if unknown
	left      unserved
}

// everyPartition is the partition id that means a whole collection.
const everyPartition = model.PartitionID(-1)

// loadsOf returns the loads in progress of a collection: the collection itself, or the partitions that are
// being added to a loaded collection.
func loadsOf(l *model.LoadState) (list []load) {
	switch l.Status {
	case "Loading":
		return []load{{partition: everyPartition}}
	case "Loaded":
		for _, x := range l.Partitions {
			if x.Status == "Loading" {
				list = append(list, load{partition: x.Partition})
			}
		}
	}
	return list
}

// lastLoads holds the time at which a node last received a segment or channel of each collection or partition.
// The time is zero if the version of the segment or channel is not a time.
type lastLoads struct {
	collections map[model.CollectionID]time.Time
	partitions  map[model.PartitionID]time.Time
}

func findLastLoads(p *check.Pass) *lastLoads {
	last := &lastLoads{map[model.CollectionID]time.Time{}, map[model.PartitionID]time.Time{}}
	for _, n := range p.Runtime.QueryNodes() {
		if n.Distribution == nil {
			continue
		}
		for i := range n.Distribution.Sealed {
			s := &n.Distribution.Sealed[i]
			at := facts.VersionTime(s.Version)
			noteLater(last.collections, s.Collection, at)
			noteLater(last.partitions, s.Partition, at)
		}
		for i := range n.Distribution.Channels {
			noteLater(last.collections, n.Distribution.Channels[i].Collection,
				facts.VersionTime(n.Distribution.Channels[i].Version))
		}
	}
	return last
}

func noteLater[K comparable](last map[K]time.Time, key K, at time.Time) {
	if !at.Before(last[key]) {
		last[key] = at
	}
}

func (x *lastLoads) lookup(id model.CollectionID, partition model.PartitionID) (at time.Time, began bool) {
	if partition == everyPartition {
		at, began = x.collections[id]
		return at, began
	}
	at, began = x.partitions[partition]
	return at, began
}

// newest returns the time at which a node last received a segment or channel of any collection. A load may wait
// while others make progress.
func (x *lastLoads) newest() (at time.Time) {
	for _, t := range x.collections {
		if t.After(at) {
			at = t
		}
	}
	return at
}

// loadName returns the name of the collection or partitions that are being loaded, for messages.
func loadName(p *check.Pass, id model.CollectionID, list []load) string {
	name := "collection " + facts.CollectionLabel(p.Cluster, id)
	switch {
	case list[0].partition == everyPartition:
		return name
	case len(list) == 1:
		return "partition " + partitionLabel(p, list[0].partition) + " of " + name
	}
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = partitionLabel(p, x.partition)
	}
	return fmt.Sprintf("%s of %s (%s)", words.Plural(len(list), "partition"), name, words.Summarize(names))
}

func partitionLabel(p *check.Pass, id model.PartitionID) string {
	return cmp.Or(p.PartitionName(id), id.String())
}

// reportLoading reports loads of one collection, or of its partitions, that have stopped making progress or
// have not started.
func reportLoading(p *check.Pass, l *model.LoadState, list []load, asked time.Time) {
	var at time.Time
	var left unserved
	for _, x := range list {
		if x.at.After(at) {
			at = x.at
		}
		left.segments, left.bytes = append(left.segments, x.left.segments...), left.bytes+x.left.bytes
	}
	name, own := loadName(p, l.Collection, list), partitionRefs(p, list)
	is, its := words.Agree(len(list), "is", "are"), words.Agree(len(list), "it", "them")
	f := check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, l.Collection),
		Impact: "The collection cannot be searched, or only in part.", Cost: p.ClusterLoss(1),
		Fix: stuckSteps(p, l.Collection, nil),
		Evidence: []check.Evidence{
			check.Fact("load state", "Loading", "etcd"),
			check.Fact("last segment or channel assigned to a node", facts.TimeText(at), "query nodes"),
		},
		Objects: append(own, facts.RefNodes(replicaNodes(p, l.Collection))...),
	}
	if len(own) > 0 {
		f.Impact = "Searches that name the " + words.Agree(len(list), "partition", "partitions") +
			" fail, others miss the rows in " + its + "."
		f.Cost = p.ClusterLoss(rowShare(p, l.Collection, list))
		f.Fix = stuckSteps(p, l.Collection, own)
		f.Evidence[0] = check.Fact("load state",
			"collection Loaded, "+words.Agree(len(list), "partition", "partitions")+" Loading", "etcd")
	}
	percentage := ""
	if c := p.Runtime.LoadedCollection(l.Collection); c != nil {
		if len(own) == 0 {
			percentage = fmt.Sprintf(" at %d%%", c.Percent)
		}
		f.Evidence = append(f.Evidence, check.Factf("loaded", "QueryCoord ShowCollections", "%s", percent(c)))
	}
	if at.IsZero() {
		f.Severity = check.Info
		f.Message = fmt.Sprintf("%s %s loading%s, and no query node has any of %s yet", name, is, percentage, its)
		f.Fix = slices.Concat(check.Fix(check.Do("wait a minute: it may have been requested just now")), f.Fix)
	} else {
		f.Message = fmt.Sprintf("%s %s loading%s, without progress for %s", name, is, percentage,
			words.Span(asked.Sub(at)))
		f.Fix = slices.Concat(check.Fix(check.FindFiles(p.Facts)), f.Fix)
	}
	if len(left.segments) > 0 {
		names := make([]string, len(left.segments))
		for i, s := range left.segments {
			names[i] = s.ID.String()
		}
		f.Evidence = append(f.Evidence,
			check.Factf("segments on no node", "DataCoord, query nodes", "%s, %s", words.Summarize(names),
				check.Bytes(left.bytes)))
		f.Message += "; left to load: " + words.Plural(len(left.segments), "segment") + ", " + words.Bytes(left.bytes)
	}
	p.Report(f)
}

// stuckSteps returns the fix for a collection, or for some of its partitions, that does not load.
func stuckSteps(p *check.Pass, id model.CollectionID, partitions []model.Ref) []check.Step {
	x := p.Collection(id)
	steps := check.Fix(check.Do("look for collection %s in QueryCoord's log", id))
	if x == nil || len(partitions) == 0 {
		return append(steps, reloadStep(p, id))
	}
	load := check.LoadPartitionCall(p.Cluster, x)
	for _, r := range partitions[:min(len(partitions), 3)] {
		steps = append(steps,
			check.Pymilvus(p.Cluster, x.Database, "p = Collection(%s).partition(%s)\np.release()\np.%s", x.Name, r.Name,
				load).
				Does("releases the partition and loads it again").
				Interrupting(5*time.Minute, "searches of it until it is loaded"))
	}
	return steps
}

// partitionRefs returns references to the partitions of the loads, at most facts.MaxObjects. It skips loads of
// a whole collection.
func partitionRefs(p *check.Pass, list []load) (refs []model.Ref) {
	for _, x := range list[:min(len(list), facts.MaxObjects)] {
		if x.partition != everyPartition {
			refs = append(refs, model.Ref{
				Resource: "partitions", ID: x.partition.String(), Name: p.PartitionName(x.partition),
			})
		}
	}
	return refs
}

// rowShare returns the share of the collection's rows in the partitions of the loads. It returns 1 if the
// collection has no rows.
func rowShare(p *check.Pass, id model.CollectionID, list []load) float64 {
	var all, own int64
	for _, x := range p.PartitionsOf(id) {
		all += p.PartitionTotals(x.ID).Rows
	}
	for _, x := range list {
		own += p.PartitionTotals(x.partition).Rows
	}
	if all <= 0 {
		return 1
	}
	return min(1, float64(own)/float64(all))
}
