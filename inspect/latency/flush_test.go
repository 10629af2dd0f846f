package latency_test

import (
	"strings"
	"testing"

	"kitescope/inspect/latency"
)

// TestFlush checks that the duration of flushes by data nodes is reported, but is not part of the sum of a
// write. The expected values are from the texts: 80 insert buffers in 6,290 ms.
func TestFlush(t *testing.T) {
	texts := fixture(t, snapshots+"cluster-2.3.5-t5/metrics/*.gz")
	b := latency.Compute(cluster(t, texts, nil)).Find("", latency.Insert)
	if b == nil {
		t.Fatal("no insert")
	}
	checkSums(t, b)
	p := b.Root.Find(latency.Flush)
	if p == nil || !p.Known || !p.Background() || p.Ms != 0 || p.Share != 0 ||
		!strings.Contains(p.Why, "no client waits") {
		t.Fatalf("the flush is %+v", p)
	}
	if p.Call.Value < 6290.0/80 || p.Call.Value > 6290.0/80+1 || len(p.Nodes) != 1 || p.Nodes[0].Role != "datanode" ||
		p.Nodes[0].Node != 8 {
		t.Errorf("one takes %+v, of %+v", p.Call, p.Nodes)
	}
	if p.P99.High == 0 {
		t.Error("nothing is known of how long the longest take")
	}
	for _, x := range b.Main() {
		if x.Phase == p {
			t.Error("a verdict names what no client waits for")
		}
	}
	if b := latency.Compute(cluster(t, texts, nil)).Find("", latency.Search); b.Root.Find(latency.Flush) != nil {
		t.Error("a search has a flush")
	}
	for name := range texts {
		if strings.HasPrefix(name, "datanode") {
			delete(texts, name)
		}
	}
	if b := latency.Compute(cluster(t, texts, nil)).Find("", latency.Insert); b == nil ||
		b.Root.Find(latency.Flush) != nil {
		t.Error("nobody told of flushes")
	}
}
