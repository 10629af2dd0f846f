package balance_test

import (
	"os"
	"path/filepath"
	"testing"

	"kitescope/inspect/balance"
	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// capture is a captured cluster with what its processes said, as far as that was recorded:
// answers, or metrics alone.
func capture(t testing.TB, name string) *model.Cluster {
	t.Helper()
	folder := filepath.Join("..", "..", "testdata", "snapshots", name)
	src, err := source.Open(t.Context(), filepath.Join(folder, "etcd_snapshot.db.gz"), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	c, err := meta.Load(t.Context(), snapshot, meta.Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	d := live.NewDecoder()
	for _, name := range []string{"runtime.jsonl.gz", "metrics"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		if _, err := live.ReadFile(path, d.Add); err != nil {
			t.Fatal(err)
		}
	}
	return c.WithRuntime(d.Runtime("recording", folder))
}

func TestTmp(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-t1", "cluster-2.3.5-t3", "cluster-2.3.5-t5", "cluster-2.3.5-t6", "cluster-2.3.5-t7", "cluster-2.3.5-healthy", "cluster-2.3.5-healthy-load", "cluster-2.3.5-unflushed"} {
		s := balance.Take(capture(t, name))
		t.Logf("######## %s auto %+v spread %+v", name, s.Auto, s.Spread)
		for _, n := range s.Nodes {
			m, c, ok := n.Memory()
			cpu, okc := n.CPU()
			t.Logf("%s known %v metrics %v sealed %d growing %d rows %d+%d indexed %d brute %d leaders %d ch %d cost %.3g (brute %.3g) bytes %d idx %d unrec %d state %q mem %d/%d %v cpu %.2f %v start %v", n.Name(), n.Known, n.FromMetrics, n.Sealed, n.Growing, n.SealedRows, n.GrowingRows, n.IndexedRows, n.BruteRows, n.Leaders, n.Channels, n.Cost, n.BruteCost, n.Bytes, n.IndexBytes, n.Unrecorded, n.State(), m, c, ok, cpu, okc, n.Live.StartedAt())
		}
		for _, p := range s.Plans(s.Groups, balance.Options{}) {
			v := s.Milvus(p.Group)
			t.Logf("%s: %.2f rows %.2f -> %v %d moves %.2f rows %.2f  %s | milvus %d moves %.2f rows %.2f %s", p.Group.Name(), p.Before.MaxMean, p.Before.RowsMaxMean, p.Reached, len(p.Moves), p.After.MaxMean, p.After.RowsMaxMean, p.Why, len(v.Moves), v.After.MaxMean, v.After.RowsMaxMean, v.Why)
		}
	}
}
