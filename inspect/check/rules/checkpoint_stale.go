package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// checkpointStaleDropped finds what dropped collections left of their channels.
var checkpointStaleDropped = &check.Check{
	ID:       "checkpoint-stale-dropped",
	Title:    "Dropped collections left stale checkpoints",
	Severity: check.Info,
	Symptoms: []string{check.EtcdSlow, check.Leftovers},
	Starts:   "collection_dropped",
	Parts:    model.PartObjects | model.PartChannels,
	Doc: `Looks for checkpoints (` + "`datacoord-meta/channel-cp/`" + `) and removal marks (` + "`channel-removal/`" + `) of vchannels whose collection is dropped, being dropped,
or gone. Info only: garbage collection removes them with the collection's last segment, hours later. Those of collections that never held a segment
stay for good (milvus issue 34545). Milvus 2.6 marks them with the maximum timestamp; those are not counted.

They cost little. But tools, and Milvus's own metric of checkpoint lag, show them as channels that fall further and further behind (issue 31506).`,
	Remedy: `No action needed: queries are not affected, and garbage collection removes most of them. The keys can be deleted by hand with Milvus stopped, after an
etcd snapshot (` + "`etcdctl snapshot save FILE`" + `); such a write cannot be undone. kitescope only reads.`,
	Run:   runCheckpointStale,
	Whole: true,
}

func runCheckpointStale(p *check.Pass) {
	collections := make(map[model.CollectionID]bool)
	var objects []model.Ref
	var oldest *model.VChannel
	count, marks := 0, 0
	for _, v := range p.VChannels {
		x := p.Collection(v.Collection)
		if x != nil && !x.Dropped() || v.Collection == 0 {
			continue
		}
		if v.Checkpoint.At == model.MaxTSO || v.Checkpoint.At == 0 && v.Removal == "" {
			continue
		}
		if v.Removal != "" {
			marks++
		}
		count++
		if !collections[v.Collection] && x != nil {
			objects = append(objects, facts.RefCollection(p.Cluster, x.ID))
		}
		collections[v.Collection] = true
		if len(objects) < facts.MaxObjects {
			objects = append(objects, facts.RefVChannel(v.Name))
		}
		if v.Checkpoint.At != 0 && (oldest == nil || v.Checkpoint.At < oldest.Checkpoint.At) {
			oldest = v
		}
	}
	if count == 0 {
		return
	}
	f := check.Finding{
		Severity: check.Info, Objects: objects,
		Message:  fmt.Sprintf("%s left by %s", words.Plural(count, "stale channel record"), words.Plural(len(collections), "dropped collection")),
		Evidence: []check.Evidence{check.Count("vchannels", count, "etcd"), check.Count("with a removal mark", marks, "etcd")},
		Impact:   "None for queries. Checkpoint lag metrics that include them are misleading.",
		Fix: check.Fix(
			check.Shell(check.Kitescope("get vchannels").Arg("collection=")).Does("lists them; no action is needed, garbage collection removes most of them"),
		),
	}
	if oldest != nil {
		f.Evidence = append(f.Evidence, check.Fact("oldest checkpoint", facts.TimeText(oldest.Checkpoint.At.Time()), "etcd"), check.Fact("vchannel", oldest.Name, "etcd"))
	}
	p.Report(f)
}
