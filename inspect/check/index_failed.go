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
	Remedy: `Read the reason. "out of memory" and "no space left" are the index node's: give it more, or make segments smaller. A reason
about parameters means that the definition does not fit the data: drop the index and create another. After the cause is
gone, drop and create the index to build it again.`,
	Run: runIndexFailed,
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
				{"index nodes", nodesText(t), "etcd"},
			},
			Hint: fmt.Sprintf("%srelease %[2]s, drop_index(index_name=%[3]q) and create_index(%[4]q, ...) once the reason is gone",
				inDatabase(p.Cluster, t.collection), t.collection.Name, t.index.Name, fieldLabel(t.collection, t.index.Field)),
		}
		if onVector(t.collection, t.index) {
			f.Severity, f.Cost = Error, work.share(t.collection, t.rows)
		}
		p.Report(f)
	}
	return nil
}
