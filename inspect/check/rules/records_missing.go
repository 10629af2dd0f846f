package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// recordsMissing finds collections without records that belong to every collection: the other direction of orphan-segments.
var recordsMissing = &check.Check{
	ID:       "records-missing",
	Title:    "A collection lacks records that it cannot work without",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.AfterUpgrade},
	Starts:   "collection_created partition_dropped | node_joined:rootcoord",
	Parts:    model.PartObjects | model.PartSegments,
	Doc: `Looks at collections in state Created. Each has fields, partitions and vchannels. A finding is one that has none of a kind (of partitions, where no segment is left of one: see orphan-segments): an interrupted write, a migration that did not
end, or keys that were deleted by hand.`,
	Remedy:      `Restore the keys from a snapshot of etcd (` + "`kitescope diff SNAPSHOT`" + ` shows what is missing), or drop the collection. kitescope only reads.`,
	Run:         runRecordsMissing,
	Whole:       true,
	FollowsFrom: []check.Cause{{Check: "layout-older"}},
}

func runRecordsMissing(p *check.Pass) {
	for _, x := range p.Collections {
		if x.State != "Created" {
			continue
		}
		var lacks []string
		for _, part := range []struct {
			what string
			n    int
		}{{"fields", len(x.Fields)}, {"partitions", len(p.PartitionsOf(x.ID)) + len(p.Among(x.ID, facts.StrayPartitionSegs))}, {"vchannels", len(x.VChannels)}} {
			if part.n == 0 {
				lacks = append(lacks, part.what)
			}
		}
		if len(lacks) == 0 {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Error, Object: facts.RefCollection(p.Cluster, x.ID),
			Message:  fmt.Sprintf("collection %s has no %s in etcd", facts.CollectionLabel(p.Cluster, x.ID), words.Few(lacks)),
			Evidence: []check.Evidence{check.Fact("missing", words.Few(lacks), "etcd"), check.Fact("record", x.Key, "etcd")},
			Impact:   "Loads, searches and inserts of it fail.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get keys").Arg("key~/"+x.ID.String())).Does("lists the keys that it has"),
				check.Do("compare with a snapshot of etcd from before, and restore the keys with Milvus stopped: it cannot be undone"),
			),
		})
	}
}
