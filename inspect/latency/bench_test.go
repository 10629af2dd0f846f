package latency_test

import (
	"fmt"
	"strings"
	"testing"

	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// large is a cluster of so many processes, most of them query nodes that lead shards and work for others.
func large(b testing.TB, processes int) *model.Cluster {
	b.Helper()
	texts := fixture(b, snapshots+"cluster-2.3.5-t3/metrics/*.gz")
	now := map[string]string{"proxy": texts["proxy"]}
	for i := range processes - 1 {
		text := texts[fmt.Sprintf("querynode%d", 1+i%3)]
		for _, id := range []string{"3", "5", "6"} {
			text = strings.ReplaceAll(text, `node_id="`+id+`"`, fmt.Sprintf(`node_id="%d"`, 1000+i))
		}
		now[fmt.Sprintf("querynode%d", 1000+i)] = text
	}
	return cluster(b, now, nil)
}

// BenchmarkOf: the budgets of a cluster of 200 processes, whose metrics are read.
func BenchmarkOf(b *testing.B) {
	c := large(b, 200)
	for b.Loop() {
		if l := latency.Of(c); l.Find("", latency.Search) == nil {
			b.Fatal("no search")
		}
	}
}
