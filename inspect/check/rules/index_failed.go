package rules

import (
	"cmp"
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// indexFailed reports segments whose index build failed for good.
var indexFailed = &check.Check{
	ID:       "index-failed",
	Title:    "An index build failed permanently",
	Severity: check.Error,
	Symptoms: []string{check.LoadsHang, check.IndexingHangs},
	Starts:   "index_failed | index_created index_altered segment_flushed",
	Parts:    facts.PartsOfBuilds,
	Doc: `An index build failed, and Milvus will not retry it. The check looks at index records
(` + "`segment-index/...`" + `). State *Failed* is final, unlike *Retry* (see ` + "`index-stuck`" +
		`). The record has the
index node's reason.

Error for vector fields: their rows are searched by brute force, or the collection does not load. Warning for other
fields. There is no grace time: the state does not change any more.`,
	Remedy: `Read the reason. For "out of memory" and "no space left" give the node that built it more, or make
segments smaller. If the reason is about parameters, the definition does not fit the data: drop the index and create
another. Otherwise fix the cause, then drop and create the index to build it again. The collection has to be released
for that, and cannot be searched until it is loaded again.`,
	Phases:      []latency.Name{latency.KernelSealed},
	Run:         runIndexFailed,
	FollowsFrom: []check.Cause{{Check: "files-missing", Applies: check.Shares("segments")}},
}

func runIndexFailed(p *check.Pass) {
	found := tallies{}
	p.EachBegun(func(b facts.Build) {
		if b.Record.State == model.IndexFailed {
			found.add(b)
		}
	})
	work := p.SearchWork()
	for _, t := range found.list() {
		why := cmp.Or(facts.MostCommon(t.reasons), "no reason recorded")
		f := check.Finding{
			Severity: check.Warning, Object: facts.RefIndex(t.Index), Objects: lackingRefs(&t.UnindexedSegments),
			Impact: indexImpact(p, &t.UnindexedSegments),
			Message: fmt.Sprintf("%s failed on %s, %s rows: %s", indexText(p, &t.UnindexedSegments),
				words.Plural(t.Segments, "segment"), words.Number(t.Rows), why),
			Evidence: []check.Evidence{
				check.Count("failed builds", t.Segments, "etcd"),
				check.Count("rows affected", t.Rows, "etcd"),
				check.Fact("reason", why, "etcd"),
				check.Fact("nodes that tried", nodesText(p, t), "etcd"),
			},
			Fix: check.Fix(
				check.Do("fix the cause first: memory or disk of the nodes that tried, or parameters that do not fit "+
					"the data"),
				check.Rebuild(p.Cluster, t.Collection, t.Index).Does("then builds the index again"),
				check.Shell(check.Kitescope("get segment-indexes").Arg("index_id="+t.Index.ID.String(),
					"state=Failed")).Does("lists the builds that failed: none should be left"),
			),
		}
		if facts.OnVector(t.Collection, t.Index) {
			f.Severity, f.Cost = check.Error, work.Share(t.Collection, t.Rows)
		}
		p.Report(f)
	}
}
