package check

import (
	"cmp"
	"fmt"
	"strconv"

	"kitescope/inspect/model"
)

// IndexFailed finds segments whose index Milvus has given up.
var IndexFailed = &Check{
	ID:       "index-failed",
	Title:    "Building an index failed for good",
	Severity: Error,
	Since:    "0.3",
	Parts:    partsOfBuilds,
	Doc: `Looks at the records of index builds (` + "`segment-index/...`" + `). State *Failed* is final: Milvus does not try again, unlike state
*Retry*, which ` + "`index-stuck`" + ` watches. The reason that the index node gave is in the record.

An error if the field holds vectors: its rows are compared one by one, or the collection does not load. Of other fields a
warning. There is no grace time, as the state does not change any more.`,
	Remedy: `Read the reason. "out of memory" and "no space left" are those of the node that built it: give it more, or make segments smaller. A reason
about parameters means that the definition does not fit the data: drop the index and create another. After the cause is
gone, drop and create the index to build it again; the collection has to be released for that, and cannot be searched until it is loaded again.`,
	Run:         runIndexFailed,
	FollowsFrom: []Cause{{Check: "files-missing", Of: shares("segments")}},
}

func runIndexFailed(p *Pass) error {
	found := tallies{}
	p.eachUnbuilt(func(b build) {
		if b.record != nil && b.record.State == model.IndexFailed {
			found.add(b)
		}
	})
	work := p.searchWork()
	for _, t := range found.list() {
		why := cmp.Or(most(t.reasons), "no reason is recorded")
		f := Finding{
			Severity: Warning, Object: refIndex(t.index), Objects: t.objects(), Impact: p.indexImpact(t),
			Message: fmt.Sprintf("%s failed on %s, %s rows: %s", p.what(t), plural(len(t.segments), "segment"), number(t.rows), why),
			Evidence: []Evidence{
				{"failed builds", strconv.Itoa(len(t.segments)), "etcd"},
				{"their rows", number(t.rows), "etcd"},
				{"reason", why, "etcd"},
				{"nodes that tried", nodesText(t), "etcd"},
			},
			Hint: "once the reason is gone: " + rebuildHint(p.Cluster, t.collection, t.index, "{...}"),
		}
		if onVector(t.collection, t.index) {
			f.Severity, f.Cost = Error, work.share(t.collection, t.rows)
		}
		p.Report(f)
	}
	return nil
}
