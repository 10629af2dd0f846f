package channels

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// checkpointStaleDropped finds what dropped collections left of their channels.
var checkpointStaleDropped = &check.Check{
	ID:       "checkpoint-stale-dropped",
	Title:    "Checkpoints of dropped collections are left behind",
	Severity: check.Info,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartChannels,
	Doc: `Looks for checkpoints (` + "`datacoord-meta/channel-cp/`" + `) and removal marks (` + "`channel-removal/`" + `) of vchannels whose collection is dropped, being dropped, or gone.
Information only: garbage collection removes them with the collection's last segment, hours later. What stays for good are those of
collections that never held a segment (milvus issue 34545). Milvus 2.6 marks them with the greatest timestamp; those are not counted.

They cost little. But tools, and Milvus's own metric of checkpoint lag, show them as channels that lag more and more (issue 31506).`,
	Remedy: `Nothing, while the collection's segments wait for garbage collection, and nothing for the sake of queries later. The keys can be deleted by hand with Milvus stopped and a snapshot of etcd saved first
(` + "`etcdctl snapshot save FILE`" + `); such a write cannot be taken back. kitescope only reads.`,
	Run: runCheckpointStale,
}

func runCheckpointStale(p *check.Pass) error {
	if !p.Whole() {
		return nil
	}
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
		return nil
	}
	f := check.Finding{
		Severity: check.Info, Objects: objects,
		Message:  fmt.Sprintf("%s of %s left behind by a drop", words.Plural(count, "channel record"), words.Plural(len(collections), "collection")),
		Evidence: []check.Evidence{check.Count("vchannels", count, "etcd"), check.Count("of them with a removal mark", marks, "etcd")},
		Impact:   "None for queries; figures of checkpoint lag that count them are wrong.",
		Hint:     "leave them to garbage collection; see them: kitescope get vchannels",
	}
	if oldest != nil {
		f.Evidence = append(f.Evidence, check.Fact("oldest checkpoint", facts.TimeText(oldest.Checkpoint.At.Time()), "etcd"), check.Fact("of vchannel", oldest.Name, "etcd"))
	}
	p.Report(f)
	return nil
}
